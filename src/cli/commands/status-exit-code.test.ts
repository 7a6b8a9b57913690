// `untildone status --exit-code`: the outcome of the last turn as the exit code of a
// script.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { exitCodes } from '../../core/decision.ts';

let bench: CommandBench;
beforeEach(() => {
  bench = createCommandBench();
});
afterEach(() => bench.close());

const exits = (...words: string[]) => bench.run('status', '--exit-code', ...words);

/** A session whose one todo was worked on and completed, without a check. */
async function addClaim(sessionId = 'alpha-0001') {
  const host = await bench.host({ sessionId });
  await host.open();
  await host.says('Write it');
  const [todo = ''] = await host.plans('Write it');
  await host.works();
  await host.completes(todo, 'works');
  await host.stops();
  return { host, todo };
}

describe('status --exit-code', () => {
  it('C4: exits with the code of the outcome and prints the line of the end', async () => {
    await addClaim();
    const { code, out, err } = await exits();
    expect([code, err]).toEqual([exitCodes.claimed, '']);
    expect(out).toMatch(/^claimed, not proved\. Nothing is open; 1 todo rests on .*\n$/u);
  });

  it('C4: exits with 5 after no progress, and prints what is open and how often the agent was sent back', async () => {
    await addStagnantSession(bench);
    const { code, out } = await exits('alpha-0001');
    expect(code).toBe(exitCodes.stagnant);
    expect(out).toMatch(
      /^not done: 1 of 4 todos open, sent back \d times \(stagnant\)\. No progress/u,
    );
    expect(out).toContain('Open: “Document it”.');
  });

  it('C4: exits with the code of each outcome', async () => {
    for (const [outcome, expected] of Object.entries(exitCodes)) {
      await addClaim(`session-${outcome}`);
      const store = await bench.store();
      await store.step(`session-${outcome}`, ({ state }) => {
        if (state === null) throw new Error('it was stored');
        const settled = {
          outcome: outcome as keyof typeof exitCodes,
          reason: 'nothing-open',
          at: 1,
        };
        return { result: null, state: { ...state, settled } };
      });
      expect((await exits(`session-${outcome}`)).code, outcome).toBe(expected);
    }
  });

  it('C4: exits with 8 while there is no outcome: nothing was asked, the agent works, or it waits for the human', async () => {
    const host = await bench.host({ sessionId: 'alpha-0001' });
    await host.open();
    expect(await exits()).toMatchObject({
      code: 8,
      out: 'no outcome yet: idle: nothing was asked of it yet\n',
    });
    await host.says('Write it');
    expect(await exits()).toMatchObject({
      code: 8,
      out: 'no outcome yet: running: turn 1\n',
    });
    await host.plans('Write it');
    await host.happens({
      type: 'wait-started',
      wait: { kind: 'question', requestId: 'q' },
    });
    expect(await exits()).toMatchObject({
      code: 8,
      out: 'no outcome yet: waiting for your answer to a question\n',
    });
  });

  it('C4: exits with 8 while a new turn runs, and after a turn that only answered a question', async () => {
    const { host } = await addClaim();
    await host.says('What does it do?');
    expect((await exits()).code).toBe(8);
    await host.stops();
    expect(await exits()).toMatchObject({ code: 8, out: 'no outcome yet: idle\n' });
  });

  it('C4: counts a message in the inbox as a new turn, and an abort after it as the end of that turn', async () => {
    await addClaim();
    const store = await bench.store();
    const base = { sessionId: 'alpha-0001', at: bench.clock.now() };
    const spoke = {
      type: 'human-spoke',
      messageId: null,
      text: 'Go on',
      turnId: 't2',
      agent: null,
    } as const;
    await store.append([
      { ...base, ...spoke, id: 'waits-1', fingerprint: null, policyHash: null },
    ]);
    expect(await exits()).toMatchObject({
      code: 8,
      out: 'no outcome yet: it works on your newest message\n',
    });
    await store.append([
      { ...base, id: 'waits-2', type: 'human-aborted', how: 'interrupted' },
    ]);
    expect((await exits()).code).toBe(exitCodes.aborted);
  });

  it('C4: exits with 2 if there is no such session, none in this directory, or no record at all', async () => {
    expect(await exits()).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('no sessions yet'),
    });
    await addClaim();
    expect(await exits('nobody')).toMatchObject({ code: 2, out: '' });
    expect((await bench.runWith({ cwd: '/nowhere' }, 'status', '--exit-code')).code).toBe(
      2,
    );
  });

  it('C4: prints with --json what `status SESSION --json` prints, and is refused with --all or --limit', async () => {
    await addClaim();
    const { code, out } = await exits('--json');
    expect(code).toBe(exitCodes.claimed);
    expect(JSON.parse(out)).toEqual(
      JSON.parse((await bench.run('status', 'alpha-0001', '--json')).out),
    );
    expect((await exits('--all')).code).toBe(2);
    expect((await exits('--limit', '3')).code).toBe(2);
  });

  it('V8: exits as the run did if the run ended without a decision', async () => {
    const descriptor = { host: 'untildone', judgesGoal: true } as const;
    const host = await bench.host({
      sessionId: 'own-0001',
      descriptor,
      settings: { mode: 'observe' },
    });
    await host.open();
    await host.says('Write it');
    await host.plans('Write it');
    await host.works();
    await host.stops();
    expect((await exits()).code).toBe(exitCodes.paused);
  });
});
