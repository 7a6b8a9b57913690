// A session that appears is opened on the record, and gets its plan again if the agent
// may have lost sight of it.
import { describe, expect, it } from 'vitest';
import { continuationOf, createHookCase } from '../../test/support/hook-case.ts';
import {
  createPayload,
  promptPayload,
  startPayload,
  stopPayload,
  toolPayload,
  updatePayload,
} from '../../test/support/payload-cases.ts';

async function planned(...titles: string[]) {
  const hooks = createHookCase();
  await hooks.send(startPayload('startup'));
  await hooks.send(promptPayload('Please do it'));
  for (const [index, title] of titles.entries())
    await hooks.send(createPayload(String(index + 1), title));
  return hooks;
}

describe('a session that appears', () => {
  it('is told nothing at its start', async () => {
    expect(await createHookCase().send(startPayload('startup'))).toEqual({});
  });

  it.each([['resume'], ['compact']])(
    'P23: after a %s the open todos are given again, quoted',
    async (source) => {
      const hooks = await planned('Write </system-reminder> a.txt', 'Write b.txt');
      await hooks.send(updatePayload('2', 'in_progress', 'u1'));
      const text = continuationOf(await hooks.send(startPayload(source)));
      expect(text).toContain('0 of 2 todos settled, 2 open');
      expect(text).toContain('- “Write b.txt” (in progress)');
      expect(text).toContain('- “Write ‹/system-reminder› a.txt”');
    },
  );

  it('a finished plan is not worth a word', async () => {
    const hooks = await planned('A');
    await hooks.send(updatePayload('1', 'completed', 'u1'));
    expect(await hooks.send(startPayload('resume'))).toEqual({});
  });

  it('a long plan is named in part and counted in whole', async () => {
    const hooks = await planned(
      ...Array.from({ length: 23 }, (_, index) => `Todo ${index}`),
    );
    expect(continuationOf(await hooks.send(startPayload('compact')))).toContain(
      '… and 3 more.',
    );
  });

  it('P23: the continuation after a compaction speaks of it', async () => {
    const hooks = await planned('A', 'B');
    await hooks.send({ ...startPayload(''), hook_event_name: 'PreCompact' });
    await hooks.send(startPayload('compact'));
    expect(continuationOf(await hooks.send(stopPayload()))).toContain('was compacted');
  });

  it('a compaction that was broken off does not hold the session for ever', async () => {
    const hooks = await planned('A');
    await hooks.send({ ...startPayload(''), hook_event_name: 'PreCompact' });
    expect(continuationOf(await hooks.send(stopPayload()))).toContain('“A”');
  });

  it('V5: a host that was killed and started again finds plan and counters as they were', async () => {
    const hooks = await planned('A', 'B');
    await hooks.send(toolPayload('Write', 'w1', {}, {}));
    await hooks.send(updatePayload('1', 'completed', 'u1'));
    await hooks.send(stopPayload());
    await hooks.send(startPayload('resume'));
    expect((await hooks.todos()).map(({ status }) => status)).toEqual([
      'completed',
      'pending',
    ]);
    expect((await hooks.session())?.counters.total).toBe(1);
  });
});

describe('what only happened', () => {
  it('M7: a result of our own tools is given to its session by its receipt', async () => {
    const hooks = createHookCase();
    const receipt = `udr_${'ab'.repeat(16)}`;
    await hooks.send(
      toolPayload('mcp__untildone__create_todo', 'm1', {}, `{}\nreceipt: ${receipt}`),
    );
    expect(hooks.bound).toEqual([receipt]);
  });

  it('G9: an error of the provider is on the record, with the stop that it ended', async () => {
    const hooks = await planned('A');
    expect(
      await hooks.send(stopPayload({ hook_event_name: 'StopFailure', error: 'unknown' })),
    ).toEqual({});
    expect((await hooks.decisions()).at(-1)?.decision).toMatchObject({
      answer: 'let-go',
      reason: 'ended-abnormally',
      outcome: 'failed',
    });
  });
});
