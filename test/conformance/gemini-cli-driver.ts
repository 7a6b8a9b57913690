// Gemini CLI under the conformance suite, in its own words.
import { geminiCli } from '../../src/hosts/gemini-cli/host.ts';
import {
  permissionPayload,
  promptPayload,
  startPayload,
  stopPayload,
  todosPayload,
  toolPayload,
} from '../support/gemini-payloads.ts';
import { hookHost } from './hook-driver.ts';

let calls = 0;
/** Every payload has its own time. */
function timestamp(): string {
  calls += 1;
  return new Date(Date.UTC(2026, 10, 18) + calls).toISOString();
}

export const geminiCliHost = hookHost({
  name: 'gemini-cli',
  host: geminiCli,
  common: () => ({ timestamp: timestamp() }),
  starts: () => startPayload('startup'),
  prompts: (text) => promptPayload(text),
  // In plan mode the host offers no todo tool.
  writes: (plan, _changed, _next, reads) =>
    reads
      ? []
      : [todosPayload(plan.map(({ title, status }) => ({ description: title, status })))],
  works: () => toolPayload('write_file', '', {}, {}),
  reads: () => toolPayload('read_file', '', {}, {}),
  stops: () => stopPayload(),
  afterAbort: () => null,
  asksHuman: permissionPayload,
  subagent: () => null,
});
