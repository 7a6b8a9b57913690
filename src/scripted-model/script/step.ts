// A step of a script: given where it stands and what the model sees, it replies, or passes to the step after it. Steps
// are pure and their whole state is the position, so that a conversation can be replayed from its messages.
import type { ModelReply } from '../model-reply.ts';
import type { Situation } from './situation.ts';

/** Empty at the beginning. Numbers and short lower-case words only: it travels inside tool call ids. */
export type Position = readonly (number | string)[];

export type Move =
  | { readonly kind: 'reply'; readonly reply: ModelReply; readonly position: Position | 'over' }
  | { readonly kind: 'pass' };

export interface Step {
  /** Whether the step may call tools: a request without tools is then no request for this script. */
  readonly needsTools: boolean;
  next(position: Position, situation: Situation): Move;
}

export const PASS: Move = { kind: 'pass' };

export function lastMove(reply: ModelReply): Move {
  return { kind: 'reply', reply, position: 'over' };
}

/** A step of one reply; undefined passes. */
export function oneReply(needsTools: boolean, build: (situation: Situation) => ModelReply | undefined): Step {
  return {
    needsTools,
    next(_position, situation) {
      const reply = build(situation);
      return reply === undefined ? PASS : lastMove(reply);
    },
  };
}

/** The same step with every reply changed. */
export function changing(step: Step, change: (reply: ModelReply) => ModelReply): Step {
  return {
    needsTools: step.needsTools,
    next(position, situation) {
      const move = step.next(position, situation);
      return move.kind === 'pass' ? move : { ...move, reply: change(move.reply) };
    },
  };
}

export function encodePosition(position: Position): string {
  return position.join('-');
}

export function decodePosition(text: string): Position {
  return text === '' ? [] : text.split('-').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

export function numberAt(position: Position, index: number): number {
  const value = position[index];
  return typeof value === 'number' ? value : 0;
}
