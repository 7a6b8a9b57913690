// Keeps a plan file and a plan in step: what people change in the file becomes events of the actor `file`, what happens
// to the todos is written into the boxes and nowhere else, and only if the file still holds the text that was read.
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PlanChange } from '../core/events.ts';
import { list, read } from '../core/schema.ts';
import { createState, type State } from '../core/state.ts';
import { isDropped } from '../core/todo.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../engine/host.ts';
import type { Store } from '../engine/store.ts';
import { createQueue, errorCode, makeFolder, sha256 } from '../engine/system.ts';
import { becameLink, replaceFile } from '../engine/text-file.ts';
import type { CompareOptions, KnownFile } from './compare-items.ts';
import { compareItems, knownFile, wantedBoxes } from './compare-items.ts';
import type { ParsedPlanFile, PlanReading, WrongPlanFile } from './plan-file.ts';
import { readPlanFile, readPlanText, writeBoxes } from './plan-file.ts';

export interface ReplaceOptions {
  readonly pinned?: boolean;
  /** Tests edit the file here, before it is looked at again. */
  readonly beforeReplace?: (() => void) | undefined;
}

/** What a link points to is replaced, not the link. */
export function replacePlanText(
  path: string,
  before: string,
  after: string,
  { pinned = false, beforeReplace }: ReplaceOptions = {},
): 'replaced' | 'changed-meanwhile' | { readonly sentence: string } {
  try {
    const target = realpathSync(path);
    if (pinned && target !== path) return { sentence: becameLink };
    const like = statSync(target);
    if ((like.mode & 0o222) === 0) return { sentence: 'is marked read-only' };
    const isWanted = (): boolean => {
      beforeReplace?.();
      const now = readPlanText(target);
      return now.ok && now.text === before && realpathSync(path) === target;
    };
    return replaceFile(target, after, { like, isWanted }) ? 'replaced' : 'changed-meanwhile';
  } catch (error) {
    // Safe: the old file is complete, and whoever asked is told why.
    return { sentence: `cannot be written (${errorCode(error)})` };
  }
}

/** The last reading; before it, while boxes are written, the one that holds if the file was replaced. */
export function createFileMemory(directory: string, path: string, sessionId: string) {
  const folder = join(directory, 'plan-files');
  const file = join(folder, `${sha256(`${path}\0${sessionId}`).slice(0, 32)}.json`);
  return {
    load(): readonly KnownFile[] {
      try {
        const known = read(list(knownFile), JSON.parse(readFileSync(file, 'utf8')), 1);
        return known.ok ? known.value : [];
      } catch {
        // Safe: without it boxes can only add ticks, on both sides.
        return [];
      }
    },
    save(known: readonly KnownFile[]): void {
      try {
        makeFolder(folder, 0o700);
        replaceFile(file, JSON.stringify(known), { like: null, mode: 0o600 });
      } catch {
        // Safe: the next reading finds an older one or none, and matches by title.
      }
    },
  };
}

export interface PlanFileSyncOptions extends CompareOptions, ReplaceOptions {
  readonly engine: Pick<Engine, 'handle'>;
  readonly store: Pick<Store, 'state'>;
  readonly sessionId: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly memory?: ReturnType<typeof createFileMemory>;
}

/** What the plan `refused` has a notice each; `boxes` were ticked or emptied. */
export const noTotals = {
  created: 0,
  changed: 0,
  dropped: 0,
  refused: 0,
  boxes: 0,
  notices: [] as readonly string[],
  /** Until those of the claims are reported. */
  checks: Promise.resolve(),
};

/** `withoutLine`: todos that no line stands for, cancelled ones aside. */
export type SyncReport =
  | (ParsedPlanFile & { readonly withoutLine: number } & Readonly<typeof noTotals>)
  | WrongPlanFile;

const mostAttempts = 5;
const givenUp = 'The file keeps changing; its boxes are written next time.';

export type PlanFileSync = ReturnType<typeof createPlanFileSync>;
export function createPlanFileSync(options: PlanFileSyncOptions) {
  const { path, store, sessionId, identifiers, clock, memory } = options;
  const queue = createQueue();
  let known: KnownFile | null | undefined;
  let parsed: PlanReading | null = null;

  /** One of another plan, from before a new turn began, says nothing about this one. */
  function lastReading(hash: string, { planId }: State): KnownFile | null {
    if (known === undefined) {
      const kept = memory?.load() ?? [];
      known = kept.find((candidate) => candidate.hash === hash) ?? kept.at(-1) ?? null;
    }
    return known?.planId === planId ? known : null;
  }

  /** Pulls from the file into the plan, then pushes from the plan into the boxes. */
  async function run(direction: 'pull' | 'push' | 'sync' | 'settle'): Promise<SyncReport> {
    const notices: string[] = [];
    const totals = { ...noTotals, notices };
    const readState = async () => (await store.state(sessionId)) ?? createState(sessionId, clock.now());

    async function send(change: PlanChange): Promise<void> {
      const base = { id: identifiers.next(), sessionId, at: clock.now(), actor: 'file' } as const;
      const { reply, checks } = await options.engine.handle({ ...change, ...base });
      const { created = [], changed = [], refused = [] } = reply ?? {};
      const isDrop = change.type === 'todo-updated' && change.changes.status === 'cancelled';
      totals.created += created.length;
      totals[isDrop ? 'dropped' : 'changed'] += changed.length;
      totals.refused += refused.length;
      notices.push(...refused.map(({ sentence }) => sentence));
      // Safe: a check that was not reported is run again at the next stop attempt.
      const ended = Promise.resolve(checks).catch(() => null);
      totals.checks = Promise.all([totals.checks, ended]).then(() => undefined);
    }

    for (let attempt = 1; ; attempt += 1) {
      const reading = readPlanFile(path, options.pinned, parsed);
      if (!reading.ok) return reading;
      parsed = reading;
      const { plan, text, hash } = reading;
      let state = await readState();
      let base = lastReading(hash, state);
      const hasNews = base?.hash !== hash || (direction === 'settle' && isLeftOutAgain(base.removed, state));
      if (direction !== 'push' && hasNews) {
        const { changes, notices: said, ...seen } = compareItems(plan.items, base, state.plan, options);
        notices.push(...plan.warnings, ...said);
        for (const change of changes) await send(change);
        known = { planId: state.planId, hash, ...seen };
        memory?.save([known]);
        state = await readState();
        base = lastReading(hash, state);
      }
      const { boxes, withoutLine } = wantedBoxes(reading, base, state.plan);
      const written = direction === 'pull' ? text : writeBoxes(text, plan, boxes);
      if (written === text) return { ok: true, plan, withoutLine, ...totals };
      // A change that was not pulled yet stays one: the next pull compares with the last reading.
      const pulled = base?.hash === hash ? base : null;
      const items = pulled?.items.map((item, index) => ({ ...item, checked: boxes[index] ?? item.checked }));
      const next = pulled && items && { ...pulled, hash: sha256(written), items };
      // The intent first: after a crash the file itself tells whether it was written.
      if (pulled && next) memory?.save([next, pulled]);
      const replaced = replacePlanText(path, text, written, options);
      const isLate = replaced === 'changed-meanwhile';
      if (replaced === 'replaced') {
        totals.boxes += plan.items.filter(({ checked }, index) => checked !== boxes[index]).length;
        known = next ?? known;
      } else if (!isLate) notices.push(`The file ${replaced.sentence}.`);
      if (next && known) memory?.save([known]);
      if (isLate && attempt < mostAttempts) continue;
      if (isLate) notices.push(givenUp);
      return { ok: true, plan, withoutLine, ...totals };
    }
  }

  const inTurn = (direction: Parameters<typeof run>[0]) => () => queue(() => run(direction));
  return {
    pull: inTurn('pull'),
    push: inTurn('push'),
    sync: inTurn('sync'),
    /** Like sync, before a stop: only then does a line that is still missing count as left out again (V4). */
    settle: inTurn('settle'),
  };
}

function isLeftOutAgain(removed: readonly string[], { plan }: State): boolean {
  const missing = new Set(removed);
  return plan.some((todo) => missing.has(todo.id) && isDropped(todo) && todo.droppedNamedAt !== null);
}
