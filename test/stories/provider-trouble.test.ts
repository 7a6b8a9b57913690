// Trouble with the provider: limits, overload, broken streams, contexts that overflow.
// Waiting is visible and counts as nothing; failing again and again ends the run with a
// sentence.
import { describe, expect, it } from 'vitest';
import {
  complete,
  contextOverflow,
  fail,
  malformed,
  overload,
  overloadMidStream,
  plan,
  rateLimit,
  repeat,
  reset,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { play } from './play.ts';
import { oneProtocol, protocols } from './protocols.ts';
import {
  continuations,
  continuationText,
  ending,
  eventsOf,
  statuses,
  userTexts,
} from './seen.ts';

const alpha = [writeFile('alpha.txt', 'a'), complete('Write alpha'), say('Written.')];
/**
 * The scripted model knows the conversation by its mark although its beginning is
 * summarised away.
 */
const marked = 'Do the work. [conversation: long]';

describe.each(protocols)('$name', (protocol) => {
  it('P21, G9: a rate limit is waited for until its reset, visibly, and is neither failure nor stagnation', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), rateLimit(7, { times: 4 }), ...alpha],
    });
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    const errors = eventsOf(played, 'error');
    expect(errors.map(({ kind }) => kind)).toEqual(
      Array.from({ length: 4 }, () => 'rate-limit'),
    );
    const starts = eventsOf(played, 'step-started').map(({ at }) => at);
    for (const { at, retryAt, sentence } of errors) {
      const asked = starts.findLast((start) => start <= at)!;
      expect(retryAt! - asked).toBeGreaterThanOrEqual(7000);
      expect(sentence).toContain('limits how often');
    }
    // The step after each error starts only when the limit is over.
    for (const { retryAt } of errors)
      expect(starts.some((at) => at >= retryAt!)).toBe(true);
    expect(
      starts.filter((at) => errors.some((error) => at > error.at && at < error.retryAt!)),
    ).toEqual([]);
    expect(continuations(played)).toEqual([]);
    expect(played.session.counters).toEqual({ stagnant: 0, continuations: 0, total: 0 });
    expect(played.session.circuit).toBeNull();
  });

  it('P21: overload waits in the same way, also when it comes in mid-stream', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), overload({ times: 4 }), overloadMidStream(), ...alpha],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(eventsOf(played, 'error').map(({ kind }) => kind)).toEqual(
      Array.from({ length: 5 }, () => 'overload'),
    );
    expect(continuations(played)).toEqual([]);
  });

  it.each([
    ['reset', reset({ text: 'I am half way through' })],
    ['malformed', malformed({ text: 'I am half way through' })],
  ])(
    'G9: a stream that is %s in the middle is asked for again, and half an answer is none',
    async (_, broken) => {
      const played = await play({
        protocol,
        steps: [plan('Write alpha'), broken, ...alpha],
      });
      expect(ending(played)).toMatchObject({ outcome: 'claimed' });
      expect(eventsOf(played, 'error')).toHaveLength(1);
      expect(continuations(played)).toEqual([]);
      expect(played.session.counters.total).toBe(0);
    },
  );

  it('P23: a context that overflows is compacted, and the plan is given again', async () => {
    const filler = Array.from({ length: 6 }, (_, index) =>
      writeFile(`${index}.txt`, 'word '.repeat(400)),
    );
    const played = await play({
      protocol,
      goal: marked,
      cursor: 'server',
      aside: 'NOTES: six files were written.',
      steps: [
        plan('Write alpha', 'Write beta'),
        ...filler,
        contextOverflow(),
        ...alpha,
        writeFile('beta.txt', 'b'),
        complete('Write beta'),
        say('Both.'),
      ],
    });
    expect(eventsOf(played, 'error').map(({ kind }) => kind)).toEqual(['overflow']);
    expect(eventsOf(played, 'compacted')).toHaveLength(1);
    expect(played.asides).toHaveLength(1);
    const next = played.requests[8]!;
    const texts = userTexts(next).join('\n');
    expect(texts).toContain('NOTES: six files were written.');
    expect(texts).toContain('Write alpha');
    expect(texts).toContain(marked);
    expect(JSON.stringify(next.body).length).toBeLessThan(
      JSON.stringify(played.requests[7]!.body).length,
    );
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(continuations(played)).toEqual(['after-compaction']);
    expect(continuationText(played, 0)).toContain('“Write beta”');
  });

  it('P23: a context that overflows again and again ends the run as stagnant', async () => {
    const played = await play({
      protocol,
      goal: marked,
      cursor: 'server',
      steps: [plan('Write alpha'), contextOverflow({ times: 20 }), ...alpha],
    });
    expect(ending(played)).toEqual({
      outcome: 'stagnant',
      reason: 'overflowing',
      exitCode: 5,
    });
    expect(played.requests.length).toBeLessThanOrEqual(4);
  });
});

describe('an outage', () => {
  const protocol = oneProtocol;
  // Ten minutes take three seconds.
  const speed = 200;

  it.each([
    ['500s', fail(500, { times: 8 })],
    ['dropped connections', repeat(8, reset())],
  ])(
    'G9: %s, eight in a row, are tried again with growing waits, visibly, and cost nothing',
    async (_, trouble) => {
      const played = await play({
        protocol,
        speed,
        steps: [trouble, plan('Write alpha'), trouble, ...alpha],
      });
      expect(ending(played)).toMatchObject({ outcome: 'claimed' });
      expect(continuations(played)).toEqual([]);
      const waits = eventsOf(played, 'error').map(({ at, retryAt }) => retryAt! - at);
      expect(waits).toHaveLength(16);
      // Less than planned: the clock moves on between the plan and its telling.
      for (const series of [waits.slice(0, 8), waits.slice(8)]) {
        expect(series[0]).toBeLessThanOrEqual(500);
        expect(Math.max(...series)).toBeGreaterThan(5000);
      }
      expect(played.session.circuit).toBeNull();
    },
  );

  it('P22, G9: that does not pass opens the circuit after ten minutes and ends the run with a sentence', async () => {
    const trouble = fail(500, { times: 99, message: 'the machine is on fire' });
    const played = await play({
      protocol,
      speed,
      steps: [plan('Write alpha'), trouble, ...alpha],
    });
    expect(ending(played)).toEqual({
      outcome: 'failed',
      reason: 'circuit-open',
      exitCode: 1,
    });
    expect(played.ended.sentence).toMatch(
      /the machine is on fire\. It was tried \d\d times in 10 min\.$/,
    );
    expect(played.ended.milliseconds).toBeGreaterThan(9 * 60_000);
    expect(continuations(played)).toEqual([]);
    expect(statuses(played)).toEqual({ 'Write alpha': 'pending' });
  });

  it('P22: without a plan too, a model that cannot be asked has not answered', async () => {
    const played = await play({ protocol, speed, steps: [fail(500, { times: 99 })] });
    expect(ending(played)).toEqual({
      outcome: 'failed',
      reason: 'circuit-open',
      exitCode: 1,
    });
  });
});

describe('the twins of these stories', () => {
  const protocol = oneProtocol;

  it('P22: two errors and then an answer open nothing', async () => {
    const twice = fail(500, { times: 2 });
    const played = await play({
      protocol,
      steps: [
        twice,
        plan('Write alpha'),
        twice,
        writeFile('alpha.txt', 'a'),
        twice,
        ...alpha.slice(1),
      ],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(eventsOf(played, 'error')).toHaveLength(6);
  });

  it('P23: without a plan too, a request that cannot fit ends as stagnant', async () => {
    const played = await play({ protocol, steps: [contextOverflow({ times: 20 })] });
    expect(ending(played)).toEqual({
      outcome: 'stagnant',
      reason: 'overflowing',
      exitCode: 5,
    });
  });
});
