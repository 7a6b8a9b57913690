// `untildone why`: one decision, explained from the record alone (V6): every rule in order, which were silent, and
// the one that answered with what it looked at. It decides nothing again; `replay` does.
import type { Inputs } from '../../core/decision.ts';
import { UntildoneError } from '../../core/error.ts';
import type { Session } from '../../core/state.ts';
import type { Store, StoredDecision } from '../../engine/store.ts';
import { type Command, jsonOption } from '../command.ts';
import { type MarkedRule, markRules, markTexts } from '../describe-decision.ts';
import { formatAge, formatTime } from '../describe-time.ts';
import { findSession, noSessionsYet } from '../find-session.ts';
import type { Io } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import { createPaint, fields, printJson, printWrapped, shown } from '../print.ts';
import { nameSession } from '../session-name.ts';

export const why: Command = {
  usage: 'why [session] [--decision N] [--json]',
  about: [
    'Explains the last decision of a session, or the Nth: the answer, its reason, and the rules in the order in\nwhich they were asked. Rules before the one that answered had nothing to say; those after it were not asked.',
  ],
  options: {
    decision: { value: 'N', summary: 'The Nth decision of the session instead of the last.' },
    ...jsonOption,
  },
  positionals: [0, 1],
  async run(given, io) {
    const wanted = numberOf(given.text('decision'));
    const found = await withStore(io, async (store) => {
      const session = await findSession(store, given.positional(0), io);
      return { session, ...(await findDecision(store, session, wanted)) };
    });
    if (found === null) throw new UntildoneError('unknown-session', noSessionsYet);
    if (given.has('json')) {
      const { stored, latest } = found;
      const rules = markRules(stored.decision) ?? [];
      printJson(io, { ...stored, latest, rules, texts: markTexts(stored.decision) });
    } else {
      printWrapped(io, explain(found.session, found.stored, found.latest, io));
    }
    return 0;
  },
};

function numberOf(text: string | null): number | null {
  if (text === null) return null;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UntildoneError('usage', '--decision must be the number of a decision, from 1 on.');
}

async function findDecision(
  store: Store,
  session: Session,
  wanted: number | null,
): Promise<{ stored: StoredDecision; latest: number }> {
  const [newest] = await store.decisions(session.id, 1);
  const id = nameSession(session);
  if (newest === undefined) {
    throw new UntildoneError(
      'unknown-session',
      `Session ${id} has no decision yet: the agent has not tried to stop.`,
    );
  }
  const latest = newest.sequence;
  if (wanted === null || wanted === latest) return { stored: newest, latest };
  if (wanted > latest) {
    throw new UntildoneError(
      'usage',
      `Session ${id} has ${latest} decisions; there is no decision ${wanted}.`,
    );
  }
  const stored = (await store.decisions(session.id, latest - wanted + 1)).find(
    ({ sequence }) => sequence === wanted,
  );
  if (stored !== undefined) return { stored, latest };
  throw new UntildoneError('store-corrupt', `Decision ${wanted} of session ${id} is missing from the store.`);
}

function explain(
  session: Session,
  { sequence, at, policyHash, decision }: StoredDecision,
  latest: number,
  io: Io,
): string[] {
  const paint = createPaint(io);
  const { descriptor, agent } = session;
  const who = `${nameSession(session)} (${shown(descriptor.host, 30)}, ${shown(agent.name ?? 'unknown agent', 30)})`;
  const answer = decision.observed ? `${decision.answer} (only observed: nothing was done)` : decision.answer;
  return [
    `Decision ${sequence} of ${latest} in session ${who}`,
    ...fields([
      ['answer', paint('bold', answer)],
      ['reason', shown(decision.reason)],
      ['because', shown(decision.sentence, 300)],
      decision.outcome === null ? null : ['outcome', decision.outcome],
      decision.dueAt === null ? null : ['until', formatTime(decision.dueAt)],
      ['when', `${formatTime(at)} (${formatAge(at, io.clock.now())})`],
      ['policy', policyHash ?? 'unknown'],
    ]),
    '',
    ...ruleLines(decision.reason, decision.inputs, markRules(decision), io),
    ...(decision.answer === 'continue' ? ['', ...continueLines(decision, io)] : []),
  ];
}

function ruleLines(reason: string, inputs: Inputs, rules: readonly MarkedRule[] | null, io: Io): string[] {
  if (rules === null) {
    const looked = fields(inputRows(inputs), '    ');
    return [
      `This was not answered by one of the rules but by "${shown(reason)}", which looked at:`,
      ...looked,
    ];
  }
  const paint = createPaint(io);
  const width = Math.max(...rules.map(({ name }) => name.length));
  const lines = rules.flatMap(({ number, name, asks, mark }) => {
    const head = `${String(number).padStart(4)}  ${name.padEnd(width)}`;
    if (mark !== 'answered') return [paint('dim', `${head}  ${mark.padEnd(9)}  ${asks}`)];
    const answered = `${paint('bold', `${head}  ANSWERED `)}  ${asks}`;
    return [answered, ...fields(inputRows(inputs), '          ')];
  });
  return ['The rules, in order:', ...lines];
}

function continueLines(decision: StoredDecision['decision'], io: Io): string[] {
  const paint = createPaint(io);
  const texts = markTexts(decision).map(({ kind, mark }) => {
    const line = `      ${kind.padEnd(18)}${mark === 'chosen' ? 'CHOSEN' : mark}`;
    return mark === 'chosen' ? paint('bold', line) : paint('dim', line);
  });
  const level = decision.level === null ? '' : ` (firmness ${decision.level} of 3)`;
  return [
    'No rule answered, so the agent goes on. What was counted:',
    ...fields(inputRows(decision.inputs), '      '),
    `The text that it got${level}:`,
    ...texts,
  ];
}

function inputRows(inputs: Inputs): (readonly [string, string])[] {
  return Object.entries(inputs).map(([name, value]) => [shown(name, 40), inputText(value)] as const);
}

/** No counter comes near this: such a number is a time, in milliseconds since 1970. */
const leastTime = 1e12;

function inputText(value: Inputs[string]): string {
  return typeof value === 'number' && value >= leastTime ? formatTime(value) : shown(String(value));
}
