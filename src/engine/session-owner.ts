// Lets one process at a time run a session of our own (V5, P41). The lease holds the
// process's id and its start time: a suspended owner keeps its session, and a dead
// owner's session is free at once, even if its process id was given out again.
import { hostname } from 'node:os';
import { UntildoneError } from '../core/error.ts';
import type { Clock } from './host.ts';
import type { Store } from './store.ts';
import { askPs, isProcessAlive, processFields } from './system.ts';

/**
 * Time counts only between machines, which cannot see each other's processes: long enough
 * for a busy machine.
 */
const leaseMs = 60_000;

/** Counts the owners in this process: two that own at once have different names. */
let owners = 0;

/**
 * The session is ours. `store` throws `session-taken` instead of writing once another
 * process has taken the session.
 */
export type Owned = {
  readonly ok: true;
  readonly store: Store;
  release(): Promise<void>;
};
/** The session belongs to another process; `process` names it for people. */
export type OwnedElsewhere = { readonly ok: false; readonly process: string };

/** Takes the session, unless a living process has it. */
export async function ownSession(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  sessionId: string,
  owner = `${hostname()}/${process.pid}/${processStart(process.pid) ?? ''}/${++owners}`,
): Promise<Owned | OwnedElsewhere> {
  const name = leaseOf(sessionId);
  const takeLease = () => store.lease(name, owner, clock.now(), clock.now() + leaseMs);
  const giveLeaseBack = (whose: string) => store.lease(name, whose, clock.now(), null);
  const findHolder = async () => (await store.leaseHolder(name))?.holder ?? null;
  const last = await findHolder();
  if (last !== null && isOwnerAlive(last) === true)
    return { ok: false, process: processOf(last) };
  if (last !== null && isOwnerAlive(last) === false) await giveLeaseBack(last);
  const held = await takeLease();
  if (held !== null && held !== owner) return { ok: false, process: processOf(held) };
  /**
   * Reads before it renews: another process may have taken the session and given it back,
   * and the work went on without us.
   */
  const confirm = async () => {
    const holder = await findHolder();
    if (holder === owner) return;
    const taker =
      holder === null ? 'another process, which has ended' : processOf(holder);
    const sentence = `This session was taken over by ${taker}, so this run ends here and leaves it alone.`;
    throw new UntildoneError('session-taken', sentence);
  };
  let cancel = () => {};
  const renew = (): void => {
    // Safe: a busy store is asked again; and a process on this machine finds out by
    // looking at us, not at the lease.
    cancel = clock.wake(
      clock.now() + leaseMs / 3,
      () => void confirm().then(takeLease).then(renew, renew),
    );
  };
  renew();
  const ifOwned = async <Result>(write: () => Promise<Result>) => {
    await confirm();
    return write();
  };
  return {
    ok: true,
    store: {
      ...store,
      step: (id, apply) => ifOwned(() => store.step(id, apply)),
      append: (events) => ifOwned(() => store.append(events)),
      record: (additions) => ifOwned(() => store.record(additions)),
    },
    async release() {
      cancel();
      await giveLeaseBack(owner);
    },
  };
}

/**
 * The process that opened a session last is `alive`; `gone`: it ended without leaving the
 * session; `left`: no process has the session open. A process on another machine counts
 * as alive until its lease ends.
 */
export type SessionProcessState = 'alive' | 'gone' | 'left';

/** Tells what became of the process that opened the session last. */
export async function findProcessState(
  store: Store,
  sessionId: string,
  now: number,
): Promise<SessionProcessState> {
  const last = await store.leaseHolder(leaseOf(sessionId));
  if (last === null) return 'left';
  return (isOwnerAlive(last.holder) ?? last.until > now) ? 'alive' : 'gone';
}

/** The id of the living process of this machine that has the session open; null: none. */
export async function findOwnerProcess(
  store: Store,
  sessionId: string,
): Promise<number | null> {
  const last = await store.leaseHolder(leaseOf(sessionId));
  return last !== null && isOwnerAlive(last.holder)
    ? Number(last.holder.split('/')[1])
    : null;
}

const leaseOf = (sessionId: string) => `run ${sessionId}`;

/** Null: the process is on another machine, so only time can tell. */
function isOwnerAlive(owner: string): boolean | null {
  const [machine, pid, start] = owner.split('/');
  if (machine !== hostname()) return null;
  const now = processStart(Number(pid));
  return isProcessAlive(Number(pid)) && (start === '' || now === start);
}

function processOf(owner: string): string {
  const [machine, pid] = owner.split('/');
  return machine === hostname() ? `process ${pid}` : `process ${pid} on ${machine}`;
}

/**
 * When the process started, in the system's own notation. Null: there is no such process,
 * it is a zombie, or the system does not tell.
 */
function processStart(pid: number): string | null {
  if (process.platform === 'linux') {
    const [state, ...rest] = processFields(pid) ?? [];
    return state === 'Z' ? null : (rest[18] ?? null);
  }
  if (process.platform === 'win32') return null;
  return askPs(pid, '-o', 'lstart=')?.replaceAll('/', '.') || null;
}
