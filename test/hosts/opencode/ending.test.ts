// How a turn ends when the real `opencode serve` goes idle: an agent that quits early
// goes on, one that is finished is left alone, and one that will not move is let go with
// an honest word. The control runs show the host without us.
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  after,
  always,
  ask,
  callTool,
  complete,
  duplicateWrite,
  plan,
  say,
  script,
  toggle,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { filesOf, quitter, titles } from '../harness/stories/story.ts';
import type { Conversation } from './conversation.ts';
import type { Kept } from './our-record.ts';
import { hasty, type Stage, startStage } from './stage.ts';
import { finished, stubborn, toggler } from './stories.ts';

const hundred = Array.from(
  { length: 100 },
  (_, index) => `part-${String(index + 1).padStart(3, '0')}`,
);

const scripts = [
  stubborn,
  toggler,
  finished,
  quitter('quitter', ...titles),
  quitter('hundred', ...hundred),
  script('repeater', [
    plan('parser', 'docs'),
    always(duplicateWrite(), say('I am done.')),
  ]),
  script('asker', [plan('parser', 'docs'), always(ask('Which parser shall I take?'))]),
  script('part', [
    plan('parser', 'docs'),
    writeFile('parser.txt', 'x'),
    complete('parser'),
    say('The parser is done.'),
    callTool('todo_pause', { reason: 'Only the parser was asked for.' }),
    always(say('I was asked for the parser only.')),
  ]),
  script('answer', [always(say('42.'))]),
  script('slow-toggler', [
    plan('parser', 'docs'),
    always(after(700, toggle('parser')), after(700, say('I am done.'))),
  ]),
  script('slow-stubborn', [
    plan('parser', 'docs'),
    always(after(1200, say('I am done.'))),
  ]),
];

let stage: Stage;
beforeAll(async () => {
  stage = await startStage(scripts);
}, 60_000);
afterAll(() => stage.close());

interface Ended extends Kept {
  readonly conversation: Conversation;
  readonly continuations: readonly string[];
  readonly files: readonly string[];
}

/** One human message in a folder of its own, until the turn has settled. */
async function playToEnd(
  name: string,
  given: { config?: object; seconds?: number } = {},
): Promise<Ended> {
  const conversation = await stage.open({ config: { ...hasty, ...given.config } });
  await conversation.say(`[script:${name}] Do it.`);
  const kept = await stage.record.settled(conversation.id, given.seconds);
  return { ...kept, ...lookAt(conversation) };
}

function lookAt(conversation: Conversation) {
  const files = readdirSync(conversation.directory).filter((file) => /\.txt$/.test(file));
  return {
    conversation,
    continuations: stage.continuations(conversation.id),
    files: files.sort(),
  };
}

/** The host without us: one turn. */
async function playAlone(name: string) {
  const conversation = await stage.open({ plugins: [] });
  await conversation.say(`[script:${name}] Do it.`);
  await conversation.waitForTurns(1);
  return lookAt(conversation);
}

describe('an agent that stops too early', () => {
  it('P1: goes on until the plan is finished, naming the next todo each time', async () => {
    const ended = await playToEnd('quitter');
    expect(ended.continuations).toHaveLength(2);
    expect(ended.continuations[0]).toContain('1/3 completed, 2 remaining');
    expect(ended.continuations[0]).toContain('beta');
    expect(ended.continuations[1]).toContain('gamma');
    expect(ended.files).toEqual(filesOf(titles));
    const todos = await ended.conversation.todos();
    expect(todos.map(({ content, status }) => [content, status])).toEqual(
      titles.map((title) => [title, 'completed']),
    );
    expect(ended.session.settled?.outcome, 'nothing checked the work').toBe('claimed');
  });

  it('control: the host alone lets it go after the first todo', async () => {
    const alone = await playAlone('quitter');
    expect(alone.continuations).toHaveLength(0);
    expect(alone.files).toEqual(['alpha.txt']);
  });

  it('P30: works through a plan of one hundred, one todo per stop', async () => {
    const ended = await playToEnd('hundred', { seconds: 280 });
    expect(ended.continuations).toHaveLength(99);
    expect(ended.files).toEqual(filesOf(hundred));
    expect(ended.todos.map(({ status }) => status)).toEqual(
      hundred.map(() => 'completed'),
    );
    expect(ended.session.settled?.outcome).toBe('claimed');
  }, 300_000);

  it('E6: our messages are synthetic, carry our mark and are never taken for a human', async () => {
    const ended = await playToEnd('quitter');
    const messages = await ended.conversation.messages();
    const ours = messages.filter(({ parts }) =>
      parts.some(({ text }) => text?.includes('TODO CONTINUATION')),
    );
    expect(ours).toHaveLength(2);
    for (const { parts } of ours) {
      expect(parts).toMatchObject([
        { type: 'text', synthetic: true, metadata: { untildone: {} } },
      ]);
    }
    expect(ended.events.filter(({ type }) => type === 'human-spoke')).toHaveLength(1);
    expect(ended.outbox.map(({ state }) => state)).toEqual(['observed', 'observed']);
  });
});

describe('an agent that may stop', () => {
  it('P29: is truly finished: not one continuation', async () => {
    const check = { file: 'beta.txt' };
    const ended = await playToEnd('finished', {
      config: { checks: { files: check }, goal: ['files'] },
    });
    expect(ended.continuations).toHaveLength(0);
    expect(ended.decisions.filter(({ answer }) => answer === 'continue')).toEqual([]);
    expect(ended.session.settled?.outcome).toBe('done');
    expect(ended.files).toEqual(['alpha.txt', 'beta.txt']);
  });

  it('T2: has no todos and just answers: not one continuation', async () => {
    const ended = await playToEnd('answer');
    expect(ended.continuations).toHaveLength(0);
    expect(ended.decisions).toMatchObject([
      { answer: 'let-go', reason: 'no-plan', outcome: null },
    ]);
  });

  it('P33: was asked for a part only: at most one continuation, then it pauses and is left alone', async () => {
    const ended = await playToEnd('part');
    expect(ended.continuations).toHaveLength(1);
    expect(ended.continuations[0]).toContain('todo_pause');
    expect(ended.session).toMatchObject({
      settled: { outcome: 'paused' },
      pause: { by: 'model' },
    });
    expect(ended.files).toEqual(['parser.txt']);
  });
});

describe('an agent that does not move', () => {
  it('G7: is reminded three times and let go as stagnant', async () => {
    const ended = await playToEnd('stubborn');
    expect(ended.continuations).toHaveLength(3);
    expect(new Set(ended.continuations).size, 'each says something new').toBe(3);
    expect(ended.session.settled).toMatchObject({
      outcome: 'stagnant',
      reason: 'stagnant',
    });
  });

  it.each(['toggler', 'slow-toggler'])(
    'P5: toggles a status for ever (%s): bounded',
    async (name) => {
      const ended = await playToEnd(name);
      expect(ended.continuations.length).toBeGreaterThan(0);
      expect(ended.continuations.length).toBeLessThanOrEqual(10);
      expect(ended.session.settled?.outcome).toBe('stagnant');
    },
  );

  it('P4: writes the same list again and again: no progress, bounded', async () => {
    const ended = await playToEnd('repeater');
    expect(ended.continuations.length).toBeLessThanOrEqual(4);
    expect(ended.session.settled?.outcome).toBe('stagnant');
  });

  it('P8: ends in a question: sent on once, asked again it waits for the human', async () => {
    const conversation = await stage.open();
    await conversation.say('[script:asker] Do it.');
    const kept = await stage.record.decided(conversation.id, 'repeated-question');
    expect(stage.continuations(conversation.id)).toHaveLength(1);
    expect(stage.continuations(conversation.id)[0]).toContain('todo_pause');
    expect(kept.decisions.at(-1)).toMatchObject({ reason: 'repeated-question' });
  });
});

describe('time', () => {
  /** When each continuation came in, beside when the answer before it was given. */
  function gapsOf({ id }: Conversation): readonly number[] {
    const requests = stage.requests(id);
    return requests
      .slice(1)
      .flatMap((request, index) =>
        requests[index]?.reply.finish === 'stop' ? [request.at - requests[index].at] : [],
      );
  }

  it('E1: the countdown runs with a toast each second, in our words', async () => {
    const ended = await playToEnd('quitter', { config: { countdownSeconds: 2 } });
    const toasts = stage.serve.events
      .filter(
        ({ type, directory }) =>
          type === 'tui.toast.show' && directory === ended.conversation.directory,
      )
      .map(({ properties }) => properties);
    expect(toasts[0]).toMatchObject({ variant: 'warning', duration: 900 });
    expect(toasts.map(({ message }) => message).slice(0, 2)).toEqual([
      expect.stringMatching(/^Resuming in 2 s, 2 todos remaining/),
      expect.stringMatching(/^Resuming in 1 s, 2 todos remaining/),
    ]);
    for (const gap of gapsOf(ended.conversation))
      expect(gap).toBeGreaterThanOrEqual(2000);
    expect(ended.continuations).toHaveLength(2);
  });

  it('G10: fast turns, idle again right after an injection, are continued later and never stall', async () => {
    const ended = await playToEnd('stubborn', {
      config: { countdownSeconds: 0, minIntervalSeconds: 1 },
    });
    expect(ended.continuations).toHaveLength(3);
    const sent = ended.outbox.map(({ createdAt }) => createdAt);
    const apart = sent.slice(1).map((at, index) => at - sent[index]!);
    for (const milliseconds of apart) expect(milliseconds).toBeGreaterThanOrEqual(1000);
    const idles = ended.conversation.events('session.idle').map(({ at }) => at);
    expect(idles[1]! - sent[0]!, 'the next idle came within the interval').toBeLessThan(
      1000,
    );
    expect(ended.session.settled?.outcome).toBe('stagnant');
  });

  it('G10: slow turns are bounded in the same way', async () => {
    const ended = await playToEnd('slow-stubborn');
    expect(ended.continuations).toHaveLength(3);
    expect(ended.session.settled?.outcome).toBe('stagnant');
  });
});
