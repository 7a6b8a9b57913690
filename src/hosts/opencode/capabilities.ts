// What OpenCode can show us and do for us. Facts of the pinned version; the conformance suite holds the adapter to them.
import type { HostCapabilities } from '../capabilities.ts';

export const opencodeCapabilities: HostCapabilities = {
  name: 'opencode',
  title: 'OpenCode',
  mode: 'told',
  // A shell command runs inside its tool call; the host has none that goes on after it.
  seesBackground: ['subagents'],
  seesAborts: 'at once',
  seesQuestions: true,
  // As an idle and as a status; and a turn that was aborted or failed idles twice.
  repeatsStops: true,
  blockCap: null,
  // Its list is written by one tool, whose answer can be extended but not refused.
  canVetoCompletion: false,
  hasTodoTools: true,
  canHideText: true,
  recognisesOurMessages: 'by metadata',
  delivery: 'exactly once',
};
