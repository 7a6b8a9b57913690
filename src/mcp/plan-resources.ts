// What a client can read without calling a tool: the plan as Markdown and as JSON, and the outcome; and the watch that
// tells subscribers when one of them changed, also when another process changed it (a hook settles the outcome).
// It only reads, and it shows the session that the server works in at that moment.
import { oneLine } from '../core/safe-text.ts';
import { countPlan, openCount, planSize, type State } from '../core/state.ts';
import type { Clock } from '../engine/host.ts';
import { formatPlan } from '../plan-file/format-plan.ts';
import { remaining, shownNote, summarise, viewTodo } from '../tools/todo-view.ts';

/** What each one reads as now; null: no call was made yet. */
export const planResources = [
  {
    name: 'plan',
    uri: 'untildone://plan',
    title: 'The plan',
    description: 'The todos of this session as a Markdown task list. Cancelled todos are left out.',
    mimeType: 'text/markdown',
    read: (state: State | null) =>
      `# Plan\n\n${progressLine(state)}\n\n${formatPlan(state?.plan ?? [])}`.trimEnd(),
  },
  {
    name: 'plan-json',
    uri: 'untildone://plan.json',
    title: 'The plan as JSON',
    description: 'Every todo of this session with all its fields, and how many are in which state.',
    mimeType: 'application/json',
    read: (state: State | null) =>
      json(state, { todos: state?.plan.map((todo) => viewTodo(todo, state)) ?? [] }),
  },
  {
    name: 'outcome',
    uri: 'untildone://outcome',
    title: 'The outcome',
    description:
      'How the turn settled (done, claimed, blocked, stagnant, exhausted, paused, aborted, failed); null while it has not.',
    mimeType: 'application/json',
    read: (state: State | null) =>
      json(state, {
        outcome: state?.settled?.outcome ?? null,
        reason: state?.settled?.reason ?? null,
        settledAt: state?.settled?.at ?? null,
        paused: state?.pause ? { by: state.pause.by, reason: shownNote(state.pause.reason) } : null,
        remaining: remaining(state),
      }),
  },
];

function json(state: State | null, fields: object): string {
  const host = state === null ? null : oneLine(state.descriptor.host, 60);
  const summary = summarise(state?.plan ?? []);
  return JSON.stringify({ session: state?.id ?? null, host, summary, ...fields }, null, 2);
}

function progressLine(state: State | null): string {
  const counts = countPlan(state?.plan ?? []);
  if (planSize(counts) === 0) return 'There are no todos yet.';
  const stuck = counts.blocked === 0 ? '' : `, ${counts.blocked} blocked`;
  return `${counts.completed} of ${planSize(counts)} completed, ${openCount(counts)} open${stuck}.`;
}

/** A human who watches a plan does not notice two seconds; a read of two rows costs nothing in that time. */
const lookEveryMs = 2000;

/** Tells which resources changed: after a call of ours at once, else within two seconds, once somebody read one. */
export function createResourceWatch(
  clock: Clock,
  stateNow: () => Promise<State | null>,
  tell: (uri: string) => Promise<void>,
) {
  let known: ReadonlyMap<string, string> | null = null;
  let cancel: (() => void) | null = null;
  let queue: Promise<void> = Promise.resolve();
  let ended = false;

  async function versions(): Promise<ReadonlyMap<string, string>> {
    const state = await stateNow();
    return new Map(planResources.map(({ uri, read }) => [uri, read(state)]));
  }

  function arm(): void {
    if (ended) return;
    // Safe: a look that failed is made again at the next one.
    cancel = clock.wake(clock.now() + lookEveryMs, () => void look().then(arm, arm));
  }

  /** One after the other: two calls at once must not tell of the same change twice. */
  function look(): Promise<void> {
    const looked = queue.then(async () => {
      if (ended) return;
      const before = known;
      const now = before && (await versions());
      known = now;
      for (const { uri } of planResources)
        if (now === null || before?.get(uri) !== now.get(uri)) await tell(uri);
    });
    // Safe: whoever asked gets the failure; the next look begins anew.
    queue = looked.catch(() => {});
    return looked;
  }

  return {
    /** Somebody reads or subscribes: from now on changes are looked for. */
    async begin(): Promise<void> {
      if (known !== null) return;
      const now = await versions();
      // Of two who begin at once the first one counts.
      known ??= now;
      if (cancel === null) arm();
    },
    /** After a call of ours. */
    look,
    end(): void {
      ended = true;
      cancel?.();
    },
  };
}
