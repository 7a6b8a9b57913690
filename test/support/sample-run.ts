// A made-up run with every type of event, for the tests of what a run prints. Its clock
// is local time, so that what is printed does not depend on the time zone.
import type { AgentEvent, TodoView, UsageView } from '../../src/agent/agent-event.ts';

const workerId = '0198c7f0';
const startedAt = new Date(2026, 2, 4, 14, 3, 0).getTime();

export function todoView(
  id: string,
  title: string,
  changes: Partial<TodoView> = {},
): TodoView {
  return {
    id,
    title,
    status: 'pending',
    priority: 'medium',
    verification: 'none',
    dropped: false,
    outcome: null,
    reason: null,
    ...changes,
  };
}

export const totalUsage: UsageView = {
  inputTokens: 48_210,
  cachedTokens: 31_000,
  outputTokens: 2_310,
  cost: 0.2184,
};

const read = todoView('a', 'Read the old tests');
const convert = todoView(
  'b',
  'Convert the twelve suites in test/unit to vitest, one commit each',
);
const suite = todoView('c', 'Run the whole suite');
const publish = todoView('d', 'Publish the coverage report');
const ended = [
  { ...read, status: 'completed', verification: 'passed' },
  {
    ...convert,
    status: 'completed',
    verification: 'claimed',
    outcome: 'All twelve are converted.',
  },
  { ...suite, status: 'cancelled', reason: 'It runs in the other pipeline.' },
  { ...publish, status: 'blocked', reason: 'A token for the report server is missing.' },
] as const satisfies readonly TodoView[];

type Bare<Event> = Event extends AgentEvent ? Omit<Event, 'at' | 'sessionId'> : never;

/** `seconds` after the start of the run. */
export function event(seconds: number, fields: Bare<AgentEvent>): AgentEvent {
  return { at: startedAt + seconds * 1000, sessionId: '0198c7e4', ...fields };
}

export const sampleRun: readonly AgentEvent[] = [
  event(0, {
    type: 'run-started',
    goal: 'migrate the tests to vitest',
    model: 'anthropic/claude-sonnet',
    directory: '/home/ada/app',
    resumed: false,
    permissions: 'allow-list',
  }),
  event(0, {
    type: 'baseline',
    check: 'npm test',
    result: 'failed',
    sentence: 'It exited with 1.',
  }),
  event(0, { type: 'step-started', step: 1 }),
  event(2, { type: 'text', text: "I'll look at the te" }),
  event(2, {
    type: 'text',
    text: 'sts first, then convert them suite by suite.\n\n- one commit',
  }),
  event(3, {
    type: 'notice',
    sentence: 'The request looks like several steps: a plan was asked for.',
  }),
  event(3, { type: 'text', text: ' each\n' }),
  event(4, {
    type: 'tool-started',
    callId: '1',
    tool: 'todo_write',
    input: { todos: [read, convert, suite, publish] },
  }),
  event(4, {
    type: 'plan-changed',
    todos: [{ ...read, status: 'in_progress' }, convert, suite, publish],
    completed: 0,
    total: 4,
  }),
  event(4, {
    type: 'tool-ended',
    callId: '1',
    tool: 'todo_write',
    ok: true,
    output: '{}',
    milliseconds: 12,
  }),
  event(5, {
    type: 'tool-started',
    callId: '2',
    tool: 'shell',
    input: { command: 'npm test -- --run' },
  }),
  event(7, {
    type: 'tool-ended',
    callId: '2',
    tool: 'shell',
    ok: false,
    output: '\nExit status 1: 3 of 12 suites could not be loaded.\n  at …',
    milliseconds: 2140,
  }),
  event(7, {
    type: 'tool-started',
    callId: '4',
    tool: 'edit_file',
    input: { path: 'test/parse.test.ts' },
  }),
  event(7, {
    ...({
      type: 'file-changed',
      callId: '4',
      tool: 'edit_file',
      path: 'test/parse.test.ts',
      isNew: false,
    } as const),
    added: 12,
    removed: 3,
    diff: '@@ -1,2 +1,2 @@\n-import assert\n+import { expect }\n',
  }),
  event(7, {
    type: 'tool-ended',
    callId: '4',
    tool: 'edit_file',
    ok: true,
    output: 'Edited.',
    milliseconds: 6,
  }),
  event(8, {
    type: 'plan-changed',
    todos: [
      { ...read, status: 'completed', verification: 'passed' },
      { ...convert, status: 'in_progress' },
      suite,
      publish,
    ],
    completed: 1,
    total: 4,
  }),
  event(9, {
    type: 'error',
    kind: 'rate-limit',
    sentence: 'The provider limits the rate.',
    retryAt: startedAt + 54_000,
  }),
  event(9, {
    type: 'waiting',
    reason: 'rate-limited',
    sentence: 'The provider limits requests or is overloaded; waiting until that ends.',
    until: startedAt + 54_000,
  }),
  event(9, {
    type: 'worker-started',
    workerId: workerId,
    agentType: 'tester',
    todoId: 'b',
    title: 'Convert the twelve suites in test/unit to vitest, one commit each',
  }),
  ...[
    event(10, { type: 'step-started', step: 1 }),
    event(11, { type: 'text', text: 'I run them all ' }),
    event(11, { type: 'text', text: 'first.' }),
    event(12, {
      type: 'tool-started',
      callId: '3',
      tool: 'shell',
      input: { command: 'npx vitest run' },
    }),
    event(30, {
      type: 'tool-ended',
      callId: '3',
      tool: 'shell',
      ok: true,
      output: 'Exit code 0.',
      milliseconds: 18_000,
    }),
    event(31, { type: 'text', text: 'All twelve pass.' }),
  ].map((inside) => ({ ...inside, sessionId: workerId })),
  event(32, {
    type: 'worker-ended',
    workerId: workerId,
    agentType: 'tester',
    todoId: 'b',
    result: 'done',
    sentence: 'It sent its report.',
    milliseconds: 23_000,
  }),
  event(33, {
    type: 'permission-asked',
    requestId: 'r1',
    tool: 'shell',
    subject: 'npm publish --dry-run',
    pattern: '= npm publish --dry-run',
    choices: ['once', 'session', 'always', 'no'],
  }),
  event(40, {
    type: 'permission-answered',
    requestId: 'r1',
    granted: true,
    remembered: 'session',
    by: 'terminal',
  }),
  event(41, {
    type: 'human-message',
    text: 'Leave the snapshots alone.',
    state: 'queued',
  }),
  event(42, {
    type: 'human-message',
    text: 'Leave the snapshots alone.',
    state: 'joined',
  }),
  event(54, { type: 'text-held', text: 'All done! The tests\nare' }),
  event(54, { type: 'check-started', check: 'npm test', todoId: 'b' }),
  event(55, {
    type: 'check-ended',
    check: 'npm test',
    todoId: 'b',
    result: 'failed',
    flaky: false,
    sentence: 'Exit code 1 instead of 0.',
    milliseconds: 840,
    tail: '',
  }),
  event(55, {
    type: 'text-held-back',
    text: 'All done! The tests\nare migrated and everything passes.',
  }),
  event(55, {
    type: 'continuation',
    textKind: 'standard',
    level: 2,
    sentence: 'Todos are still open: the agent is told to go on (reminder 2 of 3).',
    text: '[TODO CONTINUATION] 1/4 completed, 3 remaining.',
    number: 2,
  }),
  event(60, { type: 'compacted', messagesBefore: 48, messagesAfter: 12 }),
  event(61, {
    type: 'usage',
    step: { ...totalUsage, inputTokens: 9000 },
    total: totalUsage,
  }),
  event(62, { type: 'plan-changed', todos: ended, completed: 2, total: 4 }),
  event(63, {
    type: 'run-ended',
    outcome: 'blocked',
    reason: 'all-blocked',
    sentence: 'All that remains is blocked (1).',
    exitCode: 4,
    todos: ended,
    failedChecks: [],
    leftOver: ['Write the release notes'],
    continuations: [
      { textKind: 'standard', count: 2 },
      { textKind: 'bulk-claim', count: 1 },
    ],
    steps: 7,
    toolCalls: 15,
    usage: totalUsage,
    milliseconds: 63_400,
    resumeCommand: 'untildone run --resume 0198c7e4',
  }),
];
