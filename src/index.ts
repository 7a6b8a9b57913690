// The library: holds an agent of the caller's until its work is verifiably done. What is
// not exported here is internal.

export { decide } from './core/decide.ts';
export { type Decision, exitCodes, type Outcome } from './core/decision.ts';
export { type ErrorCode, UntildoneError } from './core/error.ts';
export { type Event, parseEvent } from './core/events.ts';
export type { Policy } from './core/policy.ts';
export { type Reason, stopRules } from './core/rules.ts';
export { defaultSettings, type PartialSettings, type Settings } from './core/settings.ts';
export { createState, type State } from './core/state.ts';
export { continuationMarker } from './core/texts.ts';
export type { Todo } from './core/todo.ts';
export type { Checker, Clock } from './engine/host.ts';
export type { Store } from './engine/store.ts';
export {
  type Explanation,
  openSession,
  type Session,
  type SessionOptions,
  type SessionTool,
  type StopAnswer,
  type StopAttempt,
  type ToldEvent,
} from './session/session.ts';
export { openSqliteStore } from './store/sqlite/sqlite-store.ts';
