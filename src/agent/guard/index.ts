// The in-turn guard for AI SDK streams that someone else runs (`untildone/guard`): a transform that holds a premature
// answer back until the decision, and the small parts beside it. `ai` is the user's own.
export type { GuardQuestions, StopAnswer, StopFacts } from './answer-stop.ts';
export { GuardMemory, type GuardMemoryState } from './guard-memory.ts';
export { type GuardTransformOptions, toTransform } from './guard-transform.ts';
export { defaultLoopLimits, LoopDetector } from './loop-detector.ts';
export { planningHint } from './planning-hint.ts';
