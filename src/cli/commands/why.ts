// `untildone why`: one decision, explained from the record alone (V6): what happened, the rule and its numbers, the
// check that failed and the text that was sent; with --rules every rule in order. It decides nothing again; `replay` does.
import type { Decision, Inputs } from '../../core/decision.ts';
import { UntildoneError } from '../../core/error.ts';
import { stopRules } from '../../core/rules.ts';
import type { State } from '../../core/state.ts';
import { texts } from '../../core/texts.ts';
import type { EvidenceRow } from '../../engine/host.ts';
import { latestResults } from '../../engine/session-record.ts';
import type { Store, StoredDecision } from '../../engine/store.ts';
import { numberOf } from '../command.ts';
import { describeAnswer } from '../describe-session.ts';
import { formatAge, formatTime } from '../describe-time.ts';
import { sessionCommand } from '../find-session.ts';
import type { Io } from '../io.ts';
import { createPaint, fields, shown } from '../print.ts';
import { nameSession } from '../session-name.ts';
import { checkName, whyNotPassed } from '../show/words.ts';

/** Of the text that was sent; --rules and --json have all of it. */
const longestText = 300;

export const why = sessionCommand({
  about: [
    'Explains the last decision of a session, or the Nth, in five lines: what happened, the rule that answered, the\nnumbers that it looked at, the check that failed, and the text that the agent was sent.',
    'With --rules: every rule in the order in which they are asked. Rules before the one that answered had nothing to\nsay; those after it were not asked.',
  ],
  options: {
    decision: { value: 'N', summary: 'The Nth decision of the session instead of the last.' },
    rules: { summary: 'All rules in order, and the whole text.' },
  },
  check: (given) => numberOf(given, 'decision'),
  async answer({ given, io, store, session }) {
    const explained = await explain(store, session, numberOf(given, 'decision'));
    const { stored, latest, text, failedChecks } = explained;
    const rules = markRules(stored.decision) ?? [];
    return {
      json: { ...stored, latest, rules, texts: markTexts(stored.decision), text, failedChecks },
      lines: [
        ...fiveLines(session, explained, io),
        ...(given.has('rules') ? ['', ...ruleLines(explained, io)] : []),
      ],
    };
  },
});

interface Explained {
  readonly stored: StoredDecision;
  /** The number of the last one. */
  readonly latest: number;
  /** What was sent to the agent; null: nothing. */
  readonly text: string | null;
  /** As they stood then. */
  readonly failedChecks: readonly Pick<EvidenceRow, 'check' | 'sentence' | 'tail' | 'at'>[];
}

async function explain(store: Store, session: State, wanted: number | null): Promise<Explained> {
  const name = `Session ${nameSession(session)}`;
  const [newest] = await store.decisions(session.id, 1);
  const latest = newest?.sequence ?? 0;
  const number = wanted ?? latest;
  const none = `${name} has no decision yet: the agent has not tried to stop.`;
  if (latest === 0) throw new UntildoneError('unknown-session', none);
  const tooHigh = `${name} has ${latest} decisions; there is no decision ${number}.`;
  if (number > latest) throw new UntildoneError('usage', tooHigh);
  const stored = (await store.decisions(session.id, latest - number + 1)).at(-1);
  const missing = `Decision ${number} of ${nameSession(session)} is missing from the store.`;
  if (stored?.sequence !== number) throw new UntildoneError('store-corrupt', missing);
  const { answer, observed, epoch } = stored.decision;
  const outbox = answer === 'continue' && !observed ? await store.outbox({ sessionId: session.id }) : [];
  const sent = outbox.find((row) => row.epoch === epoch);
  return {
    ...{ stored, latest, text: sent?.text ?? null },
    failedChecks: (await latestResults(store, session.id, stored.at))
      .filter(({ result }) => result !== 'passed')
      .map(({ check, sentence, tail, at }) => ({ check, sentence, tail, at })),
  };
}

function fiveLines(session: State, { stored, latest, text, failedChecks }: Explained, io: Io): string[] {
  const { decision, at, sequence } = stored;
  const paint = createPaint(io);
  const number = sequence === latest ? '' : `, decision ${sequence} of ${latest}`;
  // The sentence says which text it was.
  const answer = describeAnswer({ ...decision, textKind: null });
  const happened = `${paint('bold', answer)}. ${shown(decision.sentence, 300)}`;
  const until = decision.dueAt === null ? '' : ` Until ${formatTime(decision.dueAt)}.`;
  const place = stopRules.findIndex(({ name }) => name === decision.reason);
  const rule =
    decision.answer === 'continue'
      ? `none of ${stopRules.length} lets the agent stop, so it goes on`
      : `${shown(decision.reason)}${place === -1 ? '' : `, ${place + 1} of ${stopRules.length}: ${stopRules[place]?.asks}`}`;
  return [
    `${nameSession(session)}, ${formatAge(at, io.clock.now())}${number}: ${happened}${until}`,
    ...fields([
      ['rule', rule],
      ['numbers', Object.entries(decision.inputs).map(describeInput).join(', ') || 'none'],
      ['check', failedChecks.map(describeFailure).join('; ') || 'none failed'],
      ['sent', text === null ? 'nothing' : `“${shown(text, longestText)}”`],
    ]),
  ];
}

function describeFailure(failed: Explained['failedChecks'][number]): string {
  const last = failed.tail.trimEnd().split('\n').at(-1) ?? '';
  const printed = last.trim() === '' ? '' : ` It printed “${shown(last, 100)}” last.`;
  return `${checkName(shown(failed.check, 80))} failed: it ${shown(whyNotPassed(failed), 160)}${printed}`;
}

/** No counter comes near this: such a number is a time, in milliseconds since 1970. */
const leastTime = 1e12;

/** `withoutProgress` 3 → `without progress 3`. */
function describeInput([name, value]: [string, Inputs[string]]): string {
  const text = typeof value === 'boolean' ? (value ? 'yes' : 'no') : shown(String(value ?? 'none'));
  const isTime = typeof value === 'number' && value >= leastTime;
  const spaced = shown(name, 40).replace(/[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`);
  return `${spaced} ${isTime ? formatTime(value) : text}`;
}

/** Null: the reason is none of these rules, but one of another version. */
function markRules(decision: Decision) {
  const answered = stopRules.findIndex(({ name }) => name === decision.reason);
  if (answered === -1 && decision.answer !== 'continue') return null;
  const last = answered === -1 ? stopRules.length : answered;
  return stopRules.map(({ name, asks }, index) => {
    const mark = index < last ? 'silent' : index === last ? 'answered' : 'not asked';
    return { number: index + 1, name, asks, mark };
  });
}

/** Which text a continuation carried; empty for other answers. */
function markTexts({ textKind }: Decision) {
  if (textKind === null) return [];
  const chosen = texts.findIndex(({ kind }) => kind === textKind);
  return texts.map(({ kind }, index) => {
    const mark = index < chosen ? 'does not apply' : index === chosen ? 'chosen' : 'not asked';
    return { kind, mark };
  });
}

function ruleLines({ stored, latest, text }: Explained, io: Io): string[] {
  const { decision, sequence, at, policyHash } = stored;
  const paint = createPaint(io);
  const rules = markRules(decision);
  const width = Math.max(...stopRules.map(({ name }) => name.length));
  const line = (head: string, mark: string, rest = ''): string =>
    mark === 'answered' || mark === 'chosen'
      ? paint('bold', `${head}  ${mark.toUpperCase().padEnd(9)}${rest}`)
      : paint('dim', `${head}  ${mark.padEnd(9)}${rest}`);
  const listed = (rules ?? []).map(({ number, name, asks, mark }) =>
    line(`${String(number).padStart(4)}  ${name.padEnd(width)}`, mark, `  ${asks}`),
  );
  const chosen = markTexts(decision).map(({ kind, mark }) => line(`      ${kind.padEnd(16)}`, mark));
  const level = decision.level === null ? '' : ` (firmness ${decision.level} of 3)`;
  return [
    `Decision ${sequence} of ${latest}, ${formatTime(at)}, settings ${policyHash ?? 'unknown'}`,
    rules === null
      ? `This was not answered by one of the rules but by "${shown(decision.reason)}" of another version.`
      : 'The rules, in order:',
    ...listed,
    ...(chosen.length === 0 ? [] : [`No rule answered, so the agent goes on. The text that it got${level}:`]),
    ...chosen.map((each) => each.trimEnd()),
    ...(text === null ? [] : text.split('\n').map((each) => `  │ ${shown(each, 1000)}`)),
  ];
}
