// Keeps a plan file and a plan in step: what people change in the file becomes events of the actor `file`, what
// happens to the todos is written back into the boxes and nowhere else. It watches nothing: call sync() as often as
// you like. Its own writing is known by its hash, so that it never answers itself.
import { basename } from 'node:path';
import { isDropped, type Todo } from '../core/todo.ts';
import type { Store } from '../engine/store.ts';
import { boxStatuses } from './box-statuses.ts';
import { compareItems } from './compare-items.ts';
import { createTransientMemory, type KnownFile, type PlanFileMemory } from './known-file.ts';
import { parsePlanFile } from './parse-plan-file.ts';
import { type PlanFile, type PlanFileProblem, problemText } from './plan-file.ts';
import { type Sender, sendChanges } from './send-changes.ts';
import { addTotals, noTotals, type SyncReport, type SyncTotals } from './sync-report.ts';
import { hashText, readTextFile, replaceTextFile } from './text-file.ts';
import { boxFor, writeBoxes } from './write-boxes.ts';

export interface PlanFileSyncOptions extends Sender {
  readonly path: string;
  /** The path is a real one: what is reached through a link later is neither read nor written. */
  readonly pinned?: boolean;
  readonly store: Pick<Store, 'read'>;
  /**
   * V3: which checks may be put on new todos. At a human's import all that stand in the file; while an agent works
   * only those of the snapshot that the human's last message took, since the agent can edit the file.
   */
  readonly isAllowed: (check: string) => boolean;
  /** Default: nothing is kept beyond this object. */
  readonly memory?: PlanFileMemory;
  /** Called when a write-back is ready and the file was not looked at again yet; tests edit the file here. */
  readonly beforeReplace?: () => Promise<void>;
}

export interface PlanFileSync {
  /** File → plan. */
  pull(): Promise<SyncReport>;
  /** Plan → boxes. Boxes that somebody changed since the last reading are left to the next pull. */
  push(): Promise<SyncReport>;
  /** Both, in this order. Calls take turns. */
  sync(): Promise<SyncReport>;
  /**
   * Like sync, before a stop attempt: a todo that was named as dropped, and whose line is still missing, was left out
   * again (V4). Not settled while the agent still works: it may be about to put the line back.
   */
  settle(): Promise<SyncReport>;
}

/** Somebody who writes the file more often than this within one call is left to the next one. */
const mostAttempts = 5;

interface Reading {
  readonly text: string;
  readonly hash: string;
  readonly plan: PlanFile;
}

interface StoredPlan {
  readonly planId: string;
  readonly todos: readonly Todo[];
}

export function createPlanFileSync(options: PlanFileSyncOptions): PlanFileSync {
  const { path, store, sessionId, identifiers, isAllowed, pinned = false } = options;
  const memory = options.memory ?? createTransientMemory();
  let known: KnownFile | null | undefined;
  let parsed: Reading | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const readStored = (): Promise<StoredPlan> =>
    store.read(async (reader) => {
      const planId = (await reader.session(sessionId))?.planId ?? sessionId;
      return { planId, todos: await reader.todosOfPlan(planId) };
    });

  async function read(): Promise<Reading | readonly PlanFileProblem[]> {
    const file = await readTextFile(path, pinned);
    if (!file.ok) return [{ line: null, sentence: `the file ${file.sentence}` }];
    if (parsed?.hash === file.hash) return parsed;
    const result = parsePlanFile(file.text);
    if (!result.ok) return result.problems;
    parsed = { text: file.text, hash: file.hash, plan: result.plan };
    return parsed;
  }

  /** The last reading; one of another plan (a new turn began) says nothing about this one. */
  async function lastReading(hash: string, planId: string): Promise<KnownFile | null> {
    if (known === undefined) {
      const kept = await memory.load();
      known = kept.find((candidate) => candidate.hash === hash) ?? kept.at(-1) ?? null;
    }
    return known?.planId === planId ? known : null;
  }

  async function pull(
    { hash, plan }: Reading,
    { planId, todos }: StoredPlan,
    settles: boolean,
  ): Promise<SyncTotals> {
    const base = await lastReading(hash, planId);
    if (base?.hash === hash && !(settles && isLeftOutAgain(base, todos))) return noTotals;
    const { changes, items, removed, notices } = compareItems(plan.items, {
      known: base,
      plan: todos,
      isAllowed,
      nextId: () => identifiers.next(),
      fileName: basename(path),
    });
    const { refused, ...sent } = await sendChanges(options, changes);
    known = { planId, hash, items, removed };
    await memory.save([known]);
    const warnings = plan.warnings.map(problemText);
    const sentences = [...warnings, ...notices.map(problemText), ...refused];
    return { ...sent, refused: refused.length, boxes: 0, notices: sentences };
  }

  /** null: the file changed under our hands and nothing was written. */
  async function push(reading: Reading, { planId, todos }: StoredPlan): Promise<SyncTotals | null> {
    const { text, hash, plan } = reading;
    const base = await lastReading(hash, planId);
    const { statuses } = boxStatuses(plan.items, hash, base, todos);
    const wanted = plan.items.map(({ checked }, index) => boxFor(statuses.get(index)) ?? checked);
    const written = writeBoxes(text, plan, statuses);
    if (written === text) return noTotals;
    // Written over a change that was not pulled yet, the last reading stays what the next pull compares with.
    const next = base?.hash === hash ? ticked(base, hashText(written), wanted) : null;
    // What was intended is kept first: after a crash the file itself tells whether it was written.
    if (next !== null && base !== null) await memory.save([next, base]);
    const replaced = await replaceTextFile(path, hash, written, { before: options.beforeReplace, pinned });
    if (replaced === 'replaced' && next !== null) known = next;
    if (next !== null && known) await memory.save([known]);
    if (replaced === 'changed-meanwhile') return null;
    if (replaced !== 'replaced') return { ...noTotals, notices: [`The file ${replaced.sentence}.`] };
    const boxes = plan.items.filter(({ checked }, index) => checked !== wanted[index]).length;
    return { ...noTotals, boxes };
  }

  async function run({ pulls, pushes, settles = false }: Direction): Promise<SyncReport> {
    let totals = noTotals;
    for (let attempt = 1; ; attempt += 1) {
      const reading = await read();
      if (!('plan' in reading)) return { ok: false, problems: reading };
      const before = await readStored();
      const pulled = pulls ? await pull(reading, before, settles) : noTotals;
      totals = addTotals(totals, pulled);
      // A plan of thousands of todos is not read twice for nothing: this happens after every step.
      const stored = pulled === noTotals ? before : await readStored();
      const pushed = pushes ? await push(reading, stored) : noTotals;
      if (pushed === null && attempt < mostAttempts) continue;
      const base = await lastReading(reading.hash, stored.planId);
      const { withoutLine } = boxStatuses(reading.plan.items, reading.hash, base, stored.todos);
      return { ok: true, plan: reading.plan, withoutLine, ...addTotals(totals, pushed ?? givenUp) };
    }
  }

  function inTurn(direction: Direction): Promise<SyncReport> {
    const result = last.then(() => run(direction));
    // Whoever made that call gets its failure; the next one starts afresh.
    last = result.catch(() => null);
    return result;
  }

  return {
    pull: () => inTurn({ pulls: true, pushes: false }),
    push: () => inTurn({ pulls: false, pushes: true }),
    sync: () => inTurn({ pulls: true, pushes: true }),
    settle: () => inTurn({ pulls: true, pushes: true, settles: true }),
  };
}

interface Direction {
  readonly pulls: boolean;
  readonly pushes: boolean;
  readonly settles?: boolean;
}

function isLeftOutAgain({ removed }: KnownFile, todos: readonly Todo[]): boolean {
  const missing = new Set(removed);
  return todos.some((todo) => missing.has(todo.id) && isDropped(todo) && todo.droppedNamedAt !== null);
}

const givenUp: SyncTotals = {
  ...noTotals,
  notices: ['The file keeps changing; its boxes are written next time.'],
};

function ticked(base: KnownFile, hash: string, boxes: readonly boolean[]): KnownFile {
  const items = base.items.map((item, index) => ({ ...item, checked: boxes[index] ?? item.checked }));
  return { ...base, hash, items };
}
