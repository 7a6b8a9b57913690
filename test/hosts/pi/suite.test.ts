// pi in the suite of all hosts.
import { describeRealHost } from '../harness/real-host-suite.ts';
import { pi } from './real-host.ts';

describeRealHost(pi);
