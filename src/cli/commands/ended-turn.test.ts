// After the end of a turn, `stop` and `pause` silence the session, but what each command
// says of the turn stays (V12).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';

let bench: CommandBench;
beforeEach(() => {
  bench = createCommandBench();
});
afterEach(() => bench.close());

const reads = [
  ['report'],
  ['plan', 'show'],
  ['plan', 'show', '--json'],
  ['status', '--json'],
] as const;

/** What the commands say of the ended turn. */
async function readTurn() {
  const [report, shown, plan, status] = await Promise.all(
    reads.map(async (words) => (await bench.run(...words)).out),
  );
  const { settled, turn, plan: counts } = JSON.parse(status ?? '').sessions[0];
  const { outcome, reason, sentence, todos } = JSON.parse(
    (await bench.run('report', '--json')).out,
  );
  const { latest: _, ...why } = JSON.parse((await bench.run('why', '--json')).out);
  return {
    report,
    shown,
    plan,
    settled,
    turn,
    counts,
    outcome,
    reason,
    sentence,
    todos,
    why,
  };
}

describe.each([
  ['stop', 'stopped by you', 'untildone stop'],
  ['pause', 'paused by you', null],
] as const)('%s after the end', (command, words, how) => {
  it('V12: leaves outcome, proofs, report and why as they were; status says since when and by whom it is silenced', async () => {
    const host = await addStagnantSession(bench);
    const before = await readTurn();
    expect(before.outcome).toBe('stagnant');
    expect((await bench.run(command)).code).toBe(0);
    // The host asks once more, and that is not a second end.
    expect((await host.stops()).decision).toMatchObject({
      answer: 'let-go',
      outcome: null,
    });
    expect(await readTurn()).toEqual(before);
    const { out } = await bench.run('status');
    const held = new RegExp(
      `state +ended: stagnant; ${words} since \\d\\d:\\d\\d:\\d\\d${how ? ` \\(${how}\\)` : ''}`,
      'u',
    );
    expect(out).toMatch(held);
    expect(out, 'not what was decided about the stop after the end').toMatch(
      /last +may stop: stagnant/u,
    );
    expect((await bench.run('why')).out).toContain(`Since then: ${words} since `);
  });
});

it('V12: a pause after a stop is told beside it', async () => {
  const host = await addStagnantSession(bench);
  await host.says('stop');
  await bench.run('pause', '--reason', 'lunch');
  const words =
    /ended: stagnant; stopped by you since \S+ \(told to stop\); paused by you since \S+ \(lunch\)/u;
  expect((await bench.run('status')).out).toMatch(words);
});

it('V12: a "stop" that is typed after the end changes nothing in the report', async () => {
  const host = await addStagnantSession(bench);
  const before = await readTurn();
  await host.says('stop');
  await host.works();
  await host.stops();
  expect(await readTurn()).toEqual(before);
  const [session] = JSON.parse((await bench.run('status', '--json')).out).sessions;
  expect(session).toMatchObject({
    latch: { how: 'told to stop' },
    state: { name: 'settled' },
  });
});
