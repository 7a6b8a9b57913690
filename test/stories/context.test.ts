// What the model is sent: the plan at the end of every call, the request always in the
// window, pairs of calls and results never split, and the history bounded however long
// the run (S3, S5).
import { describe, expect, it } from 'vitest';
import {
  complete,
  type LoggedRequest,
  plan,
  repeat,
  say,
  theNext,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { type Played, play } from './play.ts';
import { protocols } from './protocols.ts';
import { ending, userTexts } from './seen.ts';

const goal = 'Write the twelve parts, please. The colour is teal.';
const titles = Array.from({ length: 12 }, (_, index) => `Part ${index + 1}`);
const maxMessages = 12;

/** Every result stands behind its call, and every call has its result. */
function hasWholePairs({ messages }: LoggedRequest): boolean {
  const calls = messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
  const results = messages.flatMap(({ toolResults }) => toolResults.map(({ id }) => id));
  return calls.join() === results.join();
}

/** The title of the todo that the plan at the end names first. */
function plannedNext(request: LoggedRequest): string | undefined {
  const [, text] = userTexts(request).at(-1)?.split('[CURRENT PLAN]') ?? [];
  return /Next: “([^”]*)”/.exec(text ?? '')?.[1];
}

async function playLong(protocol: (typeof protocols)[number]): Promise<Played> {
  return play({
    protocol,
    goal,
    settings: { context: { maxMessages } },
    steps: [
      plan(...titles),
      repeat(12, writeFile('part.txt', 'x'), complete(theNext), say('One more is done.')),
    ],
  });
}

describe.each(protocols)('$name', (protocol) => {
  it('S3, S5: a long run keeps the request, the plan and whole pairs in a bounded window', async () => {
    const played = await playLong(protocol);
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(played.requests.length).toBe(37);
    let done = 0;
    for (const [index, request] of played.requests.entries()) {
      // S5: one provider joins neighbours, so that the bound is on what is sent, not on
      // what is kept.
      expect(
        request.messages.filter(({ role }) => role !== 'system').length,
      ).toBeLessThanOrEqual(maxMessages + 1);
      expect(hasWholePairs(request)).toBe(true);
      // S3: the request of the human is the first thing that the model reads, in every
      // call.
      expect(userTexts(request)[0]).toContain(goal);
      // S3: the plan is the last thing, and it is the plan of this moment.
      if (index === 0) continue;
      if ((index - 1) % 3 === 2) done += 1;
      const isDone = (index - 1) % 3 === 2 ? done : Math.floor((index - 1) / 3);
      expect(plannedNext(request)).toBe(titles[isDone]);
    }
  });
});

describe('the prompt', () => {
  it('S3: without open todos no plan is sent', async () => {
    const played = await play({
      protocol: protocols[0]!,
      goal: 'Say hello.',
      steps: [say('Hello.')],
    });
    expect(userTexts(played.requests[0]!)).toEqual(['Say hello.']);
  });

  it('S1: the planning instructions stand in the system prompt and never change during a run', async () => {
    const played = await playLong(protocols[2]!);
    expect(new Set(played.requests.map(({ system }) => system)).size).toBe(1);
    expect(played.requests[0]!.system).toContain('create_todo');
  });
});
