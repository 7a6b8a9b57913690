// The idle enforcer as a part for other programs: untildone/enforcer.
// Explicit names only; what is not listed here is internal.
export type { Toast } from '../told/told-runtime.ts';
export { createEnforcer, type Enforcer } from './create-enforcer.ts';
export { type EnforcerEvent, type EnforcerEventName, enforcerEvents } from './enforcer-event.ts';
export type {
  EnforcerAgent,
  EnforcerMessage,
  EnforcerOptions,
  EnforcerTodo,
  InjectOptions,
} from './enforcer-options.ts';
