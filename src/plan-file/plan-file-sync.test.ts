import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { createSyncBench, type SyncBench } from '../../test/support/sync-bench.ts';
import type { Checker } from '../engine/host.ts';
import {
  createFileMemory,
  type PlanFileSyncOptions,
  type SyncReport,
} from './plan-file-sync.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'untildone-plan-sync-'));
  path = join(folder, 'PLAN.md');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (...lines: string[]): void => writeFileSync(path, `${lines.join('\n')}\n`);
const lines = (): string[] => readFileSync(path, 'utf8').trimEnd().split('\n');

function open(
  options: Partial<PlanFileSyncOptions> & { readonly checker?: Checker } = {},
): SyncBench {
  return createSyncBench(path, createMemoryStore(), options);
}

async function synced(bench: SyncBench): Promise<Extract<SyncReport, { ok: true }>> {
  const report = await bench.sync.sync();
  if (!report.ok) throw new Error(JSON.stringify(report.problems));
  return report;
}

async function shown(bench: SyncBench): Promise<string[]> {
  return (await bench.todos()).map(
    ({ title, status, droppedAt }) =>
      `${title}: ${droppedAt === null ? status : 'dropped'}`,
  );
}

async function idOf(bench: SyncBench, title: string): Promise<string> {
  return (await bench.todos()).find((todo) => todo.title === title)?.id ?? '';
}

async function completes(bench: SyncBench, title: string): Promise<void> {
  const todoId = await idOf(bench, title);
  await bench.happens({
    type: 'todo-completed',
    actor: 'agent',
    todoId,
    status: 'completed',
    outcome: 'done',
  });
}

describe('file → plan', () => {
  it('T1: a first import makes todos of the actor file, with priorities, context, checks and reasons', async () => {
    write(
      '- [ ] One !high',
      '  check: npm test',
      '  - [x] Two',
      '- [ ] Three',
      '  blocked: needs a key',
    );
    const bench = open();
    expect(await synced(bench)).toMatchObject({
      created: 3,
      boxes: 0,
      withoutLine: 0,
      notices: [],
    });
    expect(await bench.todos()).toMatchObject([
      {
        title: 'One',
        status: 'pending',
        priority: 'high',
        checks: ['$ npm test'],
        context: null,
      },
      {
        title: 'Two',
        status: 'completed',
        verification: 'claimed',
        priority: 'medium',
        context: 'One',
      },
      { title: 'Three', status: 'blocked', reason: 'needs a key' },
    ]);
  });

  it('V1: a tick is a claim that its checks must pass; a failing check empties the box again', async () => {
    let result: 'passed' | 'failed' = 'failed';
    const checker: Checker = {
      run: async (session, { checks }, report) => {
        for (const { todoId, check } of checks) {
          const id = `${todoId}-${session.updatedAt}`;
          const seen = {
            todoId,
            check,
            result,
            flaky: false,
            tail: 'no',
            fingerprint: null,
            final: true,
            writes: null,
          };
          await report({
            type: 'check-finished',
            id,
            sessionId: session.id,
            at: session.updatedAt,
            ...seen,
          });
        }
      },
    };
    write('- [ ] One', '  check: unit');
    const bench = open({ checker });
    await synced(bench);
    write('- [x] One', '  check: unit');
    await (await synced(bench)).checks;
    expect(await bench.todos()).toMatchObject([
      { status: 'in_progress', verification: 'failed' },
    ]);
    await synced(bench);
    expect(lines()[0]).toBe('- [ ] One');
    result = 'passed';
    write('- [x] One', '  check: unit');
    await (await synced(bench)).checks;
    expect(await bench.todos()).toMatchObject([
      { status: 'completed', verification: 'passed', outcome: 'ticked in PLAN.md' },
    ]);
  });

  it('T2: a tick taken out reopens, a reworded line keeps its todo, an edited priority is taken over', async () => {
    write('- [x] Write the parser', '- [ ] Test the parser', '- [ ] Ship it !low');
    const bench = open();
    await synced(bench);
    const before = await bench.todos();
    write('- [ ] Write the parser', '- [ ] Test the parser again', '- [ ] Ship it');
    expect(await synced(bench)).toMatchObject({ created: 0, dropped: 0, changed: 3 });
    expect(await bench.todos()).toMatchObject([
      { id: before[0]?.id, status: 'pending', completedAt: null },
      { id: before[1]?.id, title: 'Test the parser again' },
      { id: before[2]?.id, priority: 'medium' },
    ]);
  });

  it('V4: a line that is gone drops its todo; put back it is restored; left out after it was named it is settled', async () => {
    write('- [ ] One', '- [ ] Two', '- [ ] Three');
    const bench = open();
    await synced(bench);
    write('- [ ] One');
    expect(await synced(bench)).toMatchObject({ dropped: 2 });
    expect(await shown(bench)).toEqual([
      'One: pending',
      'Two: dropped',
      'Three: dropped',
    ]);
    write('- [ ] One', '- [ ] Two');
    expect(await synced(bench)).toMatchObject({ created: 0, dropped: 0 });
    expect(await shown(bench)).toEqual([
      'One: pending',
      'Two: pending',
      'Three: dropped',
    ]);
    await bench.happens({
      type: 'session-opened',
      descriptor: workingHost,
      agent: writer,
    });
    const stop = {
      end: 'normal',
      question: false,
      fingerprint: null,
      background: null,
      toolError: null,
    } as const;
    const { decision } = await bench.happens({ type: 'stop-attempted', ...stop });
    expect(decision).toMatchObject({ answer: 'continue', textKind: 'dropped-todos' });
    write('- [ ] One', '- [ ] Two', '', 'another edit');
    expect(await synced(bench)).toMatchObject({ dropped: 1 });
    expect(await bench.todos()).toMatchObject([
      {},
      {},
      { status: 'cancelled', reason: null },
    ]);
  });

  it('V4: a line that stays out of an unchanged file is settled before a stop attempt, and not while work goes on', async () => {
    write('- [ ] One', '- [ ] Two');
    const bench = open();
    await synced(bench);
    write('- [ ] One');
    await bench.sync.settle();
    await bench.happens({
      type: 'session-opened',
      descriptor: workingHost,
      agent: writer,
    });
    await bench.sync.settle();
    expect(await shown(bench)).toEqual(['One: pending', 'Two: dropped']);
    const stop = {
      end: 'normal',
      question: false,
      fingerprint: null,
      background: null,
      toolError: null,
    } as const;
    await bench.happens({ type: 'stop-attempted', ...stop });
    await synced(bench);
    expect(await shown(bench)).toEqual(['One: pending', 'Two: dropped']);
    expect(await bench.sync.settle()).toMatchObject({ ok: true, dropped: 1 });
    expect(await bench.todos()).toMatchObject([
      {},
      { status: 'cancelled', reason: null },
    ]);
    expect(await bench.sync.settle()).toMatchObject({ ok: true, dropped: 0 });
  });

  it('T1: a new line takes its place between the todos of its neighbours', async () => {
    write('- [ ] One', '- [ ] Four');
    const bench = open();
    await synced(bench);
    await bench.happens({
      type: 'todos-created',
      actor: 'agent',
      items: [{ id: 'own', title: 'Own' }],
    });
    write(
      '- [ ] Zero',
      '- [ ] One',
      '- [ ] Two',
      '- [ ] Three',
      '- [ ] Four',
      '- [ ] Five',
    );
    await synced(bench);
    expect((await bench.todos()).map(({ title }) => title)).toEqual([
      'Zero',
      'One',
      'Two',
      'Three',
      'Four',
      'Five',
      'Own',
    ]);
  });

  it('V4: todos that the agent added itself are left alone by the file', async () => {
    write('- [ ] One');
    const bench = open();
    await synced(bench);
    await bench.happens({
      type: 'todos-created',
      actor: 'agent',
      items: [{ id: 'own', title: 'Own' }],
    });
    write('- [ ] One', '- [ ] Two');
    expect(await synced(bench)).toMatchObject({ created: 1, dropped: 0, withoutLine: 1 });
    expect(await shown(bench)).toContain('Own: pending');
  });

  it('T6: what the plan refuses is told, and the rest applies', async () => {
    write(`- [ ] ${'x'.repeat(5000)}`, '- [ ] Two');
    const bench = open();
    const report = await synced(bench);
    expect(report.created).toBe(1);
    expect(report.notices).toEqual([expect.stringContaining('at most 4096 are allowed')]);
    expect((await synced(bench)).boxes).toBe(0);
  });

  it('T6: a file that cannot be read changes nothing, and says why', async () => {
    write('- [ ] One');
    const bench = open();
    await synced(bench);
    write('---', 'checks: [', '---', '- [ ] Two');
    expect(await bench.sync.sync()).toMatchObject({
      ok: false,
      problems: [expect.stringMatching(/^line 3: /)],
    });
    rmSync(path);
    expect(await bench.sync.sync()).toEqual({
      ok: false,
      problems: ['the file cannot be read (ENOENT)'],
    });
    expect(await shown(bench)).toEqual(['One: pending']);
  });
});

describe('what an agent gains by editing the file', () => {
  it('V3: a check that no human allowed is left out of a new todo and told', async () => {
    write('- [ ] One', '  check: unit', '  check: rm -rf .');
    const bench = open({ allowedId: (check) => (check === 'unit' ? check : null) });
    expect((await synced(bench)).notices).toEqual([
      expect.stringContaining('line 1: a check that you did not allow'),
    ]);
    expect((await bench.todos())[0]?.checks).toEqual(['unit']);
  });

  it('V2: taking a check away, or changing it, changes no todo and is told', async () => {
    write('- [ ] One', '  check: unit', '- [ ] Two');
    const bench = open();
    await synced(bench);
    write('- [ ] One', '- [ ] Two', '  check: true');
    expect((await synced(bench)).notices).toEqual([
      expect.stringContaining('line 1: the checks of a todo'),
      expect.stringContaining('line 2: the checks of a todo'),
    ]);
    expect((await bench.todos()).map(({ checks }) => checks)).toEqual([['unit'], []]);
  });
});

describe('plan → file', () => {
  it('V1: writes the boxes of what was completed and reopened, and nothing for what a box cannot say', async () => {
    write(
      '# Plan',
      '',
      '* [ ] One',
      '* [X] Two',
      '* [ ] Three',
      '* [ ] Four',
      '',
      'The end.',
    );
    const bench = open();
    await synced(bench);
    await completes(bench, 'One');
    const update = async (title: string, changes: object): Promise<void> => {
      await bench.happens({
        type: 'todo-updated',
        actor: 'agent',
        todoId: await idOf(bench, title),
        changes,
      });
    };
    await update('Two', { status: 'in_progress' });
    await update('Three', { status: 'blocked', reason: 'a key' });
    await update('Four', { status: 'cancelled', reason: 'not needed' });
    expect(await synced(bench)).toMatchObject({ boxes: 2, changed: 0 });
    expect(lines()).toEqual([
      '# Plan',
      '',
      '* [x] One',
      '* [ ] Two',
      '* [ ] Three',
      '* [ ] Four',
      '',
      'The end.',
    ]);
  });

  it('V1: its own writing is no change: the next call does nothing, in this process and in another', async () => {
    write('- [ ] One', '- [ ] Two');
    const memory = createFileMemory(folder, path, 'session-1');
    const bench = open({ memory });
    await synced(bench);
    await completes(bench, 'One');
    expect(await synced(bench)).toMatchObject({ boxes: 1 });
    const still = { created: 0, changed: 0, dropped: 0, boxes: 0 };
    expect(await synced(bench)).toMatchObject(still);
    expect(await bench.again().sync()).toMatchObject(still);
    expect(
      await bench.again({ memory: createFileMemory(folder, path, 'another') }).sync(),
    ).toMatchObject(still);
  });

  it('V1: a tick taken out while nobody looked reopens in the next process, since the last reading is kept', async () => {
    write('- [x] One');
    const memory = createFileMemory(folder, path, 'session-1');
    const bench = open({ memory });
    await synced(bench);
    write('- [ ] One');
    expect(await bench.again().sync()).toMatchObject({ changed: 1, boxes: 0 });
    expect(await shown(bench)).toEqual(['One: pending']);
  });

  it('V1: without a last reading an empty box reopens nothing: the plan is right, and the box is ticked', async () => {
    write('- [ ] One', '- [x] Two');
    const bench = open();
    await bench.happens({
      type: 'todos-created',
      actor: 'agent',
      items: [
        { id: 'one', title: 'one' },
        { id: 'two', title: 'Two.' },
      ],
    });
    await bench.happens({
      type: 'todo-completed',
      actor: 'agent',
      todoId: 'one',
      status: 'completed',
      outcome: 'x',
    });
    expect(await synced(bench)).toMatchObject({ created: 0, changed: 1, boxes: 1 });
    expect(await shown(bench)).toEqual(['one: completed', 'Two.: completed']);
    expect(lines()).toEqual(['- [x] One', '- [x] Two']);
  });

  it("V1: a human's edit between reading and writing is kept, and the boxes are written into it", async () => {
    write('- [ ] One', '- [ ] Two');
    let edits = 0;
    const bench = open({
      beforeReplace: () => {
        edits += 1;
        if (edits === 1)
          write('A new first line.', '', '- [ ] Two', '- [ ] One', '- [ ] New');
      },
    });
    await synced(bench);
    await completes(bench, 'One');
    expect(await synced(bench)).toMatchObject({ created: 1, boxes: 1 });
    expect(lines()).toEqual([
      'A new first line.',
      '',
      '- [ ] Two',
      '- [x] One',
      '- [ ] New',
    ]);
  });

  it('V1: somebody who never stops writing wins, and is told', async () => {
    write('- [ ] One');
    let edits = 0;
    const bench = open({
      beforeReplace: () => {
        edits += 1;
        write(`${edits}`, '', '- [ ] One');
      },
    });
    await synced(bench);
    await completes(bench, 'One');
    expect(await synced(bench)).toMatchObject({
      boxes: 0,
      notices: [expect.stringContaining('keeps changing')],
    });
    expect(lines()).toEqual(['5', '', '- [ ] One']);
  });

  it('V1: pushing alone leaves boxes that somebody changed since, and the next pull still sees them', async () => {
    write('- [ ] One', '- [x] Two', '- [ ] Three');
    const bench = open();
    await synced(bench);
    await completes(bench, 'Three');
    write('- [x] One', '- [ ] Two', '- [ ] Three');
    expect(await bench.sync.push()).toMatchObject({ boxes: 1 });
    expect(lines()).toEqual(['- [x] One', '- [ ] Two', '- [x] Three']);
    expect(await shown(bench)).toEqual([
      'One: pending',
      'Two: completed',
      'Three: completed',
    ]);
    await synced(bench);
    expect(await shown(bench)).toEqual([
      'One: completed',
      'Two: pending',
      'Three: completed',
    ]);
  });

  it('V5: after a crash between the write and its record, the file itself tells what was written', async () => {
    write('- [ ] One');
    const kept = createFileMemory(folder, path, 'session-1');
    const saves: number[] = [];
    const memory = {
      load: kept.load,
      save: async (known: Parameters<typeof kept.save>[0]) => {
        saves.push(known.length);
        // The process dies right after the rename: what would be recorded then is lost.
        if (saves.length < 3) await kept.save(known);
      },
    };
    const bench = open({ memory });
    await synced(bench);
    await completes(bench, 'One');
    await synced(bench);
    expect(saves).toEqual([1, 2, 1]);
    await bench.happens({
      type: 'todo-updated',
      actor: 'agent',
      todoId: await idOf(bench, 'One'),
      changes: { status: 'in_progress' },
    });
    expect(await bench.again({ memory: kept }).sync()).toMatchObject({
      changed: 0,
      boxes: 1,
    });
    expect(await shown(bench)).toEqual(['One: in_progress']);
    expect(lines()).toEqual(['- [ ] One']);
  });

  it('V1: calls take turns', async () => {
    write('- [ ] One', '- [ ] Two');
    const bench = open();
    const reports = await Promise.all([
      bench.sync.sync(),
      bench.sync.sync(),
      bench.sync.pull(),
    ]);
    expect(reports.map((report) => report.ok && report.created)).toEqual([2, 0, 0]);
  });

  it('V1: a damaged memory is as good as none', async () => {
    write('- [ ] One');
    const bench = open({
      memory: { load: createFileMemory(folder, path, 'x').load, save: async () => {} },
    });
    await synced(bench);
    writeFileSync(join(folder, 'plan-files'), 'no folder');
    expect(
      await bench.again({ memory: createFileMemory(folder, path, 'x') }).sync(),
    ).toMatchObject({
      created: 0,
      boxes: 0,
    });
  });
});

const workingHost = {
  ...({
    host: 'scripted',
    instance: 'one',
    mode: 'asked',
    kind: 'main',
    parentId: null,
    directory: null,
  } as const),
  headless: false,
  immediate: false,
  everyAgentWrites: true,
  seesTools: true,
  tools: { pause: null, verify: null },
};
const writer = { name: 'build', canWrite: 'yes', model: null, variant: null } as const;
