// The scripted model for everyone who tests an agent: start the server, write a script, point any client at it.

export type { Protocol } from './model.ts';
export { type Script, type ScriptOptions, script } from './script.ts';
export type { LoggedRequest, ScriptedModel, ScriptedModelOptions } from './server.ts';
export { startScriptedModel } from './server.ts';
export type { Situation, Step } from './steps.ts';
// The model speaks without a tool.
// It works with todos, honestly or as models do, and calls other tools.
// It does a step differently, fails, or breaks in the middle of its stream.
// Steps are put together.
export {
  after,
  always,
  ask,
  blockTodo,
  bulkClaim,
  callTool,
  cancel,
  complete,
  contextOverflow,
  cutOff,
  drop,
  duplicateWrite,
  empty,
  fail,
  filtered,
  firstOf,
  inOrder,
  listTodos,
  malformed,
  overload,
  overloadMidStream,
  parallel,
  pause,
  plan,
  rateLimit,
  react,
  refuse,
  repeat,
  reset,
  reword,
  rewriteList,
  runCommand,
  say,
  slowly,
  stall,
  start,
  theNamed,
  theNext,
  thinkOnly,
  toggle,
  untilAllDone,
  verify,
  when,
  whenContinued,
  whenNamed,
  whenTold,
  whenToolFailed,
  withText,
  withThinking,
  withUsage,
  writeFile,
} from './steps.ts';
export type { FamilyName, KnownTodo } from './todo-families.ts';
