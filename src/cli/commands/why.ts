// `untildone why`: explains one decision from the record alone (V6): the earlier refusals
// of the turn, what happened, the rule and its numbers, the failed check and the text
// that was sent; with --rules every rule in order. It never decides again.
import { bareCheck } from '../../core/check-specs.ts';
import type { Inputs } from '../../core/decision.ts';
import { UntildoneError } from '../../core/error.ts';
import { findSameOutput, pickFailedLines } from '../../core/failed-lines.ts';
import { stopRules } from '../../core/rules.ts';
import type { State } from '../../core/state.ts';
import { continuationMarker, texts as textKinds } from '../../core/texts.ts';
import { explainDecision, refusalsBefore } from '../../engine/session-record.ts';
import type { Store } from '../../engine/store.ts';
import { failedStops } from '../../hosts/shared.ts';
import { numberOf } from '../command.ts';
import { describeAnswer, describeLaterHold, nameSession } from '../describe-session.ts';
import { formatAge, formatTime } from '../describe-time.ts';
import { sessionCommand } from '../find-session.ts';
import type { Io } from '../io.ts';
import { findTurnDecision } from '../last-outcome.ts';
import { createPaint, escapeForTerminal, formatFields } from '../print.ts';
import { checkName, formatClock, whyNotPassed } from '../show/words.ts';

/** Characters shown of the text that was sent; --rules and --json have all of it. */
const longestText = 300;
/** Characters shown of the text of an earlier refusal. */
const longestRefusal = 120;
/** Lines shown of a failed check's output. */
const mostFailedLines = 4;

export const why = sessionCommand({
  about: [
    'Explains the last decision of a session, or the Nth, in five lines: what happened, the rule that answered, the\nnumbers that it looked at, the check that failed, and the text that the agent was sent. Above the last decision\nit lists each time that the agent was sent back in that turn: when, why and with which text.',
    'With --rules: every rule in the order in which they are asked. Rules before the one that answered had nothing to\nsay; those after it were not asked.',
  ],
  options: {
    decision: {
      value: 'N',
      summary: 'The Nth decision of the session instead of the last.',
    },
    rules: { summary: 'All rules in order, and the whole text.' },
  },
  check: (given) => numberOf(given, 'decision'),
  async answer({ given, io, store, session }) {
    const json = await collectExplanation(
      store,
      session,
      numberOf(given, 'decision'),
      io,
    );
    const rules = given.has('rules') ? ['', ...ruleLines(json, io)] : [];
    const undecided =
      json.undecided === null
        ? []
        : [`Since then, ${describeUndecided(json.undecided, io)}`];
    const later = describeLaterHold(session, io.clock.now());
    if (later !== null)
      undecided.push(`Since then: ${escapeForTerminal(later, 300)}. The outcome stays.`);
    const refused = refusalLines(session, json, io);
    return {
      json,
      lines: [...refused, ...fiveLines(session, json, io), ...undecided, ...rules],
    };
  },
});

type Explanation = Awaited<ReturnType<typeof collectExplanation>>;

/**
 * Describes a stop without a decision: a hook that broke or found the store locked leaves
 * only a line in its log.
 */
function describeUndecided(
  { at, message }: Pick<ReturnType<typeof failedStops>[number], 'at' | 'message'>,
  io: Io,
): string {
  return `${formatAge(at, io.clock.now())}: may stop. untildone could not decide: ${escapeForTerminal(message, 300)}`;
}

async function collectExplanation(
  store: Store,
  session: State,
  wantedNumber: number | null,
  io: Io,
) {
  const name = `Session ${nameSession(session)}`;
  const [newest] = await store.decisions(session.id, 1);
  const latest = newest?.sequence ?? 0;
  const number =
    wantedNumber ?? (await findTurnDecision(store, session))?.sequence ?? latest;
  const failed =
    wantedNumber === null ? (failedStops(io.env, session.id).at(-1) ?? null) : null;
  const untried =
    failed === null ? 'the agent has not tried to stop.' : describeUndecided(failed, io);
  const none = `${name} has no decision yet: ${untried}`;
  if (latest === 0) throw new UntildoneError('unknown-session', none);
  const tooHigh = `${name} has ${latest} decisions; there is no decision ${number}.`;
  if (number > latest) throw new UntildoneError('usage', tooHigh);
  const stored = (await store.decisions(session.id, latest - number + 1)).at(-1);
  const missing = `Decision ${number} of ${nameSession(session)} is missing from the store.`;
  if (stored?.sequence !== number) throw new UntildoneError('store-corrupt', missing);
  const { answer, reason, textKind } = stored.decision;
  const rules = stopRules.map(({ name: rule, asks }, index) => ({
    number: index + 1,
    name: rule,
    asks,
  }));
  const isOurs = answer === 'continue' || rules.some((rule) => rule.name === reason);
  const kinds = textKind === null ? [] : textKinds.map(({ kind }) => ({ kind }));
  return {
    ...stored,
    latest,
    /** A later stop that could not be decided, so that the agent was allowed to stop. */
    undecided:
      failed !== null && failed.at > stored.at
        ? { at: failed.at, message: failed.message }
        : null,
    /** Empty: the reason is a rule of another version. */
    rules: isOurs
      ? markItems(rules, (rule) => rule.name === reason, 'silent', 'answered')
      : [],
    /** Which text a continuation carried; empty for other answers. */
    texts: markItems(kinds, ({ kind }) => kind === textKind, 'does not apply', 'chosen'),
    /**
     * The earlier refusals in the same turn, oldest first; empty if the decision was
     * asked for by its number.
     */
    refusals: wantedNumber === null ? await refusalsBefore(store, session, stored) : [],
    ...(await explainDecision(store, stored)),
  };
}

/**
 * Marks the items in the order in which they were asked: those before the match, the
 * match, and those that were not asked.
 */
function markItems<Item>(
  items: readonly Item[],
  isMatch: (item: Item) => boolean,
  markBefore: string,
  matchMark: string,
) {
  const matchIndex = items.findIndex(isMatch);
  const last = matchIndex === -1 ? items.length : matchIndex;
  const mark = (index: number): string => {
    if (index < last) return markBefore;
    return index === last ? matchMark : 'not asked';
  };
  return items.map((item, index) => ({ ...item, mark: mark(index) }));
}

function fiveLines(session: State, explained: Explanation, io: Io): string[] {
  const { decision, at, sequence, latest, rules, text, failedChecks } = explained;
  const order = sequence === latest ? '' : `, decision ${sequence} of ${latest}`;
  // The sentence already says which text it was.
  const answer = createPaint(io)('bold', describeAnswer({ ...decision, textKind: null }));
  const until = decision.dueAt === null ? '' : ` Until ${formatTime(decision.dueAt)}.`;
  const answered = rules.find(({ mark }) => mark === 'answered');
  const asks =
    answered === undefined
      ? ''
      : `, ${answered.number} of ${rules.length}: ${answered.asks}`;
  const rule =
    decision.answer === 'continue'
      ? `none of ${rules.length} lets the agent stop, so it goes on`
      : `${escapeForTerminal(decision.reason)}${asks}`;
  return [
    `${nameSession(session)}, ${formatAge(at, io.clock.now())}${order}: ${answer}. ${escapeForTerminal(decision.sentence, 300)}${until}`,
    ...formatFields([
      ['rule', rule],
      [
        'numbers',
        Object.entries(decision.inputs).map(describeInput).join(', ') || 'none',
      ],
      ['check', describeFailures(failedChecks) || 'none failed'],
      ['sent', text === null ? 'nothing' : `“${escapeForTerminal(text, longestText)}”`],
    ]),
  ];
}

function refusalLines(session: State, { refusals }: Explanation, io: Io): string[] {
  if (refusals.length === 0) return [];
  const times = refusals.length === 1 ? 'once' : `${refusals.length} times`;
  return [
    `${nameSession(session)} was sent back to work ${times} in this turn:`,
    ...refusals.map(({ at, sentence, text }) => {
      const unmarked = text?.replace(`[${continuationMarker}] `, '');
      const sent =
        unmarked === undefined
          ? ''
          : ` Sent: “${escapeForTerminal(unmarked, longestRefusal)}”`;
      return `  ${formatClock(at, io.clock.now())}  ${escapeForTerminal(sentence, 200)}${sent}`;
    }),
    '',
  ];
}

function describeFailures(failed: Explanation['failedChecks']): string {
  const names = failed.map(({ check }) => checkName(escapeForTerminal(check, 80)));
  const sameOutputs = findSameOutput(
    failed.map(({ sentence, tail }, index) => ({
      name: names[index] ?? '',
      tail: `${sentence}\n${tail}`,
    })),
  );
  const each = failed.map(({ check, sentence, tail, failedBefore }, index) => {
    // If the sentence begins with the name of the check, `whyNotPassed` cuts that off,
    // and "it" stands for it.
    const it = sentence.startsWith(`${bareCheck(check)} `) ? 'it ' : '';
    const why = escapeForTerminal(whyNotPassed({ check, sentence }), 160);
    const before = failedBefore ? ' It failed before the work began too.' : '';
    const sameAs = sameOutputs[index] ?? null;
    const printed =
      sameAs === null ? describePrinted(tail) : ` It printed the same as ${sameAs}.`;
    return `${names[index]} failed: ${it}${why}${before}${printed}`;
  });
  return each.join('; ');
}

function describePrinted(tail: string): string {
  const lines = pickFailedLines(tail, mostFailedLines).map(
    (line) => `“${escapeForTerminal(line, 100)}”`,
  );
  return lines.length === 0 ? '' : ` It printed ${lines.join(', ')}.`;
}

/**
 * A number from here on is a time, in milliseconds since 1970: no counter gets this high.
 */
const leastTime = 1e12;

/** `withoutProgress` 3 → `without progress 3`. */
function describeInput([name, value]: [string, Inputs[string]]): string {
  const spaced = escapeForTerminal(name, 40).replace(
    /[A-Z]/gu,
    (letter) => ` ${letter.toLowerCase()}`,
  );
  return `${spaced} ${describeValue(value)}`;
}

function describeValue(value: Inputs[string]): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const isTime = typeof value === 'number' && value >= leastTime;
  return isTime ? formatTime(value) : escapeForTerminal(String(value ?? 'none'));
}

function ruleLines(
  { decision, sequence, at, policyHash, latest, rules, texts, text }: Explanation,
  io: Io,
) {
  const paint = createPaint(io);
  const width = Math.max(...rules.map(({ name }) => name.length));
  const line = (head: string, mark: string, rest = ''): string => {
    const isMatch = mark === 'answered' || mark === 'chosen';
    const rowText =
      `${head}  ${(isMatch ? mark.toUpperCase() : mark).padEnd(9)}${rest}`.trimEnd();
    return paint(isMatch ? 'bold' : 'dim', rowText);
  };
  const level = decision.level === null ? '' : ` (firmness ${decision.level} of 3)`;
  return [
    `Decision ${sequence} of ${latest}, ${formatTime(at)}, settings ${policyHash ?? 'unknown'}`,
    rules.length === 0
      ? `This was not answered by one of the rules but by "${escapeForTerminal(decision.reason)}" of another version.`
      : 'The rules, in order:',
    ...rules.map(({ number, name, asks, mark }) =>
      line(`${String(number).padStart(4)}  ${name.padEnd(width)}`, mark, `  ${asks}`),
    ),
    ...(texts.length === 0
      ? []
      : [`No rule answered, so the agent goes on. The text that it got${level}:`]),
    ...texts.map(({ kind, mark }) => line(`      ${kind.padEnd(16)}`, mark)),
    ...(text === null
      ? []
      : text.split('\n').map((each) => `  │ ${escapeForTerminal(each, 1000)}`)),
  ];
}
