// `untildone/guard`: the in-turn guard for streams that someone else runs: any parts, or
// as a transform of the AI SDK.
export {
  createGuard,
  type GuardTransformOptions,
  type StopAnswer,
  type StopFacts,
  toTransform,
} from './guard-transform.ts';
export { sessionGuard } from './session-guard.ts';
