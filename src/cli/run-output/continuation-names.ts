// The kinds of continuations in words for people. Exhaustive: a new kind does not compile without its name.
import type { TextKind } from '../../core/texts.ts';

export const continuationNames: Readonly<Record<TextKind, string>> = {
  'dropped-todos': 'dropped todos',
  'bulk-claim': 'bulk claim',
  'failed-check': 'failed check',
  'checks-running': 'checks running',
  'text-question': 'question in the text',
  'output-limit': 'output limit',
  'iteration-budget': 'iteration budget',
  'tool-error': 'tool error',
  'empty-answer': 'empty answer',
  loop: 'loop',
  'background-job': 'background job',
  'after-compaction': 'after compaction',
  standard: 'todos open',
};

/** Reminders are as firm as their level; after the third comes no other. */
export const lastLevel = 3;

/**
 * Why the agent was sent on and how firmly: `reminder 2 of 3`, `failed check, reminder 2 of 3`.
 * Only the standard text is a reminder at its first level; the others name their occasion.
 */
export function nameContinuation(textKind: TextKind, level: number): string {
  const reminder = `reminder ${level} of ${lastLevel}`;
  if (textKind === 'standard') return reminder;
  return level > 1 ? `${continuationNames[textKind]}, ${reminder}` : continuationNames[textKind];
}
