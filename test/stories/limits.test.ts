// Limits in the real loop: tokens, cost, time, context, steps in a row. Each ends the run
// with a word that says which one it was, also while the agent never stops by itself (S2,
// G8, G10).
import { describe, expect, it } from 'vitest';
import {
  callTool,
  complete,
  inOrder,
  plan,
  type Step,
  say,
  withUsage,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { play } from './play.ts';
import { oneProtocol as protocol } from './protocols.ts';
import { continuations, ending, eventsOf, shownText, userTexts } from './seen.ts';

const alpha = [writeFile('alpha.txt', 'a'), complete('Write alpha'), say('Written.')];

function using(inputTokens: number, step: Step): Step {
  return withUsage(
    { inputTokens, cachedTokens: 0, outputTokens: 100, thinkingTokens: 0 },
    step,
  );
}

/** Work that is new every time, so that no loop detector has a say. */
function busy(count: number, tokens = 1000): Step[] {
  return Array.from({ length: count }, (_, index) =>
    using(tokens, writeFile(`${index}.txt`, `${index}`)),
  );
}

describe('budgets', () => {
  it.each([
    ['token-budget', 'tokens', { maxTokens: 5000 }],
    [
      'cost-budget',
      'dollars',
      { maxCost: 0.005, prices: { 'scripted/story': { input: 1, output: 1 } } },
    ],
  ])('G8: %s ends an agent that stops and goes on', async (reason, unit, settings) => {
    const rounds = busy(20).flatMap((work) => [work, using(1000, say('One more.'))]);
    const played = await play({
      protocol,
      settings,
      steps: [using(1000, plan('Write alpha')), ...rounds],
    });
    expect(ending(played)).toEqual({ outcome: 'exhausted', reason, exitCode: 6 });
    expect(played.ended.sentence).toContain(unit);
    expect(played.requests.length).toBeLessThanOrEqual(6);
  });

  it.each([
    ['token-budget', { maxTokens: 5000 }],
    [
      'cost-budget',
      { maxCost: 0.005, prices: { 'scripted/story': { input: 1, output: 1 } } },
    ],
  ])('G8: %s ends an agent that never stops by itself', async (reason, settings) => {
    const played = await play({
      protocol,
      settings,
      steps: [using(1000, plan('Write alpha')), ...busy(30)],
    });
    expect(ending(played)).toEqual({ outcome: 'exhausted', reason, exitCode: 6 });
    expect(played.requests.length).toBeLessThanOrEqual(6);
    expect(continuations(played)).toEqual([]);
  });

  it('G8: the time budget ends the run although every step succeeds', async () => {
    // Twelve seconds of the story's clock.
    const played = await play({
      protocol,
      settings: { maxMinutes: 0.2 },
      steps: [plan('Write alpha'), ...busy(500)],
    });
    expect(ending(played)).toEqual({
      outcome: 'exhausted',
      reason: 'time-budget',
      exitCode: 6,
    });
    expect(played.ended.sentence).toContain('0.2 minutes');
  });

  it('G8: the cost is shown, and without a price it is unknown and no budget', async () => {
    const priced = await play({
      protocol,
      settings: { prices: { 'scripted/story': { input: 2, output: 10 } } },
      steps: [using(1_000_000, say('Hello.'))],
    });
    expect(priced.ended.usage.cost).toBeCloseTo(2.001, 6);
    const unpriced = await play({
      protocol,
      settings: { maxCost: 0.0001 },
      steps: [using(1_000_000, say('Hello.'))],
    });
    expect(unpriced.ended.usage.cost).toBeNull();
    expect(ending(unpriced)).toMatchObject({ outcome: 'claimed' });
  });

  it('G8: the tokens of a summary are spent like any others', async () => {
    const played = await play({
      protocol,
      contextLimit: 10_000,
      steps: [
        using(1000, plan('Write alpha')),
        ...busy(5),
        using(8500, writeFile('last.txt', 'x')),
        ...alpha,
      ],
    });
    expect(eventsOf(played, 'compacted')).toHaveLength(1);
    expect(played.asides).toHaveLength(1);
    const steps = eventsOf(played, 'usage').reduce(
      (sum, { step }) => sum + step.inputTokens,
      0,
    );
    expect(played.ended.usage.inputTokens).toBe(steps);
    expect(eventsOf(played, 'usage')).toHaveLength(
      played.requests.length + played.asides.length,
    );
  });
});

describe('the context', () => {
  it('G8: at 90 % of the context a stop ends the run, where compaction is switched off', async () => {
    const played = await play({
      protocol,
      contextLimit: 10_000,
      settings: { context: { compactAt: 1 } },
      steps: [using(1000, plan('Write alpha')), using(9100, say('Done.')), ...alpha],
    });
    expect(ending(played)).toEqual({
      outcome: 'exhausted',
      reason: 'context-full',
      exitCode: 6,
    });
    expect(played.ended.sentence).toContain('91 %');
    expect(played.requests).toHaveLength(2);
  });

  it('G8: at 89 % it goes on', async () => {
    const played = await play({
      protocol,
      contextLimit: 10_000,
      settings: { context: { compactAt: 1 } },
      steps: [
        using(1000, plan('Write alpha')),
        using(8900, say('Done.')),
        ...alpha.map((step) => using(1000, step)),
      ],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
  });

  it('G8: an agent that works on at 90 % without stopping is ended before the context overflows', async () => {
    const played = await play({
      protocol,
      contextLimit: 10_000,
      settings: { context: { compactAt: 1 } },
      steps: [using(1000, plan('Write alpha')), ...busy(20, 9100)],
    });
    expect(ending(played)).toEqual({
      outcome: 'exhausted',
      reason: 'context-full',
      exitCode: 6,
    });
    expect(played.requests).toHaveLength(2);
  });

  it('G8, P23: before the window is full the older part is summarised, and the work goes on', async () => {
    const played = await play({
      protocol,
      contextLimit: 10_000,
      aside: 'NOTES: six files were written.',
      steps: [
        using(1000, plan('Write alpha')),
        ...busy(5),
        using(8100, writeFile('last.txt', 'x')),
        ...alpha.map((step) => using(1000, step)),
      ],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(eventsOf(played, 'compacted')).toHaveLength(1);
    const next = played.requests[7]!;
    expect(userTexts(next).join('\n')).toContain('NOTES: six files were written.');
    expect(userTexts(next).at(-1)).toContain('[CURRENT PLAN]');
    expect(userTexts(next)[0]).toContain('Do the work.');
  });
});

describe('steps in a row', () => {
  it('S2: ten steps without a plan are a stop attempt, and the agent is asked to write one', async () => {
    const played = await play({ protocol, steps: [...busy(14), say('That was it.')] });
    expect(continuations(played)).toEqual(['iteration-budget']);
    expect(played.requests).toHaveLength(15);
    expect(shownText(played)).toBe('That was it.');
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
  });

  it('S2: open todos extend the budget to the cap, and the count starts anew with a continuation', async () => {
    const played = await play({
      protocol,
      settings: { iterations: { base: 3, extend: 3, cap: 8 } },
      steps: [plan('Write alpha'), ...busy(14), ...alpha],
    });
    // After 8 steps, and 8 steps after that; the last answer comes at once.
    expect(continuations(played)).toEqual(['iteration-budget', 'iteration-budget']);
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
  });

  it('S2: an agent that works through a long plan in one go may answer when it is drained', async () => {
    const titles = Array.from({ length: 7 }, (_, index) => `Part ${index}`);
    const work = titles.flatMap((title) => [
      writeFile(`${title}.txt`, title),
      complete(title),
    ]);
    const played = await play({
      protocol,
      steps: [plan(...titles), ...work, say('All seven are written.')],
    });
    expect(continuations(played)).toEqual([]);
    expect(shownText(played)).toBe('All seven are written.');
  });

  it('S2: an agent that only ever calls tools is bounded', async () => {
    const played = await play({
      protocol,
      settings: { iterations: { base: 3, extend: 3, cap: 5 } },
      steps: [plan('Write alpha')],
      afterwards: inOrder(callTool('list_directory', { path: '.' })),
    });
    expect(ending(played)).toMatchObject({ outcome: 'stagnant', exitCode: 5 });
    expect(played.requests.length).toBeLessThan(30);
  });
});

describe('the pace', () => {
  it('G10: our own loop is asked and answered at once, whatever the minimum interval says', async () => {
    const played = await play({
      protocol,
      settings: { minIntervalSeconds: 3600, countdownSeconds: 3600 },
      steps: [plan('Write alpha'), say('Done.'), say('Done!'), ...alpha],
    });
    expect(continuations(played)).toEqual(['standard', 'standard']);
    expect(eventsOf(played, 'waiting')).toEqual([]);
    expect(played.ended.milliseconds).toBeLessThan(3_600_000);
  });
});
