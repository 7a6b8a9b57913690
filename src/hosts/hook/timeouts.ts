// How long a hook may take, once for both sides: `init` writes these into the host's settings, and the hook itself
// ends before them. A hook that is cut off by its host has answered nothing.

/** In seconds, as hosts count them. */
export const hookTimeouts = {
  /** Long enough for most test suites; the host's own default of ten minutes cuts at 600. */
  stop: 900,
  /** A completion is refused while the agent waits for it; what takes longer is gated at the stop instead. */
  completion: 120,
  /** Only writes a row. */
  other: 10,
} as const;

export type HookTimeout = keyof typeof hookTimeouts;

/** The answer has to be out before the host gives up: reading, deciding and starting a process took time as well. */
const marginMs = 2000;

/**
 * The moment at which a hook that began at `startedAt` must answer with what it knows.
 * @param seconds what the host's settings say instead of ours; null: ours
 */
export function deadlineOf(timeout: HookTimeout, startedAt: number, seconds: number | null = null): number {
  return startedAt + (seconds ?? hookTimeouts[timeout]) * 1000 - marginMs;
}

/** Another process that holds the store this long is broken; an agent must not wait for it at every tool call. */
export const lockPatienceMs: Readonly<Record<HookTimeout, number>> = {
  stop: 20_000,
  completion: 10_000,
  other: 3000,
};
