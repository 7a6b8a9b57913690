// `untildone/guard`: the guard within a turn for streams that the caller runs: over any
// parts, or as a transform of the AI SDK.
export {
  createGuard,
  type GuardTransformOptions,
  type StopAnswer,
  type StopFacts,
  toTransform,
} from './guard-transform.ts';
export { sessionGuard } from './session-guard.ts';
