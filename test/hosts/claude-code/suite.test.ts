// Claude Code in the suite of all hosts.
import { describeRealHost } from '../harness/real-host-suite.ts';
import { claudeCode } from './real-host.ts';

describeRealHost(claudeCode);
