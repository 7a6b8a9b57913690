// `untildone/guard`: the in-turn guard for streams that someone else runs: any parts, or as a transform of the AI SDK.
export { planningHint } from './complexity.ts';
export {
  createGuard,
  type GuardTransformOptions,
  type StopAnswer,
  type StopFacts,
  toTransform,
} from './guard-transform.ts';
export { defaultLoopLimits, LoopDetector } from './loop-detector.ts';
export { sessionGuard } from './session-guard.ts';
