// `untildone/testing`, for tests of your own: a clock that moves when the test says so,
// and a host without a model that drives a real runtime.
export {
  createScriptedHost,
  type Happening,
  type ScriptedHost,
  type ScriptedHostOptions,
} from './scripted-host.ts';
export {
  createSequentialIdentifiers,
  createSimulatedClock,
  type SimulatedClock,
} from './simulated-clock.ts';
