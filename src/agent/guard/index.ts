// `untildone/guard`: the in-turn guard for AI SDK streams that someone else runs. `ai` is the user's own.
export { planningHint } from './complexity.ts';
export {
  type GuardTransformOptions,
  type StopAnswer,
  type StopFacts,
  toTransform,
} from './guard-transform.ts';
export { defaultLoopLimits, LoopDetector } from './loop-detector.ts';
