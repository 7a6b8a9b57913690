import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { storePath } from '../../store/state-directory.ts';

process.env['TZ'] = 'UTC';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
});

afterEach(() => bench.close());

function linesOf(text: string): string[] {
  return text.split('\n');
}

describe('plan and ledger', () => {
  it('T1: plan show lists the todos with marks, claims and reasons', async () => {
    await addStagnantSession(bench);
    expect(linesOf((await bench.run('plan', 'show')).out)).toEqual([
      'Plan of session alpha-0001 “Build the parser”: 4 todos: 2 claimed, not checked · 1 blocked · 1 open',
      '  1 [x] Write it  (claimed, not checked)',
      '         outcome: works',
      '  2 [x] Test it  (claimed, not checked)',
      '         outcome: works',
      '  3 [ ] Document it',
      '  4 [!] Publish it',
      '         because: needs a key',
      '',
    ]);
    const { todos } = JSON.parse((await bench.run('plan', 'show', '--json')).out);
    expect(todos.map(({ status }: { status: string }) => status)).toEqual([
      'completed',
      'completed',
      'pending',
      'blocked',
    ]);
  });

  it('V4: plan show tells dropped todos, priorities and failed checks', async () => {
    const host = await bench.host({
      sessionId: 'alpha-0001',
      checker: { run: async () => {} },
    });
    await host.open();
    await host.says('Work');
    await host.happens({
      type: 'todos-created',
      actor: 'agent',
      items: [
        {
          id: 't1',
          title: 'Checked',
          priority: 'high',
          checks: ['unit'],
          completionCriteria: 'tests pass',
        },
        { id: 't2', title: 'Forgotten' },
      ],
    });
    await host.completes('t1');
    await host.happens({
      type: 'check-finished',
      todoId: 't1',
      check: 'unit',
      result: 'failed',
      flaky: false,
      tail: 'expected 1\nto be 2',
      fingerprint: null,
      final: true,
      writes: null,
    });
    await host.happens({
      type: 'plan-written',
      actor: 'agent',
      items: [
        {
          id: 't1',
          content: 'Checked',
          status: 'in_progress',
          priority: 'high',
          freshId: 'f1',
        },
      ],
    });
    const { out } = await bench.run('plan', 'show');
    expect(out).toContain(
      '  1 [>] Checked  (high, check failed by unit)\n         done when: tests pass\n',
    );
    expect(out).toContain('         failed with: expected 1 to be 2\n');
    expect(out).toContain('  2 [ ] Forgotten  (dropped from the list)');
  });

  it('V4: plan log tells who did what when', async () => {
    await addStagnantSession(bench);
    expect(linesOf((await bench.run('plan', 'log')).out)).toEqual([
      'Plan of session alpha-0001 “Build the parser”: 7 changes',
      '     1  2027-01-15 08:00:00  agent (scripted) added “Write it”',
      '     2  2027-01-15 08:00:00  agent (scripted) added “Test it”',
      '     3  2027-01-15 08:00:00  agent (scripted) added “Document it”',
      '     4  2027-01-15 08:00:00  agent (scripted) added “Publish it”',
      '     5  2027-01-15 08:00:00  agent (scripted) completed “Write it”: outcome works',
      '     6  2027-01-15 08:00:05  agent (scripted) completed “Test it”: outcome works',
      '     7  2027-01-15 08:00:10  agent (scripted) blocked “Publish it”: reason needs a key',
      '',
    ]);
  });

  it('door: after new words of a human plan log still shows what came before', async () => {
    const host = await bench.host({
      sessionId: 'alpha-0001',
      settings: { scope: 'turn' },
    });
    await host.open();
    await host.says('Build the parser');
    const [todo = ''] = await host.plans('Write it');
    await host.completes(todo, 'works');
    await host.stops();
    await bench.clock.advance(5000);
    await host.says('Now write the documentation of the whole project');
    const { out } = await bench.run('plan', 'log');
    expect(out).toMatch(
      /^Plan of your message of 2027-01-15 08:00:00: 2 changes\n {5}1 {2}2027.* added “Write it”\n/u,
    );
    expect(out).toContain(
      'Plan of session alpha-0001 “Build the parser”: 0 changes since your last message\n',
    );
    const json = JSON.parse((await bench.run('plan', 'log', '--json')).out);
    expect(json.entries).toEqual([]);
    expect(json.earlier[0]).toMatchObject({ entries: { length: 2 } });
  });

  it('14: run, plan show and status tell one story: what a goal check covers is checked', async () => {
    const host = await bench.host({ sessionId: 'alpha-0001' });
    await host.open();
    await host.says('Work');
    const [todo = ''] = await host.plans('Write it');
    await host.works();
    await host.completes(todo);
    await host.stops();
    expect((await bench.run('plan', 'show')).out).toContain(
      '1 todo: 1 claimed, not checked\n',
    );
    const store = await bench.store();
    const settled = {
      outcome: 'done',
      reason: 'nothing-open',
      at: bench.clock.now(),
    } as const;
    await store.step('alpha-0001', ({ state }) =>
      state === null ? { result: null } : { result: null, state: { ...state, settled } },
    );
    const told = '1 todo: 1 checked by the goal check';
    expect((await bench.run('plan', 'show')).out).toBe(
      `Plan of session alpha-0001 “Work”: ${told}\n  1 [x] Write it  (checked by the goal check)\n         outcome: done\n`,
    );
    expect((await bench.run('status')).out).toContain(
      `  plan     ${told}\n  state    ended: done\n`,
    );
    expect(
      JSON.parse((await bench.run('plan', 'show', '--json')).out).todos[0].standing,
    ).toBe('covered');
  });

  it('V4: ledger verify says intact, or names the first broken link and exits 1', async () => {
    await addStagnantSession(bench);
    const intact = await bench.run('ledger', 'verify', '--all');
    expect(intact).toMatchObject({
      code: 0,
      out: expect.stringContaining(
        '  intact  alpha-0001 “Build the parser”: 7 changes, last hash ',
      ),
    });
    tamper(
      "UPDATE ledger SET body = replace(body, 'Test it', 'Skip it') WHERE sequence = 2",
    );
    expect(await bench.run('ledger', 'verify')).toEqual({
      code: 1,
      out: 'The history of 1 of 1 plan does not fit:\n  BROKEN  alpha-0001 “Build the parser”: entry 2 was changed after it was written\n',
      err: '',
    });
    tamper("UPDATE ledger SET body = 'not json' WHERE sequence = 2");
    const unreadable = await bench.run('ledger', 'verify', '--all', '--json');
    expect(unreadable.code).toBe(1);
    expect(JSON.parse(unreadable.out)).toMatchObject({
      intact: false,
      plans: [{ plan: 'alpha-0001', intact: false }],
    });
  });

  it('V4: in turn scope every turn has its own chain, and all are walked', async () => {
    const host = await bench.host({
      sessionId: 'alpha-0001',
      settings: { scope: 'turn' },
    });
    await host.open();
    for (const word of ['one', 'two']) {
      await host.says(word);
      const [todo = ''] = await host.plans(`Do ${word}`);
      await host.works();
      await host.completes(todo);
      await host.stops();
    }
    tamper("UPDATE ledger SET body = replace(body, 'Do one', 'Do 1')");
    const { code, out } = await bench.run('ledger', 'verify');
    expect(code).toBe(1);
    expect(out).toMatch(/BROKEN {2}alpha-0001 “one”, plan id-\d+: entry 1 was changed/);
    expect(out).toMatch(/intact {2}alpha-0001 “one”, plan id-\d+: 2 changes/);
  });
});

function tamper(sql: string): void {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const database = new DatabaseSync(storePath(bench.env));
  database.exec(sql);
  database.close();
}
