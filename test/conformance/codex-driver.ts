// Codex under the conformance suite, in its own words.
import { codex } from '../../src/hosts/codex/host.ts';
import {
  codexAgent,
  codexInterrupt,
  codexPermission,
  codexPlan,
  codexPrompt,
  codexStart,
  codexStop,
  codexTool,
} from '../support/codex-payloads.ts';
import { hookHost } from './hook-driver.ts';

export const codexHost = hookHost({
  name: 'codex',
  host: codex,
  common: (prompt, reads) => ({
    turn_id: prompt ?? 'turn-0',
    permission_mode: reads ? 'plan' : 'bypassPermissions',
  }),
  starts: () => codexStart('startup'),
  prompts: (text) => codexPrompt(text),
  writes: (plan, _changed, next) => [
    codexPlan(
      plan.map(({ title: step, status }) => ({ step, status })),
      { tool_use_id: next('call') },
    ),
  ],
  works: (callId) => codexTool('Bash', { command: 'make' }, '', { tool_use_id: callId }),
  reads: (callId) => codexTool('view_image', {}, '', { tool_use_id: callId }),
  stops: () => codexStop(),
  afterAbort: () => codexInterrupt,
  asksHuman: () => codexPermission,
  subagent: (id) => {
    const call = { ...codexAgent, agent_id: id };
    return {
      call,
      stop: { hook_event_name: 'SubagentStop', ...call, agent_transcript_path: null },
    };
  },
});
