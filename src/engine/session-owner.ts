// One process at a time runs a session of our own (V5, P41). The lease names the process
// and when it began, so that a suspended owner keeps its session, and a dead one's is
// taken at once, also where its number was given out again.
import { hostname } from 'node:os';
import { UntildoneError } from '../core/error.ts';
import type { Clock } from './host.ts';
import type { Store } from './store.ts';
import { askPs, isProcessAlive, processFields } from './system.ts';

/**
 * Only machines that cannot look at each other's processes go by time: long enough for a
 * busy machine.
 */
const leaseMs = 60_000;

/** In this process: two that ask at once are two. */
let owners = 0;

/**
 * Through `store` nothing is written any more once another process has taken the session.
 */
export type Owned = {
  readonly ok: true;
  readonly store: Store;
  release(): Promise<void>;
};
export type OwnedElsewhere = { readonly ok: false; readonly process: string };

export async function ownSession(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  sessionId: string,
  owner = `${hostname()}/${process.pid}/${processStart(process.pid) ?? ''}/${++owners}`,
): Promise<Owned | OwnedElsewhere> {
  const name = leaseOf(sessionId);
  const take = () => store.lease(name, owner, clock.now(), clock.now() + leaseMs);
  const giveBack = (whose: string) => store.lease(name, whose, clock.now(), null);
  const findHolder = async () => (await store.leaseHolder(name))?.holder ?? null;
  const last = await findHolder();
  if (last !== null && isOwnerAlive(last) === true)
    return { ok: false, process: processOf(last) };
  if (last !== null && isOwnerAlive(last) === false) await giveBack(last);
  const held = await take();
  if (held !== null && held !== owner) return { ok: false, process: processOf(held) };
  /**
   * Looks before it takes: whoever had it meanwhile may have given it back, and the work
   * went on without us.
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
    // Safe: a busy store is asked again, and on this machine the process itself is looked
    // at.
    cancel = clock.wake(
      clock.now() + leaseMs / 3,
      () => void confirm().then(take).then(renew, renew),
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
      await giveBack(owner);
    },
  };
}

/**
 * The process that opened a session last is alive, is gone without having left the
 * session, or has left it: then no process has the session open. A process on another
 * machine counts as alive until its lease ends.
 */
export type SessionProcessState = 'alive' | 'gone' | 'left';

export async function findProcessState(
  store: Store,
  sessionId: string,
  now: number,
): Promise<SessionProcessState> {
  const last = await store.leaseHolder(leaseOf(sessionId));
  if (last === null) return 'left';
  return (isOwnerAlive(last.holder) ?? last.until > now) ? 'alive' : 'gone';
}

/**
 * The number of the living process of this machine that has a session open; null: there
 * is none.
 */
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

/** null: it lives on another machine, and only time tells. */
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
 * In the system's own count; null: there is no such process, it is a zombie, or the
 * system does not tell.
 */
function processStart(pid: number): string | null {
  if (process.platform === 'linux') {
    const [state, ...rest] = processFields(pid) ?? [];
    return state === 'Z' ? null : (rest[18] ?? null);
  }
  if (process.platform === 'win32') return null;
  return askPs(pid, '-o', 'lstart=')?.replaceAll('/', '.') || null;
}
