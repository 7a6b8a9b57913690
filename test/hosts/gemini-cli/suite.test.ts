// Gemini CLI in the suite of all hosts, with a model that has the host's own todo tool.
import { describeRealHost } from '../harness/real-host-suite.ts';
import { geminiCli } from './real-host.ts';

describeRealHost(geminiCli);
