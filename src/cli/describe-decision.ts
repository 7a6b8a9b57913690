// A decision in words, and the list of rules with a mark at each: silent, answered, not asked (V6).
import type { Decision } from '../core/decision.ts';
import { stopRules } from '../core/rules.ts';
import { type TextKind, texts } from '../core/texts.ts';

/** `let-go (nothing-open), outcome done`; in observe mode it says that nothing was done. */
export function describeAnswer(decision: Decision): string {
  const outcome = decision.outcome === null ? '' : `, outcome ${decision.outcome}`;
  const text = decision.textKind === null ? '' : `, text ${decision.textKind}`;
  const observed = decision.observed ? ', only observed' : '';
  return `${decision.answer} (${decision.reason})${outcome}${text}${observed}`;
}

export type Mark = 'silent' | 'answered' | 'not asked';

export interface MarkedRule {
  readonly number: number;
  readonly name: string;
  readonly asks: string;
  readonly mark: Mark;
}

/** Null: the reason is none of these rules, but one of another version. */
export function markRules(decision: Decision): readonly MarkedRule[] | null {
  const answered = stopRules.findIndex(({ name }) => name === decision.reason);
  if (answered === -1 && decision.answer !== 'continue') return null;
  const last = answered === -1 ? stopRules.length : answered;
  return stopRules.map(({ name, asks }, index) => ({
    number: index + 1,
    name,
    asks,
    mark: index < last ? 'silent' : index === last ? 'answered' : 'not asked',
  }));
}

export interface MarkedText {
  readonly kind: TextKind;
  readonly mark: 'does not apply' | 'chosen' | 'not asked';
}

/** Which text a continuation carried; empty for other answers. */
export function markTexts({ textKind }: Decision): readonly MarkedText[] {
  if (textKind === null) return [];
  const chosen = texts.findIndex(({ kind }) => kind === textKind);
  return texts.map(({ kind }, index) => ({
    kind,
    mark: index < chosen ? 'does not apply' : index === chosen ? 'chosen' : 'not asked',
  }));
}
