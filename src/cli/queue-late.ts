// The runner of checks, kept apart from the hook that starts it: the checks themselves bring Node's network along,
// which no call of a host needs.
export { runQueueProcess } from './queue-process.ts';
