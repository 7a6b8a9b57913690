// Workers, permissions that are asked for, and words that join a turn (S4, S6, S7, T3).
import type { Mutation } from './mutation.ts';

const delegation = 'src/core/apply/apply-delegation.ts';
const permissions = 'src/core/apply/apply-permissions.ts';
const human = 'src/core/apply/apply-human.ts';

export const agentMutations: readonly Mutation[] = [
  {
    id: 'delegate-while-busy',
    file: delegation,
    find: 'if (delegation?.ended === null) {',
    replace: 'if (false) {',
    why: 'two workers change the same files at once',
  },
  {
    id: 'delegate-settled-todo',
    file: delegation,
    find: 'if (isOpen(row)) return true;',
    replace: 'return true;',
    why: 'finished work is done again',
  },
  {
    id: 'delegation-not-recorded',
    file: delegation,
    find: '      delegation: { workerId, todoId: row.id, agentType, callId, startedAt: at, ended: null },\n',
    replace: '',
    why: 'a worker that a crash cut off is never settled',
  },
  {
    id: 'delegation-ends-twice',
    file: delegation,
    find: 'if (delegation?.workerId !== workerId || delegation.ended !== null) return step(session);',
    replace: 'if (delegation?.workerId !== workerId) return step(session);',
    why: 'one failure is counted twice and blocks the todo',
  },
  {
    id: 'worker-failure-free',
    file: delegation,
    find: 'const workerFailures = (row.workerFailures ?? 0) + 1;',
    replace: 'const workerFailures = row.workerFailures ?? 0;',
    why: 'a worker that always fails is tried for ever',
  },
  {
    id: 'worker-never-blocked',
    file: delegation,
    find: "if (workerFailures < mostFailures || mode !== 'enforce') return;",
    replace: 'return;',
    why: 'the others never get their turn',
  },
  {
    id: 'worker-blocked-in-observe',
    file: delegation,
    find: "if (workerFailures < mostFailures || mode !== 'enforce') return;",
    replace: 'if (workerFailures < mostFailures) return;',
    why: 'observing changes the plan',
  },
  {
    id: 'worker-interrupt-counts',
    file: delegation,
    find: "return result !== 'done' && result !== 'interrupted';",
    replace: "return result !== 'done';",
    why: "the human's Ctrl-C counts against the worker",
  },
  {
    id: 'permission-second-answer',
    file: permissions,
    find: '  if (request.answer !== null) return session;\n',
    replace: '',
    why: 'a late answer turns a no into a yes',
  },
  {
    id: 'permission-once-lasts',
    file: permissions,
    find: "const lasting = granted && (answer === 'session' || answer === 'always');",
    replace: 'const lasting = granted;',
    why: 'allowed once is allowed for good',
  },
  {
    id: 'permission-no-lasts-as-yes',
    file: permissions,
    find: "const lasting = granted && (answer === 'session' || answer === 'always');",
    replace: "const lasting = answer === 'session' || answer === 'always' || !granted;",
    why: 'a no is remembered as a yes',
  },
  {
    id: 'permission-asked-again',
    file: permissions,
    find: 'refused: granted ? permissions.refused : [...permissions.refused, { tool, pattern }].slice(-remembered),',
    replace: 'refused: permissions.refused,',
    why: 'the human is asked the same question again and again',
  },
  {
    id: 'permission-used-twice',
    file: permissions,
    find: 'const requests = permissions.requests.filter((known) => known.requestId !== requestId);',
    replace: 'const { requests } = permissions;',
    why: 'an answer for once is used twice',
  },
  {
    id: 'permission-refusal-for-ever',
    file: permissions,
    find: 'return { ...session, permissions: { ...session.permissions, refused: [] } };',
    replace: 'return session;',
    why: 'a human who changed their mind is not asked',
  },
  {
    id: 'permission-old-question-stays',
    file: permissions,
    find: 'const requests = session.permissions.requests.filter(({ answer }) => answer !== null);',
    replace: 'const { requests } = session.permissions;',
    why: 'a question of an earlier turn is shown for ever',
  },
  {
    id: 'own-rejection-pauses',
    file: 'src/core/apply/apply-waits.ts',
    find: '  if (event.remembered !== undefined) return step(answered);\n',
    replace: '',
    why: 'one no ends the whole run',
  },
  {
    id: 'words-not-queued',
    file: human,
    find: 'if (queued !== true || text === null || messageId === null) return session;',
    replace: 'return session;',
    why: 'what the human typed is lost',
  },
  {
    id: 'words-join-twice',
    file: human,
    find: 'const words = session.words?.filter((known) => known.messageId !== messageId) ?? [];',
    replace: 'const words = session.words ?? [];',
    why: 'the same words are said twice',
  },
  {
    id: 'stop-word-queued',
    file: human,
    find: '...(stops ? placed : queueWords(forgetRefusals(placed), event)),',
    replace: '...queueWords(forgetRefusals(placed), event),',
    why: '"stop" starts another step',
  },
];
