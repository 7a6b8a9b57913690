// Keeps a plan file and a plan in step: what people change in the file becomes events of the actor `file`, what
// happens to the todos is written back into the boxes and nowhere else. It watches nothing: call sync() as often as
// you like. Its own writing is known by its hash, so that it never answers itself.
import type { PlanChange } from '../core/events.ts';
import { createState, type State } from '../core/state.ts';
import { isDropped } from '../core/todo.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../engine/host.ts';
import type { Store } from '../engine/store.ts';
import { sha256 } from '../engine/system.ts';
import {
  type CompareOptions,
  compareItems,
  type KnownFile,
  type Reading,
  wantedBoxes,
} from './compare-items.ts';
import { writeBoxes } from './format-plan.ts';
import { type PlanFile, type PlanFileProblem, parsePlanFile, problemText } from './plan-file.ts';
import { type PlanFileMemory, type ReplaceOptions, readPlanText, replacePlanText } from './plan-text.ts';

export interface PlanFileSyncOptions extends CompareOptions, ReplaceOptions {
  readonly engine: Pick<Engine, 'handle'>;
  readonly store: Pick<Store, 'state'>;
  readonly sessionId: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Default: nothing is kept beyond this object. */
  readonly memory?: PlanFileMemory;
}

/**
 * What became of one exchange between a plan file and a plan: nothing yet. `refused`: changes of the file that the plan
 * did not take; each has its sentence among the notices. `boxes`: those that were ticked or emptied in the file.
 */
export const noTotals = {
  ...{ created: 0, changed: 0, dropped: 0, refused: 0, boxes: 0 },
  notices: [] as readonly string[],
  /** Settles when the checks of the claims that were made here are reported. */
  checks: Promise.resolve(),
};
type Totals = typeof noTotals & { readonly notices: string[] };

/** `withoutLine`: todos of the plan that no line stands for, cancelled ones aside. */
export type SyncReport =
  | ({ readonly ok: true; readonly plan: PlanFile; readonly withoutLine: number } & Readonly<typeof noTotals>)
  | { readonly ok: false; readonly problems: readonly PlanFileProblem[] };

/** Somebody who writes the file more often than this within one call is left to the next one. */
const mostAttempts = 5;
const givenUp = 'The file keeps changing; its boxes are written next time.';

export type PlanFileSync = ReturnType<typeof createPlanFileSync>;

export function createPlanFileSync(options: PlanFileSyncOptions) {
  const { path, store, sessionId, identifiers, clock, memory } = options;
  let known: KnownFile | null | undefined;
  let parsed: Reading | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const readState = async (): Promise<State> =>
    (await store.state(sessionId)) ?? createState(sessionId, clock.now());

  function readFile(): Reading | readonly PlanFileProblem[] {
    const file = readPlanText(path, options.pinned);
    if (!file.ok) return [{ line: null, sentence: `the file ${file.sentence}` }];
    const hash = sha256(file.text);
    if (parsed?.hash === hash) return parsed;
    const result = parsePlanFile(file.text);
    if (!result.ok) return result.problems;
    parsed = { text: file.text, hash, plan: result.plan };
    return parsed;
  }

  /** The last reading; one of another plan (a new turn began) says nothing about this one. */
  async function lastReading({ hash }: Reading, { planId }: State): Promise<KnownFile | null> {
    if (known === undefined) {
      const kept = (await memory?.load()) ?? [];
      known = kept.find((candidate) => candidate.hash === hash) ?? kept.at(-1) ?? null;
    }
    return known?.planId === planId ? known : null;
  }

  /** False: the file has nothing new to say. */
  async function pull(reading: Reading, state: State, settles: boolean, totals: Totals): Promise<boolean> {
    const { hash, plan } = reading;
    const base = await lastReading(reading, state);
    if (base?.hash === hash && !(settles && isLeftOutAgain(base, state))) return false;
    const { changes, items, removed, notices } = compareItems(plan.items, base, state.plan, options);
    totals.notices.push(...[...plan.warnings, ...notices].map(problemText));
    for (const change of changes) await send(change, totals);
    known = { planId: state.planId, hash, items, removed };
    await memory?.save([known]);
    return true;
  }

  /** As an event of the actor `file`; what the plan refuses becomes a notice. */
  async function send(change: PlanChange, totals: Totals): Promise<void> {
    const base = { id: identifiers.next(), sessionId, at: clock.now(), actor: 'file' } as const;
    const { reply, checks } = await options.engine.handle({ ...change, ...base });
    const isDrop = change.type === 'todo-updated' && change.changes.status === 'cancelled';
    totals.created += reply?.created.length ?? 0;
    totals[isDrop ? 'dropped' : 'changed'] += reply?.changed.length ?? 0;
    totals.refused += reply?.refused.length ?? 0;
    totals.notices.push(...(reply?.refused ?? []).map(({ sentence }) => sentence));
    // Safe to go on without them: a check that was not reported is run again at the next stop attempt.
    const ended = Promise.resolve(checks).catch(() => null);
    totals.checks = Promise.all([totals.checks, ended]).then(() => undefined);
  }

  /** False: the file changed under our hands and nothing was written. */
  async function push(reading: Reading, base: KnownFile | null, boxes: boolean[], totals: Totals) {
    const { text, hash, plan } = reading;
    const written = writeBoxes(text, plan, boxes);
    if (written === text) return true;
    // Written over a change that was not pulled yet, the last reading stays what the next pull compares with.
    const pulled = base?.hash === hash ? base : null;
    const items = pulled?.items.map((item, index) => ({ ...item, checked: boxes[index] ?? item.checked }));
    const next = pulled && items && { ...pulled, hash: sha256(written), items };
    // What was intended is kept first: after a crash the file itself tells whether it was written.
    if (pulled && next) await memory?.save([next, pulled]);
    const replaced = replacePlanText(path, text, written, options);
    if (replaced === 'replaced') {
      totals.boxes += plan.items.filter(({ checked }, index) => checked !== boxes[index]).length;
      known = next ?? known;
    } else if (replaced !== 'changed-meanwhile') totals.notices.push(`The file ${replaced.sentence}.`);
    if (next && known) await memory?.save([known]);
    return replaced !== 'changed-meanwhile';
  }

  async function run(direction: 'pull' | 'push' | 'sync' | 'settle'): Promise<SyncReport> {
    const totals: Totals = { ...noTotals, notices: [] };
    for (let attempt = 1; ; attempt += 1) {
      const reading = readFile();
      if (!('plan' in reading)) return { ok: false, problems: reading };
      const before = await readState();
      const pulled = direction !== 'push' && (await pull(reading, before, direction === 'settle', totals));
      // A plan of thousands of todos is not read twice for nothing: this happens after every step.
      const state = pulled ? await readState() : before;
      const base = await lastReading(reading, state);
      const { boxes, withoutLine } = wantedBoxes(reading, base, state.plan);
      const isOver = direction === 'pull' || (await push(reading, base, boxes, totals));
      if (!isOver && attempt < mostAttempts) continue;
      if (!isOver) totals.notices.push(givenUp);
      return { ok: true, plan: reading.plan, withoutLine, ...totals };
    }
  }

  const inTurn = (direction: Parameters<typeof run>[0]) => (): Promise<SyncReport> => {
    const result = last.then(() => run(direction));
    // Whoever made that call gets its failure; the next one starts afresh.
    last = result.catch(() => null);
    return result;
  };
  return {
    /** File → plan. */
    pull: inTurn('pull'),
    /** Plan → boxes. Boxes that somebody changed since the last reading are left to the next pull. */
    push: inTurn('push'),
    sync: inTurn('sync'),
    /**
     * Like sync, before a stop attempt: a todo that was named as dropped, and whose line is still missing, was left out
     * again (V4). Not settled while the agent still works: it may be about to put the line back.
     */
    settle: inTurn('settle'),
  };
}

function isLeftOutAgain({ removed }: KnownFile, { plan }: State): boolean {
  const missing = new Set(removed);
  return plan.some((todo) => missing.has(todo.id) && isDropped(todo) && todo.droppedNamedAt !== null);
}
