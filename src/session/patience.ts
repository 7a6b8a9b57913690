// How long whoever runs an agent waits, where no host's timeout stands above it.

/** For the checks of one stop. */
export const checkPatienceMs = 600_000;
/** For what a rule waits for: a lost event must not hold an agent for ever. */
export const longestWaitMs = 60_000;
/** For a look at the workspace. A folder that takes longer has no fingerprint, and tool calls count instead. */
export const fingerprintMs = 5000;
