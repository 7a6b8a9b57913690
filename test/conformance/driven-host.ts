// What the conformance suite asks of a host: a driver implements it with the host's own
// payloads and decides nothing.

import type { Outcome } from '../../src/core/decision.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { HostCapabilities } from '../../src/hosts/hosts.ts';

/**
 * One conversation in the host. Every method resolves when the host has told us all that
 * follows.
 */
export interface DrivenSession {
  says(text: string): Promise<void>;
  /** The model writes its plan with the host's own tool. */
  plans(...titles: string[]): Promise<void>;
  completes(title: string): Promise<void>;
  /** The model calls a tool that may write; no file changes. */
  works(): Promise<void>;
  /** The model ends its turn: the continuations that it receives, after any countdown. */
  stops(): Promise<string[]>;
  /** The host tells of one stop twice: the continuations that the model receives. */
  stopsTwice(): Promise<string[]>;
  /** The model ends its turn, and the human speaks before anything follows. */
  stopsAndIsSpokenTo(text: string): Promise<string[]>;
  /**
   * The human interrupts the working model: the continuations that it receives all the
   * same.
   */
  aborts(): Promise<string[]>;
  /** The host shows a text of ours again, in its own way. */
  shows(text: string): Promise<void>;
  asksHuman(): Promise<void>;
  /** The human answers: what the model receives thereupon. */
  humanAnswers(): Promise<string[]>;
  startsSubagent(): Promise<DrivenSession>;
  /**
   * The session is a subagent's, and is done: what the model of its parent receives
   * thereupon.
   */
  ends(): Promise<string[]>;
  /** `untildone pause` in another terminal. */
  pauses(): Promise<void>;
  resumes(): Promise<string[]>;
  /** How the turn ended, by the record; null: it has no outcome. */
  outcome(): Promise<Outcome | null>;
}

export interface DrivenHost {
  open(agent?: 'writes' | 'reads'): Promise<DrivenSession>;
  /** Values of every wrong shape go where the host's own values go. It must not throw. */
  sendGarbage(values: readonly unknown[]): Promise<void>;
  close(): Promise<void>;
}

export interface HostUnderTest {
  readonly capabilities: HostCapabilities;
  /** Its sessions work in a folder that can be looked at. */
  readonly hasWorkspace: boolean;
  /** A fresh host over a fresh store, with a clock that moves only when told to. */
  start(settings: Partial<Pick<Settings, 'enabled' | 'mode'>>): Promise<DrivenHost>;
}

/** What a promise is tested with; the host of a test ends with it. */
export interface ConformanceBench {
  readonly capabilities: HostCapabilities;
  readonly hasWorkspace: boolean;
  start(settings?: Parameters<HostUnderTest['start']>[0]): Promise<DrivenHost>;
  /** A session in which the human asked for something and the model planned and began. */
  planned(...titles: string[]): Promise<DrivenSession>;
}

/**
 * What a stop waited for has ended: a host that is told goes on by itself, one that is
 * asked when it asks again.
 * @param received what the model got without another stop
 */
export async function textsOnceFree(
  { capabilities }: ConformanceBench,
  session: DrivenSession,
  received: readonly string[],
): Promise<readonly string[]> {
  return capabilities.mode === 'told'
    ? received
    : [...received, ...(await session.stops())];
}

export async function begin(session: DrivenSession, ...titles: string[]): Promise<void> {
  await session.says('Please do all of it.');
  await session.plans(...titles);
  await session.works();
}
