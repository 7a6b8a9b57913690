// Qwen Code under the conformance suite, in its own words.
import { qwenCode } from '../../src/hosts/qwen-code/host.ts';
import {
  qwenAgent,
  qwenFailure,
  qwenNotification,
  qwenPrompt,
  qwenStart,
  qwenStop,
  qwenSubagentStop,
  qwenTool,
  qwenWrite,
} from '../support/qwen-payloads.ts';
import { hookHost } from './hook-driver.ts';

export const qwenCodeHost = hookHost({
  name: 'qwen-code',
  host: { ...qwenCode, readList: () => null },
  environment: { QWEN_CODE_STOP_HOOK_BLOCK_CAP: '100' },
  common: (prompt, reads) => ({
    prompt_id: `########${prompt ?? 0}`,
    permission_mode: reads ? 'plan' : 'default',
  }),
  starts: () => qwenStart('startup'),
  prompts: qwenPrompt,
  writes: (plan, _changed, next) => [
    qwenWrite(
      plan.map(({ id, title, status }) => ({ id, content: title, status })),
      next('write'),
    ),
  ],
  works: (id) => qwenTool('write_file', id, {}, {}),
  reads: (id) => qwenTool('read_file', id, {}, ''),
  stops: (jobs) => qwenStop({ background_tasks: jobs.map(({ id }) => qwenAgent(id)) }),
  afterAbort: (next) =>
    qwenFailure('run_shell_command', next('call'), { is_interrupt: true }),
  asksHuman: () => qwenNotification('permission_prompt'),
  subagent(id) {
    const { hook_event_name, agent_id, agent_type } = qwenSubagentStop(id);
    return { call: { agent_id }, stop: { hook_event_name, agent_id, agent_type } };
  },
});
