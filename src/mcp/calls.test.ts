import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { createMcpBench, titles } from '../../test/support/mcp-bench.ts';
import type { Settings } from '../core/settings.ts';
import { countPlan } from '../core/state.ts';
import type { Store } from '../engine/store.ts';
import { createSimulatedClock } from '../simulated/simulated-clock.ts';
import { bindReceipt } from './receipts.ts';

function openBench(settings: Partial<Settings> = {}) {
  const clock = createSimulatedClock();
  return { clock, ...createMcpBench(clock, settings) };
}

async function placesOf(
  bench: ReturnType<typeof openBench>,
  receipt: string,
): Promise<string[]> {
  const server = receipt.slice(4, 20);
  const found: string[] = [];
  for (let index = 0; ; index += 1) {
    const text = await bench.store.policy(`mcp server ${server} place ${index}`);
    if (text === null) return found;
    found.push((JSON.parse(text) as { sessionId: string }).sessionId);
  }
}

describe('a server without a host that binds it', () => {
  it('M7: works in a session of its own that people can find', async () => {
    const bench = openBench();
    await bench.create('Write the parser');
    const place = await bench.session.find();
    const session = await bench.sessionOf(place?.sessionId ?? '');
    expect(countPlan(session?.plan ?? [])).toMatchObject({ pending: 1 });
    expect(session).toMatchObject({
      id: expect.stringMatching(/^mcp-[0-9a-f-]{36}$/),
      descriptor: { host: 'mcp', kind: 'main', directory: '/workspace' },
      agent: { name: 'test client' },
      deleted: false,
    });
    expect(session?.policyHash).not.toBeNull();
  });

  it('M1: calls at the same time open one session, and each has a receipt of its own', async () => {
    const bench = openBench();
    const calls = await Promise.all(
      ['A', 'B', 'C', 'D'].map((title) => bench.create(title)),
    );
    const receipts = calls.map(({ receipt }) => receipt);
    expect(new Set(receipts).size).toBe(4);
    expect(receipts.every((receipt) => /^udr_[0-9a-f]{32}$/.test(receipt))).toBe(true);
    expect(await placesOf(bench, receipts[0] ?? '')).toHaveLength(1);
    expect(await bench.plan((await bench.session.find())?.sessionId ?? '')).toHaveLength(
      4,
    );
  });

  it('M1: two server processes never share a plan', async () => {
    const bench = openBench();
    const other = bench.startServer();
    await bench.create('Mine');
    await other.create('Theirs');
    const { output } = await other.call('list_todo', {});
    expect(output['items']).toMatchObject([{ title: 'Theirs' }]);
  });
});

describe('binding a receipt', () => {
  it('M7: the plan moves into the session of the host, and the ids that the model knows go on working', async () => {
    const bench = openBench();
    const { ids, receipt } = await bench.create('Write the parser', 'Test it');
    const own = (await bench.session.find())?.sessionId ?? '';
    await bench.bind(receipt, 'host-1');
    expect(titles(await bench.plan('host-1'))).toEqual([
      'pending Write the parser',
      'pending Test it',
    ]);
    expect(await bench.sessionOf(own)).toMatchObject({ deleted: true });
    const done = await bench.call('complete_todo', {
      todoId: ids[0],
      outcome: 'Written and read.',
    });
    expect(done).toMatchObject({
      ok: true,
      output: { status: 'completed', remaining: 1 },
    });
    const written = await bench.call('todo_write', {
      todos: [
        { id: ids[0], content: 'Write the parser', status: 'completed' },
        { id: ids[1], content: 'Test it well', status: 'in_progress' },
      ],
    });
    expect(written.ok).toBe(true);
    expect(titles(await bench.plan('host-1'))).toEqual([
      'completed Write the parser',
      'in_progress Test it well',
    ]);
  });

  it('M7: from then on calls go to the session of the host directly', async () => {
    const bench = openBench();
    await bench.bind((await bench.create('First')).receipt, 'host-1');
    const { receipt } = await bench.create('Second');
    expect(titles(await bench.plan('host-1'))).toEqual([
      'pending First',
      'pending Second',
    ]);
    await bench.bind(receipt, 'host-1');
    expect(await placesOf(bench, receipt)).toHaveLength(2);
  });

  it('M7: a call that was made in the session of the host needs no write', async () => {
    const bench = openBench();
    await bench.bind((await bench.create('First')).receipt, 'host-1');
    const { receipt } = await bench.create('Second');
    const write = () => Promise.reject(new Error('a write'));
    const writes = { step: write, append: write, record: write };
    const readOnly: Store = Object.assign(Object.create(bench.store), writes);
    await bindReceipt(
      readOnly,
      { handle: write },
      { receipt, sessionId: 'host-1', at: bench.clock.now() },
    );
  });

  it('M7: what a hook bundles for it holds no package', async () => {
    const entry = fileURLToPath(new URL('./receipts.ts', import.meta.url));
    const { metafile } = await build({
      entryPoints: [entry],
      bundle: true,
      write: false,
      metafile: true,
      platform: 'node',
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.filter((path) => path.includes('node_modules'))).toEqual([]);
    expect(inputs.some((path) => path.endsWith('src/mcp/receipts.ts'))).toBe(true);
  });

  it('M7: a hundred calls cost two rows, not a hundred', async () => {
    const bench = openBench();
    let last = '';
    for (let count = 0; count < 100; count += 1) {
      last = (await bench.call('list_todo', {})).receipt;
      await bench.bind(last, 'host-1');
    }
    expect(await placesOf(bench, last)).toHaveLength(2);
  });

  it('M5: a todo that is open there under the same title is the same todo, and its old id works', async () => {
    const bench = openBench();
    await bench.hostCreates('host-1', '1', 'write the parser.');
    const { ids, receipt } = await bench.create('Write the parser', 'Test it');
    await bench.call('update_todo', { todoId: ids[0], status: 'in_progress' });
    await bench.bind(receipt, 'host-1');
    expect(titles(await bench.plan('host-1'))).toEqual([
      'in_progress write the parser.',
      'pending Test it',
    ]);
    const done = await bench.call('complete_todo', {
      todoId: ids[0],
      outcome: 'Written.',
    });
    expect(done.ok).toBe(true);
    const again = await bench.call('complete_todo', {
      todoId: ids[0],
      outcome: 'Written.',
    });
    expect(again.text).toContain('is already completed');
    await bench.bind(receipt, 'host-1');
    expect(titles(await bench.plan('host-1'))).toEqual([
      'completed write the parser.',
      'pending Test it',
    ]);
  });

  it('M5: a claim made before the binding reaches that same todo, and no second receipt doubles it', async () => {
    const bench = openBench();
    await bench.hostCreates('host-1', '1', 'Write the parser');
    const { ids, receipt } = await bench.create('Write the parser');
    await bench.call('complete_todo', { todoId: ids[0], outcome: 'Written.' });
    await bench.bind(receipt, 'host-1');
    await bench.bind(receipt, 'host-1');
    expect(await bench.plan('host-1')).toMatchObject([
      { hostKey: '1', status: 'completed', outcome: 'Written.' },
    ]);
  });

  it('M8: a first look at a plan that the host keeps says to look once more, and then sees it', async () => {
    const bench = openBench();
    await bench.hostCreates('host-1', '1', 'Write the parser');
    const first = await bench.call('list_todo', {});
    expect(first.output['items']).toEqual([]);
    expect(first.text).toContain('call it once more');
    await bench.bind(first.receipt, 'host-1');
    const second = await bench.call('list_todo', {});
    expect(second.output['items']).toMatchObject([{ title: 'Write the parser' }]);
    expect(second.text).not.toContain('call it once more');
    const third = await bench
      .startServer()
      .call('create_todo', { items: [{ title: 'A' }] });
    expect(third.text).not.toContain('call it once more');
  });

  it('T2: status, outcome and reason come along', async () => {
    const bench = openBench();
    const { ids, receipt } = await bench.create('Done', 'Stuck', 'Given up', 'Under way');
    await bench.call('complete_todo', { todoId: ids[0], outcome: 'It is done.' });
    await bench.call('update_todo', {
      todoId: ids[1],
      status: 'blocked',
      reason: 'No key.',
    });
    await bench.call('complete_todo', {
      todoId: ids[2],
      outcome: 'Not needed.',
      status: 'cancelled',
    });
    await bench.call('update_todo', { todoId: ids[3], status: 'in_progress' });
    await bench.bind(receipt, 'host-1');
    expect(await bench.plan('host-1')).toMatchObject([
      { status: 'completed', outcome: 'It is done.' },
      { status: 'blocked', reason: 'No key.' },
      { status: 'cancelled', reason: 'Not needed.' },
      { status: 'in_progress' },
    ]);
  });

  it('V5: binding twice, in parallel and after more calls doubles nothing', async () => {
    const bench = openBench();
    await bench.hostCreates('host-1', '1', 'A');
    const [one, two] = await Promise.all([bench.create('A'), bench.create('B')]);
    await bench.call('complete_todo', { todoId: two.ids[0], outcome: 'Done.' });
    await Promise.all(
      [one, two, one].map(({ receipt }) => bench.bind(receipt, 'host-1')),
    );
    await bench.call('complete_todo', { todoId: one.ids[0], outcome: 'Done.' });
    await bench.bind(two.receipt, 'host-1');
    await bench.bind(one.receipt, 'host-1');
    expect(titles(await bench.plan('host-1'))).toEqual(['completed A', 'completed B']);
    expect(await placesOf(bench, one.receipt)).toHaveLength(2);
  });

  it('V5: a call that was under way while another one was bound is not lost', async () => {
    const bench = openBench();
    const first = await bench.create('A');
    const { ids } = await bench.create('B');
    const own = (await bench.session.find())?.sessionId ?? '';
    await bench.bind(first.receipt, 'host-1');
    // It looked for its session before the binding and wrote after it.
    await bench.hostCreates(own, 'late', 'C');
    await bench.bind(first.receipt, 'host-1');
    expect(titles(await bench.plan('host-1'))).toEqual([
      'pending A',
      'pending B',
      'pending C',
    ]);
    expect(
      (await bench.call('complete_todo', { todoId: ids[0], outcome: 'Done.' })).ok,
    ).toBe(true);
  });

  it('M6: a pause comes along once, and the next message of the human lifts it for good', async () => {
    const bench = openBench();
    const { receipt } = await bench.call('todo_pause', { reason: 'I need a key.' });
    await bench.bind(receipt, 'host-1');
    expect(await bench.sessionOf('host-1')).toMatchObject({
      pause: { by: 'model', reason: 'I need a key.' },
    });
    await bench.humanSays('host-1', 'Here it is.');
    await bench.bind(receipt, 'host-1');
    expect(await bench.sessionOf('host-1')).toMatchObject({ pause: null });
  });

  it.each([
    '',
    'udr_',
    'udr_0123',
    `udr_${'0'.repeat(32)}`,
    `udr_${'z'.repeat(32)}`,
    'x'.repeat(40),
  ])('M7: the unknown receipt %j changes nothing', async (receipt) => {
    const bench = openBench();
    await bench.create('A');
    await bench.bind(receipt, 'host-1');
    expect(await bench.sessionOf('host-1')).toBeNull();
    expect((await bench.session.find())?.provisional).toBe(true);
  });

  it('T6: where the plan of the host is full, nothing moves and nothing is lost', async () => {
    const bench = openBench({ maxTodos: 2 });
    await bench.hostCreates('host-1', '1', 'X');
    const { receipt } = await bench.create('A', 'B');
    await bench.bind(receipt, 'host-1');
    expect(titles(await bench.plan('host-1'))).toEqual(['pending X']);
    const { output } = await bench.call('list_todo', {});
    expect(output['items']).toMatchObject([{ title: 'A' }, { title: 'B' }]);
  });
});

describe('one server process, one host session after the other', () => {
  it('G6: after the end of the first one nothing lands in its plan and nothing of it is shown', async () => {
    const bench = openBench();
    await bench.bind((await bench.create('Old work')).receipt, 'host-1');
    await bench.closed('host-1');
    expect((await bench.call('todo_read', {})).output['todos']).toEqual([]);
    const { receipt } = await bench.call('todo_write', {
      todos: [{ content: 'New work', status: 'pending' }],
    });
    await bench.bind(receipt, 'host-2');
    expect(titles(await bench.plan('host-1'))).toEqual(['pending Old work']);
    expect(titles(await bench.plan('host-2'))).toEqual(['pending New work']);
    await bench.create('More of it');
    expect(titles(await bench.plan('host-2'))).toEqual([
      'pending New work',
      'pending More of it',
    ]);
  });

  it('G6: a session that was closed and in which a human spoke again is gone on with', async () => {
    const bench = openBench();
    await bench.bind((await bench.create('A')).receipt, 'host-1');
    await bench.closed('host-1');
    await bench.clock.advance(1000);
    await bench.humanSays('host-1', 'Go on.');
    await bench.create('B');
    expect(titles(await bench.plan('host-1'))).toEqual(['pending A', 'pending B']);
  });

  it('G6: where the end was not seen, the first receipt moves what its call created, and only that', async () => {
    const bench = openBench();
    await bench.bind((await bench.create('Old work')).receipt, 'host-1');
    const { ids, receipt } = await bench.create('New work');
    await bench.bind(receipt, 'host-2');
    expect(titles(await bench.plan('host-1'))).toEqual([
      'pending Old work',
      'cancelled New work',
    ]);
    expect(titles(await bench.plan('host-2'))).toEqual(['pending New work']);
    expect(await bench.sessionOf('host-1')).toMatchObject({ deleted: false });
    await bench.bind(receipt, 'host-2');
    expect(
      (await bench.call('complete_todo', { todoId: ids[0], outcome: 'Done.' })).ok,
    ).toBe(true);
    expect(titles(await bench.plan('host-2'))).toEqual(['completed New work']);
  });

  it('G6: a receipt of another server process binds that one and not this one', async () => {
    const bench = openBench();
    const other = bench.startServer();
    const mine = await bench.create('Mine');
    const theirs = await other.create('Theirs');
    await bench.bind(theirs.receipt, 'host-2');
    await bench.bind(mine.receipt, 'host-1');
    expect(titles(await bench.plan('host-1'))).toEqual(['pending Mine']);
    expect(titles(await bench.plan('host-2'))).toEqual(['pending Theirs']);
  });
});
