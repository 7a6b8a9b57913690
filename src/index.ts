// The library: plans that last, a decision for every stop attempt, and the record of why. All else is internal.
export { type ConfigResult, validateConfig } from './core/config.ts';
export { decide } from './core/decide.ts';
export {
  type Answer,
  type AnswerCommand,
  type Command,
  type Decision,
  exitCodes,
  type Outcome,
  outcomes,
  type PlanReply,
  type Refusal,
  type Step,
} from './core/decision.ts';
export { type ErrorCode, UntildoneError } from './core/error.ts';
export type { AgentDescriptor, Event, EventType, ParsedEvent, SessionDescriptor } from './core/events.ts';
export { parseEvent } from './core/events.ts';
export { type HashFunction, type LedgerEntry, type LedgerReport, verifyLedger } from './core/ledger.ts';
export type { Policy } from './core/policy.ts';
export { type Reason, type StopContext, stopRules } from './core/rules.ts';
export { defaultSettings, type PartialSettings, type Settings } from './core/settings.ts';
export { countPlan, createState, type PlanCounts, type Session, type State } from './core/state.ts';
export { continuationMarker } from './core/texts.ts';
export type { Actor, Priority, Todo, TodoStatus, Verification } from './core/todo.ts';
export type { Handled } from './engine/engine.ts';
export type { Checker, Clock, Identifiers, OutgoingText, ToldHost } from './engine/host.ts';
export { readPolicy } from './engine/policy.ts';
export { createRuntime, type Runtime, type RuntimeOptions } from './engine/runtime.ts';
export type { Store } from './engine/store.ts';
export { createIdentifiers, sha256, systemClock } from './engine/system.ts';
export { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts';
export { stateDirectory } from './store/state-directory.ts';
