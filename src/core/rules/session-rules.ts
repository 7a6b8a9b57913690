// Rules about whose session this is: switched off, not ours, or an agent that must never be continued (G2, G4).
import { type Rule, skip } from './rule.ts';

export const disabled: Rule = {
  name: 'disabled',
  asks: 'Is untildone switched off for this agent?',
  inputs: ({ settings, session }) => ({
    mode: settings.mode,
    enabled: settings.enabled,
    agent: session.agent.name,
  }),
  answer: ({ settings }) =>
    settings.mode === 'off' || !settings.enabled ? skip('untildone is switched off for this agent.') : null,
};

export const notOurSession: Rule = {
  name: 'not-our-session',
  asks: 'Is this neither a main session nor a subagent?',
  inputs: ({ session }) => ({ kind: session.descriptor.kind }),
  answer: ({ session }) =>
    session.descriptor.kind === 'other' ? skip('This is neither a main session nor a subagent.') : null,
};

export const subagent: Rule = {
  name: 'subagent',
  asks: 'Is this a subagent, while subagents are left alone?',
  inputs: ({ session, settings }) => ({ kind: session.descriptor.kind, subagents: settings.subagents }),
  answer: ({ session, settings }) =>
    session.descriptor.kind === 'subagent' && settings.subagents === 'off'
      ? skip("A subagent is not held against its parent's plan.")
      : null,
};

export const skippedAgent: Rule = {
  name: 'skipped-agent',
  asks: 'Is the agent on the skip list?',
  inputs: ({ session }) => ({ agent: session.agent.name }),
  answer: ({ session, settings }) => {
    const name = session.agent.name?.toLowerCase() ?? null;
    return name !== null && settings.skipAgents.some((skipped) => skipped.toLowerCase() === name)
      ? skip(`The agent "${name}" is on the skip list.`)
      : null;
  },
};

export const readOnlyAgent: Rule = {
  name: 'read-only-agent',
  asks: 'Is the agent read-only, or is that unknown?',
  inputs: ({ session }) => ({
    canWrite: session.agent.canWrite,
    everyAgentWrites: session.descriptor.everyAgentWrites,
  }),
  answer: ({ session }) => {
    if (session.agent.canWrite === 'no') return skip('The agent is read-only and is never continued.');
    const unknown = session.agent.canWrite === 'unknown' && !session.descriptor.everyAgentWrites;
    return unknown ? skip('Whether the agent may write is unknown, so it counts as read-only.') : null;
  },
};

export const deleted: Rule = {
  name: 'deleted',
  asks: 'Was the session deleted?',
  inputs: ({ session }) => ({ deleted: session.deleted }),
  answer: ({ session }) => (session.deleted ? skip('The session was deleted.') : null),
};
