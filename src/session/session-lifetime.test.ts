// What the human does to a session of the library, and how it outlives the program that opened it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createLibraryStage, finish, planned } from '../../test/support/library-stage.ts';
import { createScriptedHost } from '../simulated/scripted-host.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { openSession } from './session.ts';

describe('the human', () => {
  it('G4: the signal ends it: nothing more is asked of the agent', async () => {
    const human = new AbortController();
    const session = await createLibraryStage().open({ goal: 'go', signal: human.signal });
    await planned(session, 'a');
    let calls = 0;
    const hold = session.hold(async (_messages) => {
      calls += 1;
      human.abort();
      return 'Half done.';
    });
    expect(await hold).toBe('Half done.');
    expect([calls, session.outcome]).toEqual([1, 'aborted']);
    await expect(session.hold(async (_messages) => 'again')).rejects.toThrow('aborted');
  });

  it('G4: it ends an agent that listens to it, and a check that runs', async () => {
    const { open } = createLibraryStage();
    const human = new AbortController();
    const session = await open({
      goal: 'go',
      signal: human.signal,
      checks: ['sleep 60'],
      settings: { baselineSeconds: 0 },
    });
    const began = Date.now();
    setTimeout(() => human.abort(), 300);
    expect(await session.stop()).toMatchObject({ answer: 'let-go', outcome: 'aborted' });
    expect(Date.now() - began).toBeLessThan(20_000);
    await expect(session.hold(async (_messages) => 'more')).rejects.toThrow('aborted');
  });

  it('M6: a pause of the agent is honoured, and `resume` lifts it', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    await planned(session, 'a');
    await session.tools.todo_pause.execute({ reason: 'I need the password' });
    expect(await session.stop()).toMatchObject({ outcome: 'paused', reason: 'paused-by-model' });
    expect((await session.resume()).outcome).toBeNull();
    expect((await session.stop()).answer).toBe('continue');
  });

  it('T3: words that come later join the conversation, and their goal is judged', async () => {
    const session = await createLibraryStage().open({ goal: 'write the parser' });
    const heard: string[][] = [];
    const agent = (messages: { content: string }[]) => {
      heard.push(messages.map(({ content }) => content));
      return 'Done.';
    };
    await session.hold(agent);
    expect(session.outcome).toBe('claimed');
    await session.tell({ type: 'human-spoke', text: 'and the docs' });
    expect(session.outcome).toBeNull();
    await session.hold(agent);
    expect(heard[1]).toEqual(['write the parser', 'Done.', 'and the docs']);
  });
});

describe('a session outlives its program', () => {
  const program = fileURLToPath(new URL('../../test/support/held-program.ts', import.meta.url));

  it('V5: killed and opened again, the plan is there, and the same goal goes on with it', async () => {
    const { open, store, directory } = createLibraryStage();
    const child = spawn(process.execPath, ['--no-warnings', program, store, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const session = await open({ id: 'nightly', goal: 'migrate the tests', store });
    expect(session.plan.map(({ title, status }) => `${title} ${status}`)).toEqual([
      'a completed',
      'b pending',
      'c pending',
    ]);
    const heard: string[] = [];
    await session.hold(async (messages: { content: string }[]) => {
      heard.push(...messages.map(({ content }) => content));
      for (const { id, status } of session.plan) if (status === 'pending') await finish(session, id);
      return 'Done.';
    });
    expect(heard).toEqual(['migrate the tests', '[resumed] Go on with the plan; list_todo shows it.']);
    expect(session.outcome).toBe('claimed');
  });

  it('P41: one that is open is not opened twice; one of a host is not taken up at all', async () => {
    const { open, store } = createLibraryStage();
    await open({ id: 'one', goal: 'go', store });
    await expect(open({ id: 'one', store })).rejects.toThrow(
      `The session "one" is open in process ${process.pid}.`,
    );
    const theirs = await openSqliteStore({ path: store });
    await createScriptedHost({ mode: 'asked', store: theirs, sessionId: 'theirs' }).open();
    await theirs.close();
    await expect(open({ id: 'theirs', store })).rejects.toThrow('The session "theirs" belongs to "scripted"');
  });

  it('15: another session of the store is taken up with `resume(id)`, and words without a goal are its own', async () => {
    const { open, store } = createLibraryStage();
    const first = await open({ id: 'first', goal: 'write the parser', checks: ['false'], store });
    await planned(first, 'a');
    await first.close();
    const second = await open({ id: 'second', goal: 'else', store });
    await expect(second.resume('third')).rejects.toThrow('There is no session "third" in this store.');
    const again = await second.resume('first');
    expect([again.id, again.plan.length]).toEqual(['first', 1]);
    // The one that was left has nothing to close any more.
    await second.close();
    let heard: string[] = [];
    await again.hold(async (messages: { content: string }[]) => {
      heard = messages.map(({ content }) => content);
      for (const { id } of again.plan) await finish(again, id);
      return 'Done.';
    });
    expect(heard[0]).toBe('write the parser');
    // V2: it is judged by the check that it was begun with.
    expect(again.outcome).toBe('stagnant');
    await again.close();
    await again.close();
  });

  it('V1: checks that are named anew take the place of the earlier ones', async () => {
    const { open, store, put } = createLibraryStage();
    const first = await open({ id: 'one', goal: 'write it', checks: ['false'], store });
    await planned(first, 'a');
    await first.close();
    const again = await open({ id: 'one', goal: 'write it', checks: ['test -f written'], store });
    put('written', '');
    for (const { id } of again.plan) await finish(again, id);
    expect(await again.stop()).toMatchObject({ outcome: 'done' });
  });

  it('15: a goal that was settled is said anew, and starts with its counters at zero', async () => {
    const { open, store } = createLibraryStage();
    const options = { id: 'one', goal: 'go', store, settings: { maxStagnant: 1 } };
    for (const _ of [1, 2]) {
      const session = await open(options);
      if (session.plan.length === 0) await planned(session, 'a');
      expect((await session.stop()).answer).toBe('continue');
      expect((await session.stop()).outcome).toBe('stagnant');
      await session.close();
    }
  });

  it('15: without a store of its own it is in the user’s, and its checks outlive the program', async () => {
    const { directory, environment } = createLibraryStage();
    const session = await openSession({
      goal: 'write it',
      checks: ['test -f written'],
      directory,
      environment,
    });
    writeFileSync(join(directory, 'written'), '');
    expect(await session.stop()).toMatchObject({ outcome: 'done' });
    await session.close();
    const store = await openSqliteStore({ path: join(environment.UNTILDONE_HOME, 'untildone.db') });
    expect(await store.state(session.id)).toMatchObject({ title: 'write it', settled: { outcome: 'done' } });
    await store.close();
  });
});
