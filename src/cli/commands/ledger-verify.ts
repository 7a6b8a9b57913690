// `untildone ledger verify`: walks the chain of each plan, names the first broken link, and compares the todos and the
// session with it (V4). It finds damage and naive edits. It cannot find a chain that was rebuilt whole, nor entries
// cut off at its end that changed no todo.

import { UntildoneError } from '../../core/error.ts';
import { findDamage, type LedgerEntry, type LedgerReport, verifyLedger } from '../../core/ledger.ts';
import type { State } from '../../core/state.ts';
import type { Store } from '../../engine/store.ts';
import { brokenSeal, sealOf, sha256 } from '../../engine/system.ts';
import { type Command, jsonOption } from '../command.ts';
import { findSession } from '../find-session.ts';
import type { Io } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import { count, createPaint, printJson, printLines } from '../print.ts';
import { nameSession, sessionFields, shortId } from '../session-name.ts';

/** Events read at a time while the plans of a session are looked up. */
const pageSize = 1000;

export const ledgerVerify: Command = {
  usage: 'ledger verify [session | --all] [--json]',
  about: [
    'Each change of a plan carries the hash of the one before it. This walks the chain from its start, compares the\ntodos and the session with it, and exits 1 where something does not fit. Someone who rebuilds the whole chain is not\nfound.',
  ],
  options: { all: { summary: 'The plans of every session.' }, ...jsonOption },
  positionals: [0, 1],
  async run(given, io) {
    const word = given.positional(0);
    if (given.has('all') && word !== null)
      throw new UntildoneError('usage', 'Name a session or say --all, not both.');
    const reports = await withStore(io, async (store) => {
      const sessions = given.has('all')
        ? await store.sessions({ limit: Number.MAX_SAFE_INTEGER })
        : [await findSession(store, word, io)];
      const found: PlanReport[] = [];
      const seen = new Set<string>();
      for (const { id } of sessions) {
        const session = await store.state(id);
        if (session !== null) found.push(...(await verifySession(store, session, seen)));
      }
      return found;
    });
    const broken = (reports ?? []).filter(({ report }) => !report.intact);
    if (given.has('json')) {
      const plans = (reports ?? []).map(({ report, ...plan }) => ({ ...plan, ...report }));
      printJson(io, { intact: broken.length === 0, plans });
    } else printLines(io, reports === null ? ['no sessions yet'] : lines(reports, io));
    return broken.length === 0 ? 0 : 1;
  },
};

interface PlanReport {
  readonly session: string;
  readonly title: string | null;
  readonly plan: string;
  readonly report: LedgerReport;
}

async function verifySession(store: Store, session: State, seen: Set<string>): Promise<PlanReport[]> {
  const reports: PlanReport[] = [];
  for (const plan of await plansOf(store, session)) {
    if (seen.has(plan)) continue;
    seen.add(plan);
    reports.push({ ...sessionFields(session), plan, report: await verifyPlan(store, plan, session) });
  }
  return reports;
}

async function verifyPlan(store: Store, plan: string, session: State): Promise<LedgerReport> {
  try {
    const entries = await store.ledger(plan);
    const chain = verifyLedger(entries, sha256);
    if (!chain.intact) return chain;
    const sentence = await findDifference(store, entries, plan, session);
    return sentence === null ? chain : { intact: false, brokenAt: chain.length, sentence };
  } catch (error) {
    // Safe: an entry that cannot even be read is what this command looks for; the other plans are still walked.
    if (!(error instanceof UntildoneError) || error.code !== 'store-corrupt') throw error;
    return { intact: false, brokenAt: 1, sentence: 'an entry cannot be read' };
  }
}

/** What the todos and the session say that the chain does not; null: nothing. */
async function findDifference(
  store: Store,
  entries: readonly LedgerEntry[],
  plan: string,
  session: State,
): Promise<string | null> {
  const { recordBroken } = session;
  const todos = await store.todos({ planId: plan });
  const sealed = () => sealOf(session, entries.at(-1)?.hash ?? null, todos.length, sha256);
  if (recordBroken === null && plan === session.planId && session.seal !== sealed()) return brokenSeal;
  return recordBroken ?? findDamage(entries, todos, sha256);
}

/** In turn scope every turn has a plan of its own, named after the turn. */
async function plansOf(store: Store, session: State): Promise<Set<string>> {
  const plans = new Set([session.planId]);
  if (session.planId === session.id) return plans;
  plans.add(session.id);
  for (let after = 0; ; ) {
    const page = await store.events({ sessionId: session.id, after, limit: pageSize });
    for (const { event } of page) if (event.type === 'human-spoke') plans.add(event.turnId);
    const last = page.at(-1)?.applied ?? null;
    if (last === null || page.length < pageSize) return plans;
    after = last;
  }
}

function lines(reports: readonly PlanReport[], io: Io): string[] {
  const paint = createPaint(io);
  const intact = reports.filter(({ report }) => report.intact).length;
  const each = reports.map(({ session, title, plan, report }) => {
    const named = nameSession({ id: session, ...(title === null ? {} : { title }) });
    const name = session === plan ? named : `${named}, plan ${shortId(plan)}`;
    if (!report.intact) return `  ${paint('red', 'BROKEN')}  ${name}: ${report.sentence}`;
    return `  ${paint('green', 'intact')}  ${name}: ${count(report.length, 'change')}, head ${report.head.slice(0, 16)}`;
  });
  return [`${intact} of ${count(reports.length, 'plan')} intact`, ...each];
}
