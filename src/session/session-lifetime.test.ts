// What the human does to a session of the library, and how it outlives the program that
// opened it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../test/evidence/random.ts';
import { createCommandBench } from '../../test/support/command-bench.ts';
import { createLibraryStage, finish, planned } from '../../test/support/library-stage.ts';
import { asOrdinaryUser } from '../../test/support/ordinary-user.ts';
import { verifyPlan } from '../engine/session-record.ts';
import { createScriptedHost } from '../simulated/scripted-host.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { storePath } from '../store/state-directory.ts';
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

  it('V12: a stop word that is told after the end leaves the outcome as it was', async () => {
    const session = await createLibraryStage().open({ goal: 'write it' });
    await session.hold(async (_messages) => 'Done.');
    expect(session.outcome).toBe('claimed');
    await session.tell({ type: 'human-spoke', text: 'stop' });
    expect(session.outcome).toBe('claimed');
    expect(await session.stop()).toMatchObject({ reason: 'aborted', outcome: 'claimed' });
  });

  it('V12: the signal after the end leaves the outcome too, and aborts an agent that is held again', async () => {
    const { open, put, store } = createLibraryStage();
    const human = new AbortController();
    const session = await open({
      id: 'nightly',
      goal: 'write it',
      checks: ['test -f written'],
      store,
      signal: human.signal,
    });
    await session.hold(async (_messages) => {
      put('written', '');
      return 'Done.';
    });
    expect(session.outcome).toBe('done');
    human.abort();
    expect(session.outcome).toBe('done');
    expect(await session.stop()).toMatchObject({
      answer: 'let-go',
      reason: 'aborted',
      outcome: 'done',
    });
    await session.close();

    const later = new AbortController();
    const again = await open({
      id: 'nightly',
      goal: 'write it',
      store,
      signal: later.signal,
    });
    expect(again.outcome).toBe('done');
    await again.hold(async (_messages) => {
      later.abort();
      return 'Half done.';
    });
    expect(again.outcome).toBe('aborted');
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
    expect(await session.stop()).toMatchObject({
      outcome: 'paused',
      reason: 'paused-by-model',
    });
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

it('V4: folders that may not be read, from the start or since, end no work', async () => {
  const { open, directory, put } = createLibraryStage();
  for (const folder of [dirname(directory), directory]) chmodSync(folder, 0o777);
  const close = (name: string) => mkdirSync(join(directory, name), { mode: 0o000 });
  close('before');
  await asOrdinaryUser(async () => {
    const session = await open({ goal: 'write it', checks: ['test -f written'] });
    await session.hold(async (_messages) => {
      close('since');
      put('written', '');
      return 'Done.';
    });
    expect(session.outcome).toBe('done');
    await session.close();
  });
});

describe('a session outlives its program', () => {
  it('V5: killed and opened again, the plan is there, and the same goal goes on with it', async () => {
    const { open, store, directory, put } = createLibraryStage();
    const lines = await liveUntil(
      store,
      directory,
      { line: 'finished', milliseconds: 0 },
      60_000,
    );
    expect(lines).toEqual([
      { found: [] },
      { told: ['migrate the tests'] },
      { finished: 'a' },
    ]);
    const session = await open({ id: 'nightly', goal: 'migrate the tests', store });
    const heard: string[] = [];
    await session.hold(async (messages: { content: string }[]) => {
      heard.push(...messages.map(({ content }) => content));
      for (const { id, title, status } of session.plan)
        if (status === 'pending') {
          put(title, '');
          await finish(session, id);
        }
      return 'Done.';
    });
    // The conversation begins anew: the agent is told what it planned.
    expect(heard).toEqual([
      'migrate the tests',
      '[resumed] Go on with the plan; 1 of 5 todos are settled. Still open: “b”, “c”, “d”, “e”. list_todo shows it whole.',
    ]);
    expect(session.outcome).toBe('done');
    const record = await openSqliteStore({ path: store });
    const events = await record.events({ sessionId: 'nightly', after: 0, limit: 1000 });
    // The goal was said once: no counter began anew.
    expect(events.filter(({ event }) => event.type === 'human-spoke')).toHaveLength(1);
    await record.close();
  });

  it('C4: `status` says that it is at work only while a program has it open', async () => {
    const { open, directory } = createLibraryStage();
    const bench = createCommandBench();
    onTestFinished(bench.close);
    const store = storePath(bench.env);
    const status = async () => (await bench.run('status', 'nightly')).out;
    const gone =
      'its process is gone (killed?): it goes on when a program opens it again with this id';
    const left =
      'idle: no program has it open; it goes on when one opens it again with this id';
    await liveUntil(store, directory, { line: 'finished', milliseconds: 0 }, 60_000);
    expect(await status()).toContain(gone);
    const [seen] = JSON.parse(
      (await bench.run('status', '--all', '--json')).out,
    ).sessions;
    expect(seen.state).toEqual({ name: 'gone', words: gone });
    const session = await open({ id: 'nightly', goal: 'migrate the tests', store });
    expect(await status()).toContain('running: turn 1');
    await session.close();
    expect(await status()).toContain(left);
  });

  // UNTILDONE_KILLS=20 UNTILDONE_SEED=7 for more of them.
  it('V5: killed at any moment and started again, it comes to its end; nothing is lost and nothing counted twice', async () => {
    const kills = Number(process.env['UNTILDONE_KILLS'] ?? 5);
    const seed = Number(process.env['UNTILDONE_SEED'] ?? 15);
    const random = createRandom(seed);
    console.log(`held program: ${kills} kills, seed ${seed}`);
    for (let killed = 0; killed < kills; ) {
      const { store, directory } = createLibraryStage();
      const finished = new Set<string>();
      for (let life = 1; ; life += 1) {
        const line = random.pick(['', 'found', 'told', 'finished', 'outcome']);
        const moment = { line, milliseconds: random.below(line === '' ? 2000 : 300) };
        const isKilled = life <= 5 && killed < kills;
        const lines = await liveUntil(store, directory, isKilled ? moment : null);
        if (isKilled) killed += 1;
        let isOpen = false;
        for (const { found = null, told = null, finished: done } of lines) {
          for (const title of finished)
            if (found) expect(found).toContain(`${title} completed`);
          if (found) expect([0, 5]).toContain(found.length);
          if (found) isOpen = found.some((row) => row.endsWith('pending'));
          // Whoever has a plan and begins anew is told what is open.
          if (told?.length === 2)
            expect(told[1]).toContain(isOpen ? 'Still open: “' : 'Nothing of it is open');
          if (done !== undefined) finished.add(done);
        }
        if (lines.some(({ outcome }) => outcome)) break;
      }
      const record = await openSqliteStore({ path: store });
      const state = await record.state('nightly');
      const decisions = (await record.decisions('nightly', 1000)).map(
        ({ decision }) => decision,
      );
      const epochs = decisions
        .filter(({ answer }) => answer === 'continue')
        .map(({ epoch }) => epoch);
      const events = await record.events({
        sessionId: 'nightly',
        after: 0,
        limit: 10_000,
      });
      const goals = events.filter(({ event }) => event.type === 'human-spoke').length;
      expect(decisions.some(({ outcome }) => outcome === 'done')).toBe(true);
      expect(new Set(epochs).size).toBe(epochs.length);
      // A goal that was settled before the kill is said anew, and counted anew.
      if (goals === 1) expect(state?.counters.total).toBe(epochs.length);
      expect(
        state && (await verifyPlan(record, state.planId ?? '', state)),
      ).toMatchObject({ intact: true });
      expect(
        (await record.evidence('nightly', 10)).some(({ result }) => result === 'passed'),
      ).toBe(true);
      await record.close();
    }
  }, 600_000);

  it('P41: one that is open is not opened twice; one of a host is not taken up at all', async () => {
    const { open, store } = createLibraryStage();
    await open({ id: 'one', goal: 'go', store });
    await expect(open({ id: 'one', store })).rejects.toThrow(
      `The session "one" is open in process ${process.pid}.`,
    );
    const theirs = await openSqliteStore({ path: store });
    await createScriptedHost({
      mode: 'asked',
      store: theirs,
      sessionId: 'theirs',
    }).open();
    await theirs.close();
    await expect(open({ id: 'theirs', store })).rejects.toThrow(
      'The session "theirs" belongs to "scripted"',
    );
  });

  it('15: another session of the store is taken up with `resume(id)`, and words without a goal are its own', async () => {
    const { open, store } = createLibraryStage();
    const first = await open({
      id: 'first',
      goal: 'write the parser',
      checks: ['false'],
      store,
    });
    await planned(first, 'a');
    await first.close();
    const second = await open({ id: 'second', goal: 'else', store });
    await expect(second.resume('third')).rejects.toThrow(
      'There is no session "third" in this store.',
    );
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
    const again = await open({
      id: 'one',
      goal: 'write it',
      checks: ['test -f written'],
      store,
    });
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
    const heard: string[] = [];
    const again = await open(options);
    await again.hold((messages: { content: string }[]) => {
      if (heard.length === 0) heard.push(...messages.map(({ content }) => content));
      return 'Done.';
    });
    expect(heard).toEqual(['go', expect.stringContaining('Still open: “a”')]);
  });

  it('15: how it had settled is there when it is opened again, until something happens', async () => {
    const { open, store, put } = createLibraryStage();
    const first = await open({
      id: 'one',
      goal: 'write it',
      checks: ['test -f written'],
      store,
    });
    put('written', '');
    await first.stop();
    await first.close();
    const again = await open({ id: 'one', store });
    expect(again.outcome).toBe('done');
    expect((await again.resume()).outcome).toBeNull();
    await again.close();
    // Other checks have not been run on it.
    const others = await open({ id: 'one', checks: ['false'], store });
    expect(others.outcome).toBeNull();
    await others.close();
    const last = await open({ id: 'one', store });
    await last.tell({ type: 'human-spoke', text: 'and the docs' });
    expect(last.outcome).toBeNull();
  });

  it('15: started again with a goal that is reached, it stays done, unless the work has suffered since', async () => {
    const { open, store, put, directory } = createLibraryStage();
    const options = { id: 'one', goal: 'write it', checks: ['test -f written'], store };
    const outcomes: unknown[] = [];
    const during: unknown[] = [];
    for (const start of ['first', 'again', 'suffered'] as const) {
      if (start === 'suffered') rmSync(join(directory, 'written'));
      const session = await open(options);
      outcomes.push(session.outcome);
      let calls = 0;
      await session.hold((_messages) => {
        during.push(session.outcome);
        calls += 1;
        if (start === 'first' || calls === 2) put('written', '');
        return 'Done.';
      });
      outcomes.push(session.outcome);
      await session.close();
    }
    expect(outcomes).toEqual([null, 'done', 'done', 'done', 'done', 'done']);
    // The agent that finds its work gone is sent on by the check.
    expect(during).toEqual([null, null, null, null]);
    // Another goal, or the same one with other checks, is work anew, and so is the first
    // goal after another.
    for (const other of [{ checks: ['true'] }, { goal: 'else' }, {}]) {
      const session = await open({ ...options, ...other });
      expect(session.outcome).toBeNull();
      expect((await session.stop()).outcome).toBe('claimed');
      await session.close();
    }
    expect((await open(options)).outcome).toBe('claimed');
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
    const store = await openSqliteStore({
      path: join(environment.UNTILDONE_HOME, 'untildone.db'),
    });
    expect(await store.state(session.id)).toMatchObject({
      title: 'write it',
      settled: { outcome: 'done' },
    });
    await store.close();
  });
});

type Line = Partial<
  Record<'found' | 'told', readonly string[]> & Record<'finished' | 'outcome', string>
>;

/**
 * Starts the program and kills it so long after its first line of this kind, '' for its
 * birth; null: it may end.
 */
async function liveUntil(
  store: string,
  directory: string,
  moment: { readonly line: string; readonly milliseconds: number } | null,
  agentMs = 0,
): Promise<readonly Line[]> {
  const program = fileURLToPath(
    new URL('../../test/support/held-program.ts', import.meta.url),
  );
  const child = spawn(
    process.execPath,
    ['--no-warnings', program, store, directory, String(agentMs)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const lines: Line[] = [];
  const kill = () => setTimeout(() => child.kill('SIGKILL'), moment?.milliseconds ?? 0);
  if (moment?.line === '') kill();
  for await (const text of createInterface(child.stdout)) {
    const line = JSON.parse(text) as Line;
    if (moment !== null && moment.line in line) kill();
    lines.push(line);
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return lines;
}
