// Everything malformed that can come in, in tables: events, the input of the todo tools,
// configurations. Each gets one clear sentence; where the whole input is refused, every
// table of a real SQLite store is as before.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { validateConfig } from '../src/core/config.ts';
import { parseEvent } from '../src/core/events.ts';
import { parseJsonText } from '../src/core/json-text.ts';
import { problemSentence } from '../src/core/problem.ts';
import { defaultSettings } from '../src/core/settings.ts';
import type { Store } from '../src/engine/store.ts';
import { sha256 } from '../src/engine/system.ts';
import { createScriptedHost, type ScriptedHost } from '../src/simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../src/simulated/simulated-clock.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { ToolResult } from '../src/tools/todo-tools.ts';
import { createTodoTools } from '../src/tools/todo-tools.ts';
import { anEvent } from './support/builders.ts';

const folder = mkdtempSync(join(tmpdir(), 'untildone-bad-input-'));
const path = join(folder, 'store.sqlite');
const tools = new Map<string, ReturnType<typeof createTodoTools>[number]>();
let store: Store;
let host: ScriptedHost;
let database: DatabaseSync;
let todoId: string;
let doneId: string;

beforeAll(async () => {
  const clock = createSimulatedClock();
  const identifiers = createSequentialIdentifiers();
  store = await openSqliteStore({ path, clock });
  const policy = () => ({
    settings: { ...defaultSettings, maxTodos: 5 },
    goalChecks: [],
  });
  host = createScriptedHost({
    mode: 'asked',
    store,
    clock,
    identifiers,
    hash: sha256,
    policy,
  });
  await host.open();
  await host.says('Please do the work.');
  [todoId = '', doneId = ''] = await host.plans('Build', 'Ship', 'Rest');
  await host.completes(doneId);
  await host.stops();
  const { sessionId, runtime: engine } = host;
  const context = {
    engine,
    store,
    sessionId,
    actor: 'agent',
    clock,
    identifiers,
  } as const;
  for (const tool of createTodoTools(context)) tools.set(tool.name, tool);
  database = new DatabaseSync(path, { readOnly: true });
});

afterAll(async () => {
  database.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function tableNames(): string[] {
  const rows = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all();
  return rows.map(({ name }) => String(name));
}

/** Every row of these tables, as text. */
function dump(names: readonly string[] = tableNames()): string {
  return names
    .map(
      (name) =>
        `${name} ${JSON.stringify(database.prepare(`SELECT * FROM ${name}`).all())}`,
    )
    .join('\n');
}

/** What a quotation holds is the stranger's, not ours. */
const quotation = /"(?:[^"\\]|\\.)*"/gu;

function sentencesIn(text: string): number {
  return text
    .replace(quotation, 'x')
    .split(/[.!?](?=\s|$)/u)
    .filter((part) => part.trim() !== '').length;
}

/**
 * One line that names the field or item, ends as a sentence and shows nothing of our
 * insides.
 */
function expectClear(sentence: string, mention: string, atMost = 1): void {
  expect(sentence).toContain(mention);
  expect(sentencesIn(sentence), sentence).toBeLessThanOrEqual(atMost);
  expect(sentence.length).toBeLessThan(400);
  expect(sentence).not.toMatch(/undefined|\[object|NaN,|\bat .+:\d+:\d+|Error:/u);
  expect(sentence).not.toMatch(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what this looks at
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u,
  );
}

const long = 'x'.repeat(2_000_000);
const base = { id: 'event-1', sessionId: 'session-1', at: 1_800_000_000_000 };
const written = anEvent.planWritten();
const created = anEvent.todosCreated();
const spoke = anEvent.humanSpoke();
const opened = anEvent.sessionOpened();
const stopped = anEvent.stopAttempted();
const used = anEvent.usageReported();

/** What it is, what must be named, the event. */
const events: readonly (readonly [string, string, unknown])[] = [
  ['nothing', 'got nothing', undefined],
  ['null', 'got null', null],
  ['a number', 'got 5', 5],
  ['not a number', 'An event must be an object', Number.NaN],
  ['a text', 'got "stop"', 'stop'],
  ['a list', 'got a list of 1', [stopped]],
  ['a date', 'an object', new Date(0)],
  ['a function', 'a function', () => stopped],
  ['an empty object', 'type', {}],
  ['a type that is no text', 'type', { ...base, type: 7 }],
  [
    'a type that is an object',
    'type',
    { ...base, type: { toString: () => 'human-resumed' } },
  ],
  ['an unknown type', '"todo-deleted"', { ...base, type: 'todo-deleted' }],
  ['a misspelt type', 'did you mean "human-resumed"', { ...base, type: 'human-resume' }],
  [
    'a type in another letter case',
    'did you mean "plan-written"',
    { ...written, type: 'PlanWritten' },
  ],
  ['the type __proto__', '"__proto__"', { ...base, type: '__proto__' }],
  [
    'a type full of controls',
    'There is no event',
    { ...base, type: 'stop\u001b[2J\r\n\u202e' },
  ],
  ['an endless type', 'There is no event', { ...base, type: long }],
  ['no id', 'id must be', { ...stopped, id: undefined }],
  ['a blank id', 'id must be', { ...stopped, id: ' ' }],
  ['a number as id', 'id must be', { ...stopped, id: 7 }],
  ['an endless id', 'id must be', { ...stopped, id: long }],
  ['no session', 'sessionId must be', { ...stopped, sessionId: null }],
  ['an object as session', 'sessionId must be', { ...stopped, sessionId: {} }],
  ['no time', 'at must be', { ...stopped, at: undefined }],
  ['a time before 1970', 'at must be', { ...stopped, at: -5 }],
  ['the time zero', 'at must be', { ...stopped, at: 0 }],
  ['an infinite time', 'at must be', { ...stopped, at: Number.POSITIVE_INFINITY }],
  ['a time that is not a number', 'at must be', { ...stopped, at: Number.NaN }],
  ['a time as text', 'at must be', { ...stopped, at: '2026-01-01' }],
  ['a time that no date can hold', 'at must be', { ...stopped, at: 9e15 }],
  ['no descriptor', 'descriptor must be', { ...opened, descriptor: null }],
  [
    'a host without a name',
    'descriptor.host',
    { ...opened, descriptor: { ...opened.descriptor, host: '' } },
  ],
  [
    'an unknown mode',
    'descriptor.mode',
    { ...opened, descriptor: { ...opened.descriptor, mode: 'both' } },
  ],
  [
    'a kind in the wrong case',
    'descriptor.kind',
    { ...opened, descriptor: { ...opened.descriptor, kind: 'Main' } },
  ],
  [
    'a number as flag',
    'descriptor.headless',
    { ...opened, descriptor: { ...opened.descriptor, headless: 1 } },
  ],
  [
    'no tool names',
    'descriptor.tools',
    { ...opened, descriptor: { ...opened.descriptor, tools: null } },
  ],
  [
    'a bad tool name',
    'descriptor.tools.pause',
    { ...opened, descriptor: { ...opened.descriptor, tools: { pause: 1 } } },
  ],
  ['an agent that is a text', 'agent must be', { ...opened, agent: 'build' }],
  [
    'an unknown permission',
    'agent.canWrite',
    { ...opened, agent: { ...opened.agent, canWrite: 'maybe' } },
  ],
  ['a message that is no text', 'text must be', { ...spoke, text: ['hello'] }],
  ['an endless message', 'text must be', { ...spoke, text: long }],
  ['no turn', 'turnId must be', { ...spoke, turnId: undefined }],
  ['a message id that is a number', 'messageId must be', { ...spoke, messageId: 5 }],
  [
    'an abort without a cause',
    'how must be',
    { ...anEvent.humanAborted(), how: undefined },
  ],
  [
    'a pause without a reason',
    'reason must be',
    { ...anEvent.modelPaused(), reason: null },
  ],
  ['an unknown access', 'access must be', { ...anEvent.toolEnded(), access: 'execute' }],
  [
    'an error that is an Error',
    'error must be',
    { ...anEvent.toolEnded(), error: new Error('broken') },
  ],
  [
    'items that are no list',
    'items must be',
    { ...written, items: { 0: { content: 'A' } } },
  ],
  ['items that are a text', 'items must be', { ...written, items: '[]' }],
  [
    'too many items',
    'items must be',
    { ...written, items: new Array(100_001).fill(null) },
  ],
  ['an item that is a text', 'items[0] must be', { ...written, items: ['Build'] }],
  [
    'an item without our id',
    'items[1].freshId',
    { ...written, items: [{ freshId: 'a' }, { content: 'B' }] },
  ],
  [
    'an item with a number as id',
    'items[0].id',
    { ...written, items: [{ id: 5, freshId: 'a', content: 'A' }] },
  ],
  [
    'an item with an endless reason',
    'items[0].reason',
    { ...written, items: [{ freshId: 'a', reason: long }] },
  ],
  ['a hole in the list', 'items[0] must be', { ...created, items: new Array(1) }],
  ['a new todo without an id', 'items[0].id', { ...created, items: [{ title: 'A' }] }],
  [
    'the position zero',
    'items[0].order',
    { ...created, items: [{ id: 'a', title: 'A', order: 0 }] },
  ],
  [
    'half a position',
    'items[0].order',
    { ...created, items: [{ id: 'a', title: 'A', order: 1.5 }] },
  ],
  [
    'checks that are a text',
    'items[0].checks',
    { ...created, items: [{ id: 'a', title: 'A', checks: 'unit' }] },
  ],
  [
    'a check that is a number',
    'items[0].checks[0]',
    { ...created, items: [{ id: 'a', title: 'A', checks: [5] }] },
  ],
  [
    'an endless context',
    'items[0].context',
    { ...created, items: [{ id: 'a', title: 'A', context: long }] },
  ],
  ['an unknown actor', 'actor must be', { ...created, actor: 'root' }],
  ['no changes', 'changes must be', { ...anEvent.todoUpdated(), changes: undefined }],
  [
    'an unknown status',
    'changes.status',
    { ...anEvent.todoUpdated(), changes: { status: 'done' } },
  ],
  [
    'an unknown priority',
    'changes.priority',
    { ...anEvent.todoUpdated(), changes: { priority: 'urgent' } },
  ],
  [
    'a title that is a list',
    'changes.title',
    { ...anEvent.todoUpdated(), changes: { title: ['A'] } },
  ],
  ['no todo id', 'todoId must be', { ...anEvent.todoCompleted(), todoId: null }],
  [
    'a completion that reopens',
    'status must be',
    { ...anEvent.todoCompleted(), status: 'pending' },
  ],
  ['no outcome', 'outcome must be', { ...anEvent.todoCompleted(), outcome: null }],
  [
    'an unknown result',
    'result must be',
    { ...anEvent.checkFinished(), result: 'flaky' },
  ],
  [
    'a flaky that is a text',
    'flaky must be',
    { ...anEvent.checkFinished(), flaky: 'false' },
  ],
  ['an endless tail', 'tail must be', { ...anEvent.checkFinished(), tail: long }],
  [
    'a blank fingerprint',
    'fingerprint must be',
    { ...anEvent.workspaceSeen(), fingerprint: '' },
  ],
  ['an unknown end', 'end must be', { ...stopped, end: 'stop' }],
  ['a question that is a text', 'question must be', { ...stopped, question: 'why?' }],
  ['jobs that are a number', 'background must be', { ...stopped, background: 2 }],
  [
    'a job of an unknown kind',
    'background[0].kind',
    { ...stopped, background: [{ id: 'j', kind: 'cron', description: '' }] },
  ],
  [
    'no job',
    'wait.job must be',
    { ...anEvent.waitStarted(), wait: { kind: 'background', job: null } },
  ],
  [
    'an answer that is none',
    'granted must be',
    {
      ...anEvent.waitEnded(),
      wait: { kind: 'permission', requestId: 'r', granted: 'yes' },
    },
  ],
  [
    'no request',
    'requestId must be',
    { ...anEvent.waitStarted(), wait: { kind: 'question', requestId: '' } },
  ],
  [
    'an unknown wait',
    'wait.kind must be',
    { ...anEvent.waitStarted(), wait: { kind: 'lunch' } },
  ],
  ['unknown news', 'news must be', { ...anEvent.deliveryReported(), news: 'maybe' }],
  [
    'an unknown kind of error',
    'kind must be',
    { ...anEvent.errorOccurred(), kind: 'quota' },
  ],
  ['a bad time to retry', 'retryAt must be', { ...anEvent.errorOccurred(), retryAt: -1 }],
  ['negative tokens', 'inputTokens must be', { ...used, inputTokens: -1 }],
  ['fractions of tokens', 'outputTokens must be', { ...used, outputTokens: 0.5 }],
  [
    'more tokens than a number holds',
    'inputTokens must be',
    { ...used, inputTokens: 2 ** 53 },
  ],
  ['an infinite cost', 'cost must be', { ...used, cost: Number.POSITIVE_INFINITY }],
  ['a cost with a currency', 'cost must be', { ...used, cost: '$1' }],
  ['a negative epoch', 'epoch must be', { ...anEvent.timerFired(), epoch: -1 }],
  [
    'a timer that is never due',
    'dueAt must be',
    { ...anEvent.timerFired(), dueAt: null },
  ],
  ['an epoch as text', 'epoch must be', { ...anEvent.deliveryReported(), epoch: '1' }],
];

/**
 * Tool, what it is, what must be named, the input. Refused before the engine hears of it.
 */
const inputs: readonly (readonly [string, string, string, unknown])[] = [
  ['create_todo', 'nothing', 'items', undefined],
  ['create_todo', 'a list', 'items', [{ title: 'A' }]],
  ['create_todo', 'no items', '"items"', {}],
  ['create_todo', 'null as items', '"items"', { items: null }],
  ['create_todo', 'items as text', '"items"', { items: '[{"title":"A"}]' }],
  ['create_todo', 'items as object', '"items"', { items: { title: 'A' } }],
  ['create_todo', 'empty items', '"items"', { items: [] }],
  [
    'create_todo',
    'an unknown field',
    '"sessionId"',
    { items: [{ title: 'A' }], sessionId: 'x' },
  ],
  [
    'create_todo',
    'a hostile field',
    'items',
    { items: [{ title: 'A' }], 'x\u001b[2J\n': 1 },
  ],
  ['list_todo', 'an unknown status', '"status"', { status: 'open' }],
  ['list_todo', 'a status that is a list', '"status"', { status: ['pending'] }],
  ['complete_todo', 'no id', '"todoId"', { outcome: 'done' }],
  ['complete_todo', 'no outcome', '"outcome"', { todoId: 'x' }],
  ['complete_todo', 'a blank outcome', '"outcome"', { todoId: 'x', outcome: ' \n' }],
  [
    'complete_todo',
    'an outcome that is an object',
    '"outcome"',
    { todoId: 'x', outcome: { text: 'done' } },
  ],
  [
    'complete_todo',
    'an unknown status',
    '"status"',
    { todoId: 'x', outcome: 'done', status: 'blocked' },
  ],
  ['update_todo', 'nothing to change', '"todoId"', { todoId: 'x' }],
  ['update_todo', 'a number as id', '"todoId"', { todoId: 5, status: 'pending' }],
  ['update_todo', 'a completion', '"status"', { todoId: 'x', status: 'completed' }],
  ['update_todo', 'an endless context', '"context"', { todoId: 'x', context: long }],
  [
    'update_todo',
    'an unknown priority',
    '"priority"',
    { todoId: 'x', priority: 'urgent' },
  ],
  ['todo_write', 'no list', '"todos"', { todos: 'Build' }],
  ['todo_write', 'no todos', '"todos"', {}],
  ['todo_write', 'a number', 'todos', 5],
  ['todo_read', 'a field', '"id"', { id: 'x' }],
  ['todo_pause', 'no reason', '"reason"', {}],
  ['todo_pause', 'a reason that is a list', '"reason"', { reason: ['x'] }],
];

const item = (fields: object) => ({ content: 'A', status: 'pending', ...fields });

/**
 * Tool, what it is, the code, the input. Refused as a whole by the plan itself: the last
 * good plan stays (T6, M3).
 */
const refusals: readonly (readonly [string, string, string, () => unknown])[] = [
  [
    'todo_write',
    'an id twice',
    'duplicate-id',
    () => ({ todos: [item({ id: 'x' }), item({ id: 'x' })] }),
  ],
  [
    'todo_write',
    'too many todos',
    'too-many-todos',
    () => ({ todos: new Array(6).fill(item({})) }),
  ],
  [
    'create_todo',
    'too many todos',
    'too-many-todos',
    () => ({ items: new Array(6).fill({ title: 'A' }) }),
  ],
  [
    'create_todo',
    'nothing but bad items',
    'no-title',
    () => ({ items: [{ title: '' }, {}] }),
  ],
  [
    'complete_todo',
    'an unknown id',
    'unknown-id',
    () => ({ todoId: 'no\u001b[2J\nbody', outcome: 'done' }),
  ],
  [
    'complete_todo',
    'a todo that is final',
    'already-final',
    () => ({ todoId: doneId, outcome: 'done' }),
  ],
  [
    'update_todo',
    'an unknown id',
    'unknown-id',
    () => ({ todoId: 'nobody', status: 'pending' }),
  ],
  [
    'update_todo',
    'blocked without a reason',
    'no-reason',
    () => ({ todoId, status: 'blocked' }),
  ],
  ['update_todo', 'a blank title', 'no-title', () => ({ todoId, title: ' ' })],
  [
    'update_todo',
    'an endless title',
    'title-too-long',
    () => ({ todoId, title: 'x'.repeat(5000) }),
  ],
];

/** What it is, the item. Refused alone; the list around it applies. */
const items: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['a number', 5],
  ['a text', 'Build'],
  ['a list', ['Build']],
  ['no title', { status: 'pending' }],
  ['a blank title', { content: '\t\n ', status: 'pending' }],
  ['a title that is a number', { content: 5, status: 'pending' }],
  ['a title that is an object', { content: {}, status: 'pending' }],
  ['a title of 4,097 bytes', { content: 'x'.repeat(4097), status: 'pending' }],
  ['an endless title', { content: long, status: 'pending' }],
  ['a status that is a flag', { content: 'A', status: true }],
  ['a priority that is a number', { content: 'A', status: 'pending', priority: 1 }],
  ['an id that is a number', { id: 5, content: 'A', status: 'pending' }],
  ['a reason that is an object', { content: 'A', status: 'blocked', reason: {} }],
];

/** What it is, what must be named, the configuration. */
const configurations: readonly (readonly [string, string, unknown])[] = [
  ['nothing', 'configuration', undefined],
  ['a list', 'configuration', []],
  ['a text', 'configuration', 'mode: off'],
  ['an unknown key', 'maxContinuation', { maxContinuation: 5 }],
  ['a hostile key', '[', { 'a\u001b[2J\nb': 1 }],
  ['the key __proto__', '__proto__', JSON.parse('{"__proto__":{"enabled":false}}')],
  ['an unknown mode', 'mode', { mode: 'on' }],
  ['a flag as text', 'enabled', { enabled: 'true' }],
  ['a count as text', 'maxStagnant', { maxStagnant: '3' }],
  ['a count of zero', 'maxContinuations', { maxContinuations: 0 }],
  ['a fraction', 'ceiling', { ceiling: 1.5 }],
  [
    'an infinite interval',
    'minIntervalSeconds',
    { minIntervalSeconds: Number.POSITIVE_INFINITY },
  ],
  ['no number', 'countdownSeconds', { countdownSeconds: Number.NaN }],
  ['a negative grace period', 'graceSeconds', { graceSeconds: -1 }],
  ['null where it is not allowed', 'maxTodos', { maxTodos: null }],
  ['a share above one', 'contextShare', { contextShare: 90 }],
  ['a list that is a text', 'skipAgents', { skipAgents: 'plan' }],
  ['an entry that is a number', 'stopWords[1]', { stopWords: ['stop', 5] }],
  ['a phrase with a line break', 'goOnPhrases[0]', { goOnPhrases: ['go\non'] }],
  ['agents that are a list', 'agents', { agents: ['build'] }],
  ['an agent that is a flag', 'agents.build', { agents: { build: true } }],
  [
    'a shared setting for an agent',
    'agents.build.maxTodos',
    { agents: { build: { maxTodos: 5 } } },
  ],
  ['an agent twice', 'agents.BUILD', { agents: { build: {}, BUILD: {} } }],
  [
    'a bad value for an agent',
    'agents.build.mode',
    { agents: { build: { mode: 'loud' } } },
  ],
  ['a schema that is no address', '$schema', { $schema: 5 }],
];

const texts: readonly (readonly [string, string])[] = [
  ['an empty file', '  \n'],
  ['a comment that is not closed', '{ /* no\n}'],
  ['a trailing comma', '{"enabled":true,}'],
  ['single quotes', "{'enabled':true}"],
  ['a file that ends too early', '{"agents":{"build":'],
  ['two configurations', '{}{}'],
  ['a control character', '{"mode":"o\u0007ff"}'],
];

describe('bad input', () => {
  it('is looked for in the tables of a store that holds something', () => {
    expect(dump()).toContain('Build');
    expect(tableNames()).toEqual(
      expect.arrayContaining(['events', 'ledger', 'outbox', 'sessions', 'todos']),
    );
  });

  it('is tried in at least a hundred ways', () => {
    const tables = [events, inputs, refusals, items, configurations, texts];
    expect(tables.reduce((sum, table) => sum + table.length, 0)).toBeGreaterThanOrEqual(
      100,
    );
    for (const table of tables) {
      const names = table.map((row) =>
        row.filter((cell) => typeof cell === 'string').join(' '),
      );
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    }
  });

  it.each(events)(
    'an event: %s is refused with a sentence and changes nothing',
    async (_what, mention, value) => {
      const before = dump();
      const parsed = parseEvent(value);
      if (parsed.ok) await host.runtime.handle(parsed.event);
      expect(parsed.ok).toBe(false);
      if (!parsed.ok) expectClear(parsed.sentence, mention);
      expect(dump()).toBe(before);
    },
  );

  async function refusedCall(
    name: string,
    input: unknown,
  ): Promise<Extract<ToolResult, { ok: false }>['error']> {
    const result = await tools.get(name)?.call(input);
    if (result === undefined || result.ok) throw new Error(`${name} took the input`);
    return result.error;
  }

  it.each(inputs)(
    '%s: %s is refused with a sentence and changes nothing',
    async (name, _what, mention, input) => {
      const before = dump();
      const error = await refusedCall(name, input);
      expectClear(error.message, mention);
      expect(error.code).toBe('invalid-input');
      expect(dump()).toBe(before);
    },
  );

  it.each(refusals)(
    'T6, M3: %s: %s is refused as a whole and the last good plan stays',
    async (name, _what, code, input) => {
      const before = dump();
      const error = await refusedCall(name, input());
      expect(error.code).toBe(code);
      expectClear(error.message, '', 3);
      expect(dump()).toBe(before);
    },
  );

  it.each(items)(
    'T6: an item: %s is refused alone, and the rows it stands for stay',
    async (_what, bad) => {
      const before = dump(['todos']);
      const rest = await store.todos({ planId: host.sessionId });
      const todos = rest.map(({ id, title, status }) => ({ id, content: title, status }));
      const result = await tools.get('todo_write')?.call({ todos: [...todos, bad] });
      if (!result?.ok) throw new Error('the whole list was refused');
      const refused = result.output['refused'] as { item: number; message: string }[];
      expect(refused).toMatchObject([{ item: todos.length + 1 }]);
      expectClear(refused[0]?.message ?? '', `Item ${todos.length + 1}`, 2);
      expect(dump(['todos'])).toBe(before);
    },
  );

  it.each(configurations)(
    'C1: a configuration: %s is refused with its path',
    (_what, mention, value) => {
      const result = validateConfig(value);
      expect(result).not.toHaveProperty('config');
      if (result.ok) return;
      expect(result.problems).toHaveLength(1);
      for (const problem of result.problems)
        expectClear(problemSentence(problem), mention);
    },
  );

  it.each(texts)(
    'C1: the text of a configuration: %s is refused with a sentence',
    (_what, text) => {
      const result = parseJsonText(text);
      expect(result.ok).toBe(false);
      if (!result.ok) expectClear(`untildone.json ${result.error}`, 'is ');
    },
  );
});
