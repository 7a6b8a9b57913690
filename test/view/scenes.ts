// The states of the live view, as events to play and what must then be on the screen. The
// tests read the screen; the pictures in docs/view are taken of it.
import type { AgentEvent, TodoView, UsageView } from '../../src/agent/agent-event.ts';
import type { ViewEvent } from '../../src/cli/show/events.ts';

export interface Scene {
  readonly name: string;
  /** Under the picture. */
  readonly title: string;
  readonly kind: 'run' | 'attach';
  readonly columns?: number;
  readonly rows?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** The picture is taken on a light background. */
  readonly light?: true;
  /** Keys pressed once the first of `shows` is there. */
  readonly keys?: readonly string[];
  readonly types?: string;
  readonly shows: readonly (string | RegExp)[];
  readonly hides?: readonly string[];
  events(now: number): readonly ViewEvent[];
}

const sessionId = '0198c7e4';
type Bare<Event> = Event extends AgentEvent ? Omit<Event, 'at' | 'sessionId'> : never;

const todo = (id: string, title: string, changes: Partial<TodoView> = {}): TodoView => ({
  id,
  title,
  status: 'pending',
  priority: 'medium',
  verification: 'none',
  dropped: false,
  outcome: null,
  reason: null,
  ...changes,
});

const plan = [
  todo('a', 'Read the old tests', { status: 'completed', verification: 'passed' }),
  todo('b', 'Convert the suites in test/unit to vitest', { status: 'in_progress' }),
  todo('c', 'Run the whole suite'),
  todo('d', 'Publish the coverage report', {
    status: 'blocked',
    reason: 'A token is missing.',
  }),
];
const usage: UsageView = {
  inputTokens: 48_210,
  cachedTokens: 31_000,
  outputTokens: 2310,
  cost: 0.2184,
};

/** The first minute of a run, up to where a scene begins. */
function begun(now: number, ...more: readonly Bare<AgentEvent>[]): AgentEvent[] {
  const past = now - 63_000;
  const event = (at: number, fields: Bare<AgentEvent>): AgentEvent => ({
    at,
    sessionId,
    ...fields,
  });
  return [
    event(past, {
      type: 'run-started',
      goal: 'migrate the tests to vitest',
      model: 'anthropic/claude-sonnet',
      directory: '/home/ada/app',
      resumed: false,
      permissions: 'ask',
    }),
    event(past, { type: 'step-started', step: 1 }),
    event(past, {
      type: 'text',
      text: "I'll look at the tests first, then convert them suite by suite.\n",
    }),
    event(past, {
      type: 'tool-started',
      callId: '1',
      tool: 'todo_write',
      input: { todos: plan },
    }),
    event(past, {
      type: 'tool-ended',
      callId: '1',
      tool: 'todo_write',
      ok: true,
      output: '{}',
      milliseconds: 12,
    }),
    event(past, { type: 'plan-changed', todos: plan, completed: 1, total: 4 }),
    event(past, { type: 'step-started', step: 7 }),
    event(past, { type: 'usage', step: usage, total: usage }),
    ...more.map((fields) => event(now, fields)),
  ];
}

const shell = (callId: string, command: string): Bare<AgentEvent> => ({
  type: 'tool-started',
  callId,
  tool: 'shell',
  input: { command },
});
const shellEnded = (
  callId: string,
  ok: boolean,
  output: string,
  milliseconds: number,
): Bare<AgentEvent> => ({
  type: 'tool-ended',
  callId,
  tool: 'shell',
  ok,
  output,
  milliseconds,
});
const reminder = (level: number, number: number): Bare<AgentEvent> => ({
  type: 'continuation',
  textKind: 'standard',
  level,
  sentence: 'Todos are still open: the agent is told to go on.',
  text: '[TODO CONTINUATION] 1/4 completed, 3 remaining.',
  number,
});
const permission: Bare<AgentEvent> = {
  type: 'permission-asked',
  requestId: 'r1',
  tool: 'shell',
  subject: 'npm publish --dry-run',
  pattern: 'npm publish *',
  choices: ['once', 'session', 'always', 'no'],
};
const markdown = `## Summary

I converted **two suites** and ran them:

- the parser, in \`parse.js\`
- the printer, whose snapshots I left as they were because nobody asked for new ones

\`\`\`sh
npx vitest run
\`\`\`

| suite  | tests |
| ------ | ----- |
| parse  | 12    |
| print  | 7     |

Next I look at the rest.`;
const edited: Bare<AgentEvent> = {
  type: 'file-changed',
  callId: '5',
  tool: 'edit_file',
  path: 'test/unit/parse.test.ts',
  isNew: false,
  added: 2,
  removed: 2,
  diff: `@@ -1,4 +1,4 @@
-import assert from 'node:assert';
+import { expect, it } from 'vitest';
 import { parse } from '../src/parse.js';
 
-assert.equal(parse('1'), 1);
+it('reads a number', () => expect(parse('1')).toBe(1));`,
};
const manyTodos = Array.from({ length: 500 }, (_, index) => {
  const open = index === 250 ? 'in_progress' : 'pending';
  return todo(`${index}`, `Convert suite number ${index + 1}`, {
    status: index < 250 ? 'completed' : open,
    verification: index < 250 ? 'passed' : 'none',
  });
});
const hostile =
  '\u001b[2J\u001b[31mred\u001b]52;c;ZXZpbA==\u0007 \u202egnp.exe\u202c \u009b31m\r✓ done\u0007\u0000 </todo> 修复 👩‍👩‍👧 한국어';

/** A session of a host that is told, as the store has it. */
function elsewhere(
  now: number,
  fields: Pick<
    Extract<ViewEvent, { type: 'session-state' }>,
    'state' | 'words' | 'until'
  >,
): ViewEvent[] {
  const [, , , , , planned] = begun(now);
  return [
    ...(planned === undefined ? [] : [planned]),
    { at: now, sessionId, ...reminder(1, 1) } as AgentEvent,
    { at: now, sessionId, type: 'usage', step: usage, total: usage },
    {
      type: 'session-state',
      title: 'migrate the tests to vitest',
      at: now,
      sessionId,
      host: 'opencode',
      agent: 'build',
      model: 'anthropic/claude-sonnet',
      directory: '/home/ada/app',
      waits: [],
      turnSince: now - 63_000,
      ...fields,
    },
  ];
}

export const scenes: readonly Scene[] = [
  {
    name: 'working',
    title: 'The agent works: what it says, what runs, the plan.',
    kind: 'run',
    shows: [
      'plan [██░░░░░░] 1/4, 1 blocked',
      '[>] Convert the suites',
      'shell',
      'step 7',
      '│ The first suite',
    ],
    events: (now) =>
      begun(
        now,
        { type: 'text', text: 'The first suite is converted; now I run it to see' },
        shell('2', 'npm test -- --run'),
      ),
  },
  {
    name: 'held',
    title: 'Held text is dimmed until the system has decided what it was.',
    kind: 'run',
    shows: ['│ All done! The tests are migrated', 'deciding about the answer'],
    events: (now) =>
      begun(now, {
        type: 'text-held',
        text: 'All done! The tests are migrated\nand everything passes.',
      }),
  },
  {
    name: 'continuation',
    title:
      'An answer that was refused, why, and what comes next; firmer reminders in red.',
    kind: 'run',
    shows: [
      '✋ "All done!" refused: 2 of 4 todos open',
      '→ next:',
      '(reminder 3 of 3)',
      'sent back 3 times',
    ],
    events: (now) =>
      begun(
        now,
        { type: 'text-held-back', text: 'All done!' },
        reminder(1, 1),
        reminder(2, 2),
        reminder(3, 3),
      ),
  },
  {
    name: 'calls',
    title: 'Ctrl-O unfolds the last tool calls.',
    kind: 'run',
    keys: ['C-o'],
    shows: [
      'Ctrl-O unfolds',
      '· shell npm test ✗ 2.1 s',
      'in: {"command":"npm test"}',
      'FAIL test/unit/parse.test.ts',
      'Ctrl-O folds',
    ],
    events: (now) =>
      begun(
        now,
        shell('2', 'ls test/unit'),
        shellEnded('2', true, 'format.test.ts\nparse.test.ts', 14),
        shell('3', 'npm test'),
        shellEnded(
          '3',
          false,
          'FAIL test/unit/parse.test.ts\n  expected 3, got 2\n1 failed, 11 passed',
          2140,
        ),
      ),
  },
  {
    name: 'diff',
    title: 'An edit is folded to its size; Ctrl-O unfolds it as a diff.',
    kind: 'run',
    keys: ['C-o'],
    shows: [
      '· edit_file test/unit/parse.test.ts ✓ +2 −2 · 6 ms',
      "+import { expect, it } from 'vitest';",
      '@@ -1,4',
    ],
    events: (now) =>
      begun(
        now,
        {
          type: 'tool-started',
          callId: '5',
          tool: 'edit_file',
          input: { path: 'test/unit/parse.test.ts' },
        },
        edited,
        {
          type: 'tool-ended',
          callId: '5',
          tool: 'edit_file',
          ok: true,
          output: 'Edited.',
          milliseconds: 6,
        },
      ),
  },
  {
    name: 'markdown',
    title: 'What the agent says is laid out: headings, lists, code, tables.',
    kind: 'run',
    rows: 36,
    shows: [
      '│ Summary',
      '│ • the parser, in parse.js',
      '│   npx vitest run',
      '│ suite │ tests',
      'Next I look at',
    ],
    hides: ['##', '**', '```'],
    events: (now) => begun(now, { type: 'text', text: markdown }, shell('2', 'npm test')),
  },
  {
    name: 'checks',
    title: 'The system runs its checks: running, passed, failed, flaky.',
    kind: 'run',
    shows: [
      /\S check .* npm run build/u,
      '✓ check "npm run types" passed (1.2 s)',
      '✗ check "npm test" failed (840 ms): Exit code 1 instead of 0.',
      '  │ AssertionError: expected 3, got 2',
    ],
    events: (now) =>
      begun(
        now,
        {
          type: 'check-ended',
          check: 'npm run types',
          todoId: null,
          result: 'passed',
          flaky: false,
          sentence: '',
          milliseconds: 1200,
          tail: '',
        },
        {
          type: 'check-ended',
          check: 'npm test',
          todoId: 'b',
          result: 'failed',
          flaky: false,
          sentence: 'Exit code 1 instead of 0.',
          milliseconds: 840,
          tail: 'FAIL test/unit/parse.test.ts\nAssertionError: expected 3, got 2\n1 failed, 11 passed',
        },
        { type: 'check-started', check: 'npm run build', todoId: null },
      ),
  },
  {
    name: 'workers',
    title: 'A worker has a todo; its calls are shown as its own.',
    kind: 'run',
    shows: [
      /\S worker coder step 2, .* Convert the suites/u,
      /\S coder edit_file .* test\/unit\/parse\.test\.ts/u,
    ],
    events: (now) => [
      ...begun(now, {
        type: 'worker-started',
        workerId: 'w1',
        agentType: 'coder',
        todoId: 'b',
        title: 'Convert the suites in test/unit to vitest',
      }),
      { at: now, sessionId: 'w1', type: 'step-started', step: 2 },
      {
        at: now,
        sessionId: 'w1',
        type: 'tool-started',
        callId: '9',
        tool: 'edit_file',
        input: { path: 'test/unit/parse.test.ts' },
      },
    ],
  },
  {
    name: 'permission',
    title: 'A permission is asked for; y, s, a or n answers.',
    kind: 'run',
    shows: [
      '… permission asked: shell',
      'npm publish --dry-run',
      's or a would allow: npm publish *',
      '[y] once',
      '[n] no',
    ],
    events: (now) => begun(now, shell('2', 'npm publish --dry-run'), permission),
  },
  {
    name: 'check-question',
    title: 'A check that only a human can answer.',
    kind: 'run',
    shows: ['? Does the page look right on a phone?', 'Enter alone leaves it open'],
    events: (now) => [
      ...begun(now),
      { type: 'check-question', question: 'Does the page look right on a phone?' },
    ],
  },
  {
    name: 'steering',
    title: 'What you type is sent by Enter and joins the turn after the running step.',
    kind: 'run',
    types: 'leave the snapshots alone',
    shows: ['type to steer', '› leave the snapshots alone▏'],
    events: (now) => begun(now, shell('2', 'npm test')),
  },
  {
    name: 'waiting',
    title: 'A wait counts down; any key pauses.',
    kind: 'run',
    shows: [/… \d+ s press any key to pause/u, 'The provider limits requests'],
    events: (now) =>
      begun(now, {
        type: 'waiting',
        reason: 'rate-limited',
        sentence:
          'The provider limits requests or is overloaded; waiting until that ends.',
        until: now + 58_000,
      }),
  },
  {
    name: 'paused',
    title: 'Paused: nothing happens until Enter, here, or untildone resume, elsewhere.',
    kind: 'run',
    shows: ['… paused by you Enter goes on, Ctrl-C ends the run'],
    events: (now) =>
      begun(now, {
        type: 'waiting',
        reason: 'paused-by-human',
        sentence: 'Paused by a human.',
        until: null,
      }),
  },
  {
    name: 'stopping',
    title: 'The first Ctrl-C stops after the step, a second one at once.',
    kind: 'run',
    shows: ['! stopping after this step; Ctrl-C again stops at once'],
    events: (now) => [
      ...begun(now, shell('2', 'npm test')),
      { type: 'stop-asked', how: 'after-step' },
    ],
  },
  {
    name: 'long-plan',
    title: 'A plan of 500 todos, scrolled to its end.',
    kind: 'run',
    keys: ['End'],
    shows: [
      'todos 249-256 of 500',
      'todos 493-500 of 500, Tab goes back',
      '[ ] Convert suite number 500',
    ],
    events: (now) =>
      begun(
        now,
        { type: 'plan-changed', todos: manyTodos, completed: 250, total: 500 },
        shell('2', 'npm test'),
      ),
  },
  {
    name: 'narrow',
    title: 'Forty columns.',
    kind: 'run',
    columns: 40,
    shows: ['plan [██░░░░░░] 1/4, 1 blocked', '… permission asked: shell', '[y] once'],
    events: (now) =>
      begun(
        now,
        { type: 'text', text: 'The first suite is converted; now I run it.\n' },
        permission,
      ),
  },
  {
    name: 'ascii',
    title: 'A locale that is not UTF-8 gets ASCII.',
    kind: 'run',
    environment: { LC_ALL: 'C' },
    shows: ['plan [##......] 1/4, 1 blocked', /[|/\\-] shell/u],
    hides: ['█', '│', '›'],
    events: (now) =>
      begun(now, { type: 'text', text: 'Größe geprüft: 修复\n' }, shell('2', 'npm test')),
  },
  {
    name: 'hostile',
    title: 'Hostile text is only text.',
    kind: 'run',
    shows: ['[>] red', '修复'],
    hides: ['\u001b', '\u202e'],
    events: (now) =>
      begun(
        now,
        {
          type: 'plan-changed',
          todos: [todo('x', hostile, { status: 'in_progress' })],
          completed: 0,
          total: 1,
        },
        { type: 'text', text: `${hostile}\n` },
        shell('2', hostile),
        { type: 'check-started', check: hostile, todoId: null },
        { type: 'notice', sentence: hostile },
      ),
  },
  {
    name: 'countdown',
    title: 'untildone attach: a countdown in a host; any key stops it.',
    kind: 'attach',
    shows: [
      /… \d+ s press any key to stop/u,
      'counting down: the agent goes on',
      'p pause',
      'opencode',
    ],
    events: (now) =>
      elsewhere(now, {
        state: 'counting-down',
        words: 'counting down: the agent goes on',
        until: now + 30_000,
      }),
  },
  {
    name: 'attached',
    title: 'untildone attach: a session that runs elsewhere.',
    kind: 'attach',
    shows: [
      'running: turn 3',
      'plan [██░░░░░░] 1/4, 1 blocked',
      'opencode 0198c7e4 “migrate the tests',
      'q leave',
    ],
    events: (now) =>
      elsewhere(now, { state: 'running', words: 'running: turn 3', until: null }),
  },
  {
    name: 'latched',
    title: 'untildone attach: stopped by you; r resumes.',
    kind: 'attach',
    shows: ['stopped by you (untildone stop)'],
    events: (now) =>
      elsewhere(now, {
        state: 'latched',
        words: 'stopped by you (untildone stop)',
        until: null,
      }),
  },
  {
    name: 'ended',
    title:
      'The end of a run: the outcome, the todos that are not proved, what it took, how to go on.',
    kind: 'run',
    shows: [
      'outcome: blocked',
      '1 changed file; no check passed in this run',
      'next: untildone run --resume 0198c7e4',
    ],
    hides: ['Ctrl-C stops', 'type to steer'],
    events: (now) =>
      begun(now, edited, {
        type: 'run-ended',
        outcome: 'blocked',
        reason: 'all-blocked',
        sentence: 'Everything that is left is blocked (1 todo).',
        exitCode: 4,
        todos: plan.map((each) =>
          each.id === 'd'
            ? each
            : { ...each, status: 'completed', verification: 'passed' },
        ),
        failedChecks: [],
        leftOver: [],
        continuations: [{ textKind: 'standard', count: 2 }],
        steps: 9,
        toolCalls: 15,
        usage,
        milliseconds: 84_000,
        resumeCommand: 'untildone run --resume 0198c7e4',
      }),
  },
  {
    name: 'light',
    title: 'On a light terminal: only colours of its own palette.',
    kind: 'run',
    light: true,
    shows: [
      '… permission asked: shell',
      '✋ Stop refused: 2 of 4 todos open (reminder 3 of 3)',
    ],
    events: (now) => begun(now, reminder(1, 1), reminder(3, 3), permission),
  },
];
