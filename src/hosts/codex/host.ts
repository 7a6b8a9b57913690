// How our answers look to Codex, and what its transcript says of tokens.
import type { AskedHost } from '../asked-call.ts';
import { createAskedHost } from '../asked-translate.ts';
import { usageIn } from '../transcript.ts';
import { recordOf } from '../untrusted.ts';
import { codexLanguage } from './translate.ts';

const shared = createAskedHost(codexLanguage);

export const codex: AskedHost = {
  ...shared,
  render(answer, hook) {
    if (!answer.refusal) return shared.render(answer, hook);
    const denied = { permissionDecision: 'deny', permissionDecisionReason: answer.refusal };
    return { hookSpecificOutput: { hookEventName: hook, ...denied } };
  },
  tellsUsageLate: true,
  // Its list is what the last call of its tool wrote; nobody else changes it.
  readUsage: usageIn('"token_count"', ({ payload }) => {
    const { type, info } = recordOf(payload);
    const { total_token_usage, last_token_usage } = recordOf(info);
    const [total, last] = [recordOf(total_token_usage), recordOf(last_token_usage)];
    if (type !== 'token_count' || typeof total['total_tokens'] !== 'number') return null;
    // The same sum again is the same call, told with newer rate limits.
    const key = `total-${total['total_tokens']}`;
    return { key, input: [last['input_tokens']], output: [last['output_tokens']] };
  }),
};
