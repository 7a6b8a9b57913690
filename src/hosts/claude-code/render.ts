// Our answer as Claude Code reads it: one object, whatever the answer is.
//
// A continuation goes out as `additionalContext`: the model then gets one copy of the text. With `decision: "block"`
// it gets two, one of them headed "blocking error" with the command line of the hook.
import type { HookAnswer } from '../hook/hook-request.ts';

export function render(answer: HookAnswer, hook: string): object {
  switch (answer.type) {
    case 'nothing':
      return {};
    case 'continue':
      return { ...message(answer.message), ...context(hook, answer.text) };
    case 'let-go':
      return message(answer.message);
    case 'refuse':
      return { decision: 'block', reason: answer.reason };
    case 'tell':
      return context(hook, answer.text);
  }
}

function context(hook: string, text: string): object {
  return { hookSpecificOutput: { hookEventName: hook, additionalContext: text } };
}

function message(text: string | null): object {
  return text === null ? {} : { systemMessage: `untildone: ${text}` };
}
