// Codex in the suite of all hosts.
import { describeRealHost } from '../harness/real-host-suite.ts';
import { codex } from './real-host.ts';

describeRealHost(codex);
