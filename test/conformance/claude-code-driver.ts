// Claude Code under the conformance suite, in its own words.
import { claudeCode } from '../../src/hosts/claude-code/host.ts';
import {
  createPayload,
  notification,
  promptPayload,
  startPayload,
  stopPayload,
  toolPayload,
  updatePayload,
} from '../support/payload-cases.ts';
import { hookHost } from './hook-driver.ts';

export const claudeCodeHost = hookHost({
  name: 'claude-code',
  host: { ...claudeCode, readList: () => null },
  // The host itself would end a turn sooner than our own limits do; `init` sets its cap
  // behind them.
  environment: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '500' },
  common: (prompt, reads) => ({
    prompt_id: prompt ?? 'prompt-0',
    permission_mode: reads ? 'plan' : 'default',
  }),
  starts: () => startPayload('startup'),
  prompts: (text) => promptPayload(text),
  writes: (_plan, changed, next) =>
    changed.map(({ id, title, status }) =>
      status === 'pending'
        ? createPayload(id, title)
        : updatePayload(id, status, next('update')),
    ),
  works: (callId) => toolPayload('Write', callId, {}, {}),
  reads: (callId) => toolPayload('Read', callId, {}, {}),
  stops: (jobs) =>
    stopPayload({
      background_tasks: jobs.map(({ id }) => ({
        id,
        type: 'subagent',
        status: 'running',
        description: 'Looks around',
      })),
    }),
  // A job ends and wakes the agent.
  afterAbort: (next) => promptPayload(notification(next('job'))),
  asksHuman: () => ({
    hook_event_name: 'Notification',
    notification_type: 'permission_prompt',
  }),
  subagent(id) {
    const call = { agent_id: id, agent_type: 'general-purpose' };
    return { call, stop: { hook_event_name: 'SubagentStop', ...call } };
  },
});
