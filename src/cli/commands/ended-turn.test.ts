// After the end of a turn, `stop` and `pause` silence the session, but what each command
// says of the turn stays (V12).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { createHookCase } from '../../../test/support/hook-case.ts';
import {
  createPayload,
  notification,
  promptPayload,
  startPayload,
  stopPayload,
  toolPayload,
  updatePayload,
} from '../../../test/support/payload-cases.ts';
import { exitCodes } from '../../core/decision.ts';
import { claudeCode } from '../../hosts/claude-code/host.ts';

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

describe('a turn that its host wakes after the end', () => {
  /** A turn of Claude Code that ended while a background job ran. */
  async function openEnded() {
    const hooks = createHookCase({
      host: { ...claudeCode, readList: () => null },
      bench: { store: await bench.store(), clock: bench.clock },
    });
    const send = (payload: object) => hooks.send({ ...payload, cwd: bench.project });
    await send(startPayload('startup'));
    await send(promptPayload('Write the parser'));
    await send(createPayload('1', 'Write it'));
    await send(toolPayload('Write', 'w1', {}, {}));
    await send(updatePayload('1', 'completed', 'u1'));
    await send(stopPayload());
    expect((await bench.run('status', '--exit-code')).code).toBe(exitCodes.claimed);
    await bench.clock.advance(60_000);
    return { ...hooks, send };
  }

  it.each([
    ['its notice about the job', promptPayload(notification('job'))],
    ['a call of the agent', toolPayload('Bash', 'rm', {}, {})],
  ])('V12: runs again by %s: status says so, and stop aborts it', async (_, wake) => {
    const { send, session } = await openEnded();
    await send(wake);
    expect((await bench.run('status')).out).toContain('running: turn 1');
    expect(await bench.run('status', '--exit-code')).toMatchObject({
      code: 8,
      out: 'no outcome yet: running: turn 1\n',
    });
    const { out } = await bench.run('stop');
    expect(out).not.toContain('has ended');
    expect(await session()).toMatchObject({ settled: { outcome: 'aborted' } });
    expect((await bench.run('status', '--exit-code')).code).toBe(exitCodes.aborted);
  });

  it('V12: stays ended by the call of a subagent, by a notice that the host idles, and by its end', async () => {
    const { send } = await openEnded();
    await send(toolPayload('Bash', 'b2', {}, {}, { agent_id: 'helper' }));
    await send({
      ...startPayload(''),
      hook_event_name: 'Notification',
      notification_type: 'idle_prompt',
    });
    await send({ ...startPayload(''), hook_event_name: 'SessionEnd' });
    expect((await bench.run('status', '--exit-code')).code).toBe(exitCodes.claimed);
  });
});
