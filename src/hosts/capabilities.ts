// What a host can show us and do for us, as its adapter declares it: one object per host, nothing derived. The table in
// docs/hosts is written from these, and the conformance suite reads from them what it may ask of a host.
import type { HostMode } from '../core/events.ts';

export interface HostCapabilities {
  /** As people write it: `untildone init NAME`. */
  readonly name: string;
  readonly title: string;
  /** Asked: it waits for our answer at a stop. Told: it says that it is idle, and we send a text. */
  readonly mode: HostMode;
  /** Background work that it tells us of: a stop waits for what is seen and for nothing else (P18). */
  readonly seesBackground: readonly ('subagents' | 'shell jobs')[];
  /** When a human's interrupt is known (P19). */
  readonly seesAborts: 'at once' | 'with what the host does next';
  /** Does it tell of permissions and questions that wait for the human? Else it must not stop while one does (P9). */
  readonly seesQuestions: boolean;
  /** May it tell of the same stop more than once (P24)? */
  readonly repeatsStops: boolean;
  /** After so many continuations in a row it ends the turn itself, without us; null: never. */
  readonly blockCap: number | null;
  /** Can a completion be refused before the host's own list shows it (V1)? */
  readonly canVetoCompletion: boolean;
  /** Does the model have todo tools of the host's own? */
  readonly hasTodoTools: boolean;
  /** Can a continuation reach the model without standing in the human's conversation as if they had written it? */
  readonly canHideText: boolean;
  /** How our own text is known when the host shows it again; it is never taken for the human's (G6). */
  readonly recognisesOurMessages: 'by metadata' | 'by what was sent';
  /** What becomes of a continuation when the host dies in between (V5). */
  readonly delivery: 'exactly once' | 'at most once';
}
