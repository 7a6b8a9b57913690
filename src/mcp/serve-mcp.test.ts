// The server over the wire, in both forms of the protocol that clients speak today, and
// twice as a real process.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  startProcess,
  startWithin,
  type WireClient,
} from '../../test/support/wire-client.ts';
import type { Policy } from '../core/policy.ts';
import { defaultSettings, type Settings } from '../core/settings.ts';
import { countPlan } from '../core/state.ts';
import { createRuntime } from '../engine/runtime.ts';
import { createIdentifiers, sha256, systemClock } from '../engine/system.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { todoToolsFor } from '../tools/todo-tools.ts';
import { bindReceipt } from './receipts.ts';

let home: string;
let cwd: string;
let client: WireClient;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'untildone-mcp-home-'));
  cwd = mkdtempSync(join(tmpdir(), 'untildone-mcp-cwd-'));
});

afterEach(async () => {
  await client.end();
  for (const line of client.lines)
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  for (const directory of [home, cwd])
    rmSync(directory, { recursive: true, force: true });
});

function openStore() {
  return openSqliteStore({ path: join(home, 'untildone.db'), clock: systemClock });
}

function policyOf(settings: Partial<Settings> = {}) {
  return { settings: { ...defaultSettings, ...settings }, goalChecks: [] };
}

function within(policy: () => Policy, meta?: object): WireClient {
  const checker = () => ({ run: async () => {} });
  return startWithin(
    { openStore, clock: systemClock, policy, checker, directory: cwd },
    meta,
  );
}

/** As clients of 2025 open a connection. */
async function initialize(
  given: WireClient = within(() => policyOf()),
): Promise<WireClient> {
  client = given;
  const { result } = await client.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'wire test', version: '1' },
  });
  expect(result).toMatchObject({
    serverInfo: { name: 'untildone' },
    capabilities: { tools: { listChanged: false } },
  });
  expect(Object.keys(result.capabilities)).toEqual(['tools']);
  client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return client;
}

/** As clients of 2026 do: every request says who asks. */
function connectModern(): WireClient {
  client = within(() => policyOf(), {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'modern wire test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  });
  return client;
}

describe('the MCP server', () => {
  it('M1–M8: offers every todo tool as it is, and nothing that only a human may do', async () => {
    const { result } = await (await initialize()).request('tools/list');
    const offered = result.tools as { name: string; annotations: object }[];
    expect(offered).toMatchObject(
      todoToolsFor('agent').map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema,
      })),
    );
    expect(offered).toHaveLength(todoToolsFor('agent').length);
    expect(offered.filter(({ name }) => /approve|resume/.test(name))).toEqual([]);
    const hints = Object.fromEntries(
      offered.map(({ name, annotations }) => [name, annotations]),
    );
    expect(hints).toMatchObject({
      list_todo: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
      todo_read: { readOnlyHint: true },
      create_todo: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      complete_todo: { readOnlyHint: false, idempotentHint: true },
    });
    expect(readdirSync(home)).toEqual([]);
  });

  it('M1–M6: a plan from creation to its last todo', async () => {
    const { call } = await initialize();
    const created = JSON.parse(
      (await call('create_todo', { items: [{ title: 'A' }, { title: 'B' }] })).words,
    );
    const [a, b] = created.created as { id: string }[];
    expect(created).toMatchObject({
      created: [{ title: 'A' }, { title: 'B' }],
      totalPending: 2,
    });
    await call('update_todo', { todoId: a?.id, status: 'in_progress' });
    const done = JSON.parse(
      (await call('complete_todo', { todoId: a?.id, outcome: 'Done.' })).words,
    );
    expect(done).toMatchObject({ status: 'completed', remaining: 1 });
    await call('complete_todo', { todoId: b?.id, outcome: 'Done.' });
    expect(JSON.parse((await call('list_todo')).words)).toMatchObject({
      items: [],
      summary: { completed: 2 },
    });
    expect(
      JSON.parse((await call('todo_pause', { reason: 'Look at it.' })).words),
    ).toMatchObject({
      paused: true,
    });
  });

  it('T6: bad input is a sentence, and nothing of it is applied', async () => {
    const { call, request } = await initialize();
    const cases = [
      ['create_todo', { items: 'no' }, '"items" must be a list, got "no".'],
      ['create_todo', undefined, '"items" is missing: The todos to add, in order.'],
      [
        'create_todo',
        { items: [], session: 'x' },
        'There is no field "session" here; send items',
      ],
      [
        'complete_todo',
        { todoId: 'nope', outcome: 'x' },
        'There is no todo with the id "nope" in this plan',
      ],
      ['update_todo', { todoId: 7 }, '"todoId" must be a text, got 7.'],
    ] as const;
    for (const [name, input, sentence] of cases) {
      const { ok, words } = await call(name, input);
      expect({ ok, words }, name).toEqual({
        ok: false,
        words: expect.stringContaining(sentence),
      });
    }
    expect(await request('tools/call', { name: 'approve' })).toMatchObject({
      error: { message: 'Tool approve not found' },
    });
    expect(JSON.parse((await call('list_todo', { status: 'all' })).words)).toMatchObject({
      items: [],
    });
  });

  it('M7: offers tools and nothing else', async () => {
    const { request } = await initialize();
    expect((await request('resources/list')).error?.message).toBe('Method not found');
  });

  it('M7: the real process survives garbage, prints nothing but the protocol, and ends when the client closes its end', async () => {
    client = startProcess(home, cwd);
    for (const line of [
      'garbage {',
      '',
      '[]',
      'null',
      '{"jsonrpc":"2.0","id":77}',
      '\u0000\u0001',
      '"x"',
    ])
      client.send(line);
    const { request, send, call, end } = client;
    const params = {
      protocolVersion: '1999-01-01',
      capabilities: {},
      clientInfo: { name: 'wire test', version: '1' },
    };
    expect((await request('initialize', params)).result.protocolVersion).toMatch(/^20/);
    send('{"jsonrpc":"2.0","method":"notifications/nobody-knows"}');
    send('more garbage');
    expect((await request('tools/list')).result.tools.length).toBeGreaterThan(5);
    expect((await request('no/such-method')).error).toMatchObject({ code: -32601 });
    await call('create_todo', { items: [{ title: 'A' }] });
    expect(await end()).toBe(0);
    const store = await openStore();
    const [session] = await store.sessions({ host: 'mcp', limit: 5 });
    expect(session).toMatchObject({
      descriptor: { host: 'mcp', directory: realpathSync(cwd) },
      agent: { name: 'wire test' },
    });
    expect((await store.state(session?.id ?? ''))?.plan).toMatchObject([
      { status: 'pending' },
    ]);
    await store.close();
  });

  it('C1: a broken configuration is told on standard error, and the tools that were asked for work', async () => {
    mkdirSync(join(home, '.config/untildone'), { recursive: true });
    writeFileSync(
      join(home, '.config/untildone/untildone.json'),
      '{ "maxTodos": "many" }',
    );
    const { call, request, complaints } = await initialize(
      startProcess(home, cwd, '--tools', 'todo_pause,create_todo'),
    );
    expect((await call('create_todo', { items: [{ title: 'A' }] })).ok).toBe(true);
    const { tools } = (await request('tools/list')).result as {
      tools: { name: string }[];
    };
    expect(tools.map(({ name }) => name)).toEqual(['create_todo', 'todo_pause']);
    expect(complaints.join('')).toContain(
      'the configuration is broken, so the default settings are used here',
    );
  });

  it('V3: a check counts only if it was allowed when the session began, whatever the files say later', async () => {
    const checks = { unit: { command: ['true'] }, lint: { command: ['true'] } };
    const allowChecks = ['unit'];
    const { call } = await initialize(
      within(() => policyOf({ checks, allowChecks: [...allowChecks] })),
    );
    const create = (check: string) =>
      call('create_todo', { items: [{ title: `With ${check}`, check }] });
    expect((await create('unit')).ok).toBe(true);
    expect((await create('lint')).words).toContain('which no human allowed');
    allowChecks.push('lint');
    expect((await create('lint')).words).toContain('which no human allowed');
  });

  it('C2: a store that cannot be opened is a sentence in the result, and the server stays', async () => {
    writeFileSync(
      join(home, 'untildone.db'),
      'this is no database, and it is long enough to be looked at '.repeat(40),
    );
    const { request } = await initialize();
    const { result } = await request('tools/call', { name: 'list_todo', arguments: {} });
    expect(result).toMatchObject({ isError: true });
    expect(result.content[0].text).toContain(
      'list_todo could not be carried out and nothing changed.',
    );
    expect((await request('tools/list')).result.tools.length).toBeGreaterThan(5);
  });

  it('M7: a server that runs is bound through the store, and its next call works there', async () => {
    const { call } = await initialize();
    const { words, receipt } = await call('create_todo', { items: [{ title: 'A' }] });
    const store = await openStore();
    const identifiers = createIdentifiers();
    const policy = () => policyOf();
    const engine = createRuntime({
      store,
      clock: systemClock,
      identifiers,
      hash: sha256,
      policy,
    });
    await bindReceipt(store, engine, { receipt, sessionId: 'host-1', at: Date.now() });
    const { id } = JSON.parse(words).created[0];
    expect((await call('complete_todo', { todoId: id, outcome: 'Done.' })).ok).toBe(true);
    const state = await store.state('host-1');
    expect(countPlan(state?.plan ?? [])).toMatchObject({ completed: 1, pending: 0 });
    await store.close();
  });

  it('M7: the newer protocol gets the same tools and receipts', async () => {
    const { request, call } = connectModern();
    const { result } = await request('server/discover');
    expect(result).toMatchObject({ supportedVersions: ['2026-07-28'] });
    expect(Object.keys(result.capabilities)).toEqual(['tools']);
    expect((await request('tools/list')).result.tools).toHaveLength(
      todoToolsFor('agent').length,
    );
    const { receipt } = await call('create_todo', { items: [{ title: 'A' }] });
    expect(receipt).toMatch(/^udr_[0-9a-f]{32}$/);
    expect(JSON.parse((await call('list_todo')).words)).toMatchObject({
      items: [{ title: 'A' }],
    });
  });
});
