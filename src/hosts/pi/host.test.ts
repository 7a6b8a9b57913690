// The extension in a fake pi: the countdown, headless stops, the human's keys and words,
// and failures.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startFakePi } from '../../../test/conformance/fake-pi.ts';
import { makeOlderStore, olderStoreSentence } from '../../../test/support/older-store.ts';
import { createPiCase, sessionId } from '../../../test/support/pi-case.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';

type Case = Awaited<ReturnType<typeof createPiCase>>;
const started: Case[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.close();
});

async function start(...given: Parameters<typeof createPiCase>): Promise<Case> {
  const one = await createPiCase(...given);
  started.push(one);
  return one;
}

/** The agent has planned two todos and says that it is done. */
async function stopped(...given: Parameters<typeof createPiCase>): Promise<Case> {
  const one = await start(...given);
  await one.plans('first', 'second');
  await one.pi.answers('All done!');
  if (given[0]?.headless !== true) await one.settle();
  return one;
}

it('V12: commands of the agent are told whose session they belong to', async () => {
  const { environment } = await start();
  expect(environment).toMatchObject({ UNTILDONE_AGENT_SESSION: sessionId });
});

describe('a session that stays', () => {
  it('E1: the status line counts down, then the next todo is named', async () => {
    const { pi, clock, rest } = await stopped();
    expect(pi.status()).toBe('Todos remain: Resuming in 2 s, 2 todos remaining');
    await clock.advance(950);
    expect(pi.status()).toBeUndefined();
    expect(pi.injected).toEqual([]);
    await rest();
    expect(pi.injected).toEqual([expect.stringContaining('“first”')]);
  });

  it('V5: a continuation has arrived when the model begins to answer it', async () => {
    const { pi, rest, settle, store, session } = await stopped();
    await rest();
    const state = async () => {
      const { epoch } = await session();
      return (await store.outbox({ sessionId })).find((row) => row.epoch === epoch)
        ?.state;
    };
    expect(await state()).toBe('sent');
    await pi.calls('write');
    await settle();
    expect(await state()).toBe('observed');
  });

  it('C3: Escape during the countdown stops it, and a message lifts that', async () => {
    const { pi, rest, session } = await stopped();
    pi.presses('\u001b');
    await rest();
    expect(pi.injected).toEqual([]);
    expect((await session()).latch).toMatchObject({ how: 'stopped while idle' });
    await pi.says('go on');
    await pi.answers('Done!');
    await rest();
    expect(pi.injected).toHaveLength(1);
  });

  it('C3: Escape while nothing is counted down means nothing', async () => {
    const { pi, rest, session } = await stopped();
    await rest();
    pi.presses('\u001b');
    await rest();
    expect((await session()).latch).toBeNull();
  });

  it('P19: an abort is a latch, and settles as aborted', async () => {
    const { pi, rest, session, plans } = await start();
    await plans('first');
    await pi.aborts();
    await rest();
    expect(pi.injected).toEqual([]);
    expect(await session()).toMatchObject({
      latch: { how: 'interrupted' },
      settled: { outcome: 'aborted' },
    });
  });

  it('E2: a command that the human runs with ! ends the countdown', async () => {
    const { pi, rest } = await stopped();
    await pi.tells('user_bash', { command: 'ls' });
    await rest();
    expect(pi.injected).toEqual([]);
  });

  it('C3: going back in the tree of the session stops it', async () => {
    const { pi, rest, session } = await stopped();
    await pi.tells('session_tree', { newLeafId: 'a', oldLeafId: 'b' });
    await rest();
    expect(pi.injected).toEqual([]);
    expect((await session()).latch).toMatchObject({ how: 'undone' });
  });

  it('G3: what the human wrote meanwhile comes first: that is no stop', async () => {
    const { pi, rest, decisions, plans } = await start();
    await plans('first');
    await pi.says('And then the docs.');
    await pi.answers('The first is done.');
    await rest();
    expect(await decisions()).toEqual([]);
    await pi.answers('Both are done.');
    await rest();
    expect(pi.injected).toHaveLength(1);
  });

  it('P21: an error that pi tries again is no stop; one at which it gives up ends the turn', async () => {
    const { pi, rest, decisions, plans, session } = await start();
    await plans('first');
    const message = {
      role: 'assistant',
      content: [],
      stopReason: 'error',
      errorMessage: '400: not valid',
    };
    await pi.tells('turn_end', { message });
    await pi.tells('turn_start');
    await rest();
    expect(await decisions()).toEqual([]);
    await pi.fails('400: not valid');
    await rest();
    expect((await session()).settled).toMatchObject({
      outcome: 'failed',
      reason: 'ended-abnormally',
    });
  });

  it('P23: after a compaction the model is given the open plan with every request', async () => {
    const { pi, settle, plans } = await start();
    await plans('first');
    const messages = [{ role: 'compactionSummary', summary: 'x' }];
    expect(await pi.tells('context', { messages })).toBeUndefined();
    await pi.tells('session_before_compact', { reason: 'threshold' });
    await pi.tells('session_compact', { reason: 'threshold' });
    await settle();
    const changed = await pi.tells('context', { messages });
    expect(JSON.stringify(changed)).toContain('first');
    expect(await pi.tells('context', { messages }), 'the same each time').toMatchObject({
      messages: [{}, {}],
    });
  });

  it('G3: while pi compacts nothing is sent; a compaction that never began ends nothing', async () => {
    const { pi, rest, clock } = await stopped();
    await pi.tells('session_compact_failed', { aborted: false });
    await pi.tells('session_before_compact', { reason: 'manual' });
    await rest();
    await clock.advance(60_000);
    expect(pi.injected).toEqual([]);
    await pi.tells('session_compact', { reason: 'manual' });
    await rest();
    expect(pi.injected).toHaveLength(1);
  });

  it('C3: the human’s commands are answered from the record', async () => {
    const { pi, rest } = await stopped();
    await pi.types('untildone-status');
    expect(pi.notices.at(-1)).toContain('plan: 2 todos, 2 open');
    await pi.types('untildone-pause', 'lunch');
    await rest();
    expect(pi.injected).toEqual([]);
    await pi.types('untildone-resume');
    await rest();
    expect(pi.injected).toHaveLength(1);
  });

  it('S8: at the end the human is told what is open', async () => {
    const { pi, rest } = await stopped({ settings: { maxStagnant: 1 } });
    await rest();
    await pi.answers('Done!');
    await rest();
    const told = pi.notices.filter((line) => line.startsWith('untildone: not done'));
    expect(told).toEqual([
      'untildone: not done: 2 of 2 todos open, sent back once (stagnant). No progress after one continuation. Open: “first”, “second”.',
    ]);
  });
});

describe('pi -p', () => {
  it('E1: the continuation is queued before pi looks whether it may leave', async () => {
    const { pi } = await stopped({ headless: true });
    expect(pi.injected).toEqual([expect.stringContaining('“first”')]);
    expect(pi.isRunning()).toBe(true);
  });

  it('P29: without a plan it leaves', async () => {
    const { pi } = await start({ headless: true });
    await pi.says('What is this?');
    await pi.answers('A parser.');
    expect([pi.injected, pi.isRunning()]).toEqual([[], false]);
  });

  it('P19: Ctrl-C is on the record before pi dies of it', async () => {
    const { session, plans } = await start({ headless: true });
    await plans('first');
    const died: unknown[] = [];
    const kill = process.kill;
    process.kill = ((...given: unknown[]) => died.push(given)) as never;
    try {
      process.emit('SIGINT', 'SIGINT');
      while (died.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    } finally {
      process.kill = kill;
    }
    expect(died).toEqual([[process.pid, 'SIGINT']]);
    expect((await session()).latch).toMatchObject({ how: 'interrupted' });
    expect(
      process.listeners('SIGINT').filter(({ name }) => name.includes('interrupted')),
    ).toEqual([]);
  });
});

describe('pi is left as it is', () => {
  it('C2: where we are switched off: no tool, no command, no text', async () => {
    const { pi } = await start({ settings: { mode: 'off' } });
    expect(pi.tools).toEqual([]);
    await pi.says('Do it.');
    await pi.answers('Done.');
    expect([pi.injected, pi.notices]).toEqual([[], []]);
  });

  it('C2: where we only observe: no tool', async () => {
    expect((await start({ settings: { mode: 'observe' } })).pi.tools).toEqual([]);
  });

  it('P24: loaded twice, one acts', async () => {
    const { extension, directory, clock } = await start();
    const twice = (pi: Parameters<typeof extension>[0]) => {
      extension(pi);
      extension(pi);
    };
    const pi = await startFakePi(twice, {
      id: 'session-2',
      directory,
      now: () => clock.now(),
    });
    await pi.says('Do it.');
    await pi.calls('create_todo', { items: [{ title: 'first' }] });
    await pi.answers('Done!');
    await pi.types('untildone-status');
    await clock.advance(5000);
    await pi.types('untildone-status');
    await pi.sent();
    expect(pi.injected).toHaveLength(1);
    await pi.leaves();
  });

  it('fail-open: without a store the agent may stop, the model is told, and the log says why', async () => {
    const openStore = async () => {
      throw new Error('the disk is gone');
    };
    const { pi, rest, directory, plans } = await start({ openStore });
    await plans('first');
    await pi.answers('Done!');
    await rest();
    expect([pi.injected, pi.isRunning()]).toEqual([[], false]);
    expect(readFileSync(join(directory, 'hook.log'), 'utf8')).toContain(
      'the disk is gone',
    );
    expect(pi.notices.filter((line) => line.includes('left alone'))).toHaveLength(1);
  });

  it('V7: a notice says once where the store of an unpublished version is, and the agent may stop', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'untildone-older-')), 'untildone.db');
    await makeOlderStore(path);
    const openStore = () => openSqliteStore({ path });
    const { pi, rest, plans } = await start({ openStore });
    await plans('first');
    await pi.answers('Done!');
    await rest();
    expect([pi.injected, pi.isRunning()]).toEqual([[], false]);
    const told = pi.notices.filter((line) => line.includes(olderStoreSentence(path)));
    expect(told).toHaveLength(1);
  });
});
