// Qwen Code in the suite of all hosts.
import { describeRealHost } from '../harness/real-host-suite.ts';
import { qwenCode } from './real-host.ts';

describeRealHost(qwenCode);
