// The scripted model for everyone who tests an agent: start the server, write a script, point any client at it.
export type {
  Breakage,
  Delays,
  FailureKind,
  Finish,
  ModelFailure,
  ModelReply,
  PlannedCall,
  Usage,
} from './model-reply.ts';
export type {
  ModelMessage,
  ModelRequest,
  Protocol,
  ToolCall,
  ToolOffer,
  ToolResult,
} from './model-request.ts';
export {
  type BreakageOptions,
  contextOverflow,
  type FailureOptions,
  fail,
  malformed,
  overload,
  overloadMidStream,
  rateLimit,
  reset,
  stall,
} from './script/failure-steps.ts';
export {
  always,
  firstOf,
  inOrder,
  react,
  repeat,
  when,
  whenContinued,
  whenNamed,
  whenTold,
  whenToolFailed,
} from './script/flow-steps.ts';
export { type Script, type ScriptOptions, script } from './script/script.ts';
export type { Situation } from './script/situation.ts';
export {
  after,
  ask,
  cutOff,
  empty,
  filtered,
  refuse,
  say,
  slowly,
  thinkOnly,
  withText,
  withThinking,
  withUsage,
} from './script/speech-steps.ts';
export { type Move, oneReply, type Position, type Step } from './script/step.ts';
export {
  blockTodo,
  bulkClaim,
  cancel,
  complete,
  drop,
  duplicateWrite,
  listTodos,
  pause,
  plan,
  reword,
  rewriteList,
  start,
  type TodoReference,
  theNamed,
  theNext,
  toggle,
  verify,
} from './script/todo-steps.ts';
export { callTool, parallel, runCommand, writeFile } from './script/tool-steps.ts';
export { untilAllDone } from './script/until-all-done.ts';
export type { LoggedRequest } from './server/request-log.ts';
export {
  type ScriptedModel,
  type ScriptedModelOptions,
  startScriptedModel,
} from './server/start-scripted-model.ts';
export type { KnownTodo, KnownTodos, TodoStatus } from './todos/known-todos.ts';
export type { FamilyName, NewTodo } from './todos/todo-family.ts';
