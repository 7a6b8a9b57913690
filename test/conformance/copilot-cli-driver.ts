// Copilot CLI under the conformance suite, in its own words. Its list is a table that the
// model writes: here a fake one.
import type { ListedTodo } from '../../src/core/reconcile.ts';
import { copilotCli } from '../../src/hosts/copilot-cli/host.ts';
import {
  agentStarted,
  promptPayload,
  shellNotice,
  sqlPayload,
  startPayload,
  stopPayload,
  subagentStopPayload,
  toolPayload,
} from '../support/copilot-payloads.ts';
import { hookHost } from './hook-driver.ts';

const tables = new Map<string, readonly ListedTodo[]>();

export const copilotCliHost = hookHost({
  name: 'copilot-cli',
  host: { ...copilotCli, readList: ({ sessionId }) => tables.get(sessionId) ?? null },
  common: (_prompt, reads) => ({
    transcript_path: '/nowhere/events.jsonl',
    ...(reads && { permission_mode: 'plan' }),
  }),
  starts: () => startPayload('new'),
  prompts: (text) => promptPayload(text),
  writes(plan, _changed, _next, _reads, sessionId) {
    const rows = plan.map(({ id, title, status }) => ({
      key: `todo-${id}`,
      title,
      status,
      context: null,
    }));
    tables.set(sessionId, rows);
    return [sqlPayload('UPDATE todos SET …')];
  },
  works: () => toolPayload('Write', {}, 'Created file a.txt with 1 characters'),
  reads: () => toolPayload('Read', {}, ''),
  stops: () => stopPayload(),
  afterAbort: () => promptPayload(shellNotice),
  asksHuman: () => null,
  subagent(id, sessionId) {
    const inside = {
      session_id: id,
      agent_id: id,
      agent_type: 'explore',
      parent_agent_id: sessionId,
    };
    return { call: inside, stop: inside };
  },
  job: (id) => ({
    starts: toolPayload('Agent', {}, agentStarted.replace(/(?<=agent_id: )[\w-]+/u, id)),
    ends: subagentStopPayload({ agent_id: id }),
  }),
});
