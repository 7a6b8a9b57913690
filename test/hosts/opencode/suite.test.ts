// OpenCode in the suite of all hosts.
import { describeRealHost } from '../harness/real-host-suite.ts';
import { opencode } from './real-host.ts';

describeRealHost(opencode);
