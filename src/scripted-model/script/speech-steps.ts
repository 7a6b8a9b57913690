// Steps in which the model speaks, thinks or falls silent without calling a tool.
import { type Delays, type ModelReply, textReply, type Usage } from '../model-reply.ts';
import { changing, oneReply, type Step } from './step.ts';

function speech(reply: ModelReply): Step {
  return oneReply(false, () => reply);
}

export function say(text: string): Step {
  return speech(textReply(text));
}

/** The same as `say`: a question in plain text, which no tool carries. */
export function ask(question: string): Step {
  return speech(textReply(question));
}

export function refuse(text = 'I cannot help with that.'): Step {
  return speech(textReply(text, 'refusal'));
}

/** The provider's filter ends the answer. */
export function filtered(text = ''): Step {
  return speech(textReply(text, 'content-filter'));
}

/** The answer reaches the output limit. */
export function cutOff(text = 'I was just about to'): Step {
  return speech(textReply(text, 'length'));
}

/** An answer without anything in it. */
export function empty(): Step {
  return speech({ finish: 'stop' });
}

export function thinkOnly(thinking = 'Let me think about what is left.'): Step {
  return speech({ thinking, finish: 'stop' });
}

/** The step's reply opens with this text. */
export function withText(text: string, step: Step): Step {
  return changing(step, (reply) => ({ ...reply, text }));
}

export function withThinking(thinking: string, step: Step): Step {
  return changing(step, (reply) => ({ ...reply, thinking }));
}

/** Exact token counts instead of the estimate. */
export function withUsage(usage: Usage, step: Step): Step {
  return changing(step, (reply) => ({ ...reply, usage }));
}

function delayed(delays: Delays, step: Step): Step {
  return changing(step, (reply) => ({ ...reply, delays: { ...reply.delays, ...delays } }));
}

/** The stream pauses so long before each event. */
export function slowly(millisecondsPerEvent: number, step: Step): Step {
  return delayed({ perEventMs: millisecondsPerEvent }, step);
}

/** The answer begins so much later. */
export function after(milliseconds: number, step: Step): Step {
  return delayed({ beforeMs: milliseconds }, step);
}
