// Copilot CLI in the suite of all hosts.
import { describeRealHost } from '../harness/real-host-suite.ts';
import { copilotCli } from './real-host.ts';

describeRealHost(copilotCli);
