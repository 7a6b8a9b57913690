// What the parts of an enforcer share once its store is open, and the two names of a session: the program's own, and
// ours, which carries the program's name so that two programs can share a store.
import type { Event } from '../../core/events.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Store } from '../../engine/store.ts';
import type { HostList } from '../told/host-list.ts';
import type { EnforcerOptions } from './enforcer-options.ts';
import type { Program } from './program.ts';
import type { SessionMemories } from './session-memory.ts';

export interface EnforcerContext {
  readonly options: EnforcerOptions;
  readonly name: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly program: Program;
  readonly memories: SessionMemories;
  readonly hostList: HostList;
  /** Which name this process got among its copies; known once it is attached. */
  readonly instance: () => string;
  /** Events of this session wait behind the one that is being dealt with. */
  readonly hasLater: (sessionId: string) => boolean;
  /** Something that forbids sending was received and is not written down yet. */
  readonly isHeld: (sessionId: string) => boolean;
  /** Settles when the event is written down; what it leads to is performed afterwards. */
  readonly handle: (event: Event) => Promise<void>;
  /** What went wrong, for whoever wrote the program. */
  readonly onError: (error: unknown) => void;
}

export function storedId({ name }: Pick<EnforcerContext, 'name'>, sessionId: string): string {
  return `${name}:${sessionId}`;
}

export function programId({ name }: Pick<EnforcerContext, 'name'>, stored: string): string {
  return stored.slice(name.length + 1);
}

type WithoutBase<E> = E extends Event ? Omit<E, 'id' | 'sessionId' | 'at'> : never;

/** Something happened now in the session with this id of the program. */
export function tell(
  context: EnforcerContext,
  sessionId: string,
  happening: WithoutBase<Event>,
  id = context.identifiers.next(),
): Promise<void> {
  const base = { id, sessionId: storedId(context, sessionId), at: context.clock.now() };
  return context.handle({ ...happening, ...base } as Event);
}
