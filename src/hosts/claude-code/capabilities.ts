// What Claude Code can show us and do for us. Facts of the pinned version; the conformance suite holds the adapter to them.
import type { HostCapabilities } from '../capabilities.ts';

export const claudeCodeCapabilities: HostCapabilities = {
  name: 'claude-code',
  title: 'Claude Code',
  mode: 'asked',
  seesBackground: ['subagents', 'shell jobs'],
  // No hook fires for an interrupt: it is inferred from a prompt that nobody wrote.
  seesAborts: 'with what the host does next',
  // It asks about a stop only when nothing waits for the human.
  seesQuestions: false,
  repeatsStops: false,
  blockCap: 8,
  canVetoCompletion: true,
  hasTodoTools: true,
  canHideText: true,
  recognisesOurMessages: 'by what was sent',
  delivery: 'at most once',
};
