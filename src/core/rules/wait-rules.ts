// Rules that wait for something that ends by itself or by a human: recovery, compaction, permissions, questions,
// background work (G3, P9, P18).
import { oneLine } from '../safe-text.ts';
import { openCount } from '../session.ts';
import { visibleLine } from '../visible-text.ts';
import { letGo, type Rule, type StopContext, wait } from './rule.ts';

export const recovering: Rule = {
  name: 'recovering',
  asks: 'Is the session recovering from an error?',
  inputs: ({ session }) => ({ recovering: session.waits.recovering }),
  answer: ({ session }) => (session.waits.recovering ? wait('The session is recovering.') : null),
};

export const compacting: Rule = {
  name: 'compacting',
  asks: 'Is the context being compacted?',
  inputs: ({ session }) => ({ compacting: session.waits.compacting }),
  answer: ({ session }) => (session.waits.compacting ? wait('The context is being compacted.') : null),
};

export const permissionPending: Rule = {
  name: 'permission-pending',
  asks: 'Is a permission request unanswered?',
  inputs: ({ session }) => ({
    pending: session.waits.permissions.length,
    headless: session.descriptor.headless,
    asked: askedFor(session),
  }),
  answer: ({ session }) => {
    if (session.waits.permissions.length === 0) return null;
    const asked = askedFor(session);
    const what = asked === null ? '' : ` (${asked}; \`untildone approve\` answers it)`;
    return session.descriptor.headless
      ? letGo('paused', `A permission request is unanswered and nobody is at a terminal${what}.`)
      : wait(`A permission request waits for the human${what}.`);
  },
};

/** What our own agent asks to be allowed first; null: a host asks, and shows it itself. */
function askedFor({ permissions }: StopContext['session']): string | null {
  const asked = permissions?.requests.find(({ answer }) => answer === null);
  return asked === undefined ? null : oneLine(visibleLine(`${asked.tool}: ${asked.subject}`), 160);
}

export const questionPending: Rule = {
  name: 'question-pending',
  asks: 'Is a question to the human unanswered?',
  inputs: ({ session }) => ({
    pending: session.waits.questions.length,
    headless: session.descriptor.headless,
  }),
  answer: ({ session }) => {
    if (session.waits.questions.length === 0) return null;
    return session.descriptor.headless
      ? letGo('paused', 'A question is unanswered and nobody is at a terminal.')
      : wait('A question waits for the human.');
  },
};

/**
 * A subagent is waited for. A shell job is named once while there is other work to do, and waited for otherwise;
 * in any case not for ever, because a development server never ends.
 */
export const background: Rule = {
  name: 'background',
  asks: 'Does background work run that is worth waiting for?',
  inputs: ({ session }) => ({
    jobs: session.jobs.length,
    subagents: session.jobs.filter(({ kind }) => kind === 'subagent').length,
    since: session.backgroundSince,
  }),
  answer: (context) => {
    const { session, settings, stop, at } = context;
    // An agent whose calls were cut is at work, and a server that runs beside it is no reason to wait.
    if (session.jobs.length === 0 || stop.end === 'iteration-budget') return null;
    const until = (session.backgroundSince ?? at) + settings.backgroundWaitMinutes * 60_000;
    if (at >= until) return null;
    const subagents = session.jobs.some(({ kind }) => kind === 'subagent');
    if (!subagents && (openCount(session.counts) > 0 ? hasUnnamedJob(context) : false)) return null;
    return wait(`Background work is running (${session.jobs.length}).`, until);
  },
};

export function hasUnnamedJob({ session }: StopContext): boolean {
  return session.jobs.some(({ id }) => !session.namedJobs.includes(id));
}
