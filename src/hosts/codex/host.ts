// How our answers look to Codex, and what its transcript says of tokens.
import type { AskedHost, HookAnswer } from '../asked-call.ts';
import { createFindStop, renderBlock } from '../asked-translate.ts';
import { usedSince } from '../transcript.ts';
import { recordOf } from '../untrusted.ts';
import { codexLanguage, translate } from './translate.ts';

export const codex: AskedHost = {
  translate,
  tellsUsageLate: true,
  // Its list is what the last call of its tool wrote; nobody else changes it.
  readUsage: (transcript, since) =>
    usedSince(transcript, since, '"token_count"', ({ payload }) => {
      const { type, info } = recordOf(payload);
      const { total_token_usage, last_token_usage } = recordOf(info);
      const [total, last] = [recordOf(total_token_usage), recordOf(last_token_usage)];
      if (type !== 'token_count' || typeof total['total_tokens'] !== 'number') return null;
      // The same sum again is the same call, told with newer rate limits.
      const key = `total-${total['total_tokens']}`;
      return { key, input: [last['input_tokens']], output: [last['output_tokens']] };
    }),
  findStop: createFindStop(codexLanguage),
  render,
  agentCommandOf(variable) {
    const thread = variable('CODEX_THREAD_ID');
    return thread === undefined ? null : { sessionId: variable('CODEX_SESSION_ID') ?? thread };
  },
};

function render(answer: HookAnswer, hook: string): object {
  const { refusal } = answer;
  if (!refusal) return renderBlock(answer, /^(?:Subagent)?Stop$/u.test(hook), hook);
  const denied = { permissionDecision: 'deny', permissionDecisionReason: refusal };
  return { hookSpecificOutput: { hookEventName: hook, ...denied } };
}
