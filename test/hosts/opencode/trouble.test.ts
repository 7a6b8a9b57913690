// Providers that fail and contexts that overflow, in the real OpenCode: what the host
// mends itself is left to it, and what it cannot mend is not answered with continuations.
// After a compaction the plan is given again.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  always,
  complete,
  contextOverflow,
  fail,
  inOrder,
  plan,
  rateLimit,
  say,
  script,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { ourPlugin } from './opencode.ts';
import { type Stage, startStage } from './stage.ts';

const deafPlugin = fileURLToPath(new URL('deaf-plugin.ts', import.meta.url));

const begun = inOrder(
  plan('parser', 'docs'),
  writeFile('parser.txt', 'x'),
  complete('parser'),
);
const rest = inOrder(
  writeFile('docs.txt', 'x'),
  complete('docs'),
  always(say('I am done.')),
);

const scripts = [
  script('broken', [begun, always(fail(400))]),
  script('broken-once', [begun, say('I am done.'), fail(400), rest]),
  script('shaky', [begun, fail(500), say('I am done.'), rest]),
  script('limited', [begun, rateLimit(1), say('I am done.'), rest]),
  // Found by the name of the model: what the human wrote is gone after a compaction.
  script('first', [begun, contextOverflow(), say('I am done.'), rest], {
    cursor: 'server',
  }),
  script('quiet', [begun, say('I am done.'), rest]),
  script('second', [begun, say('I am done.'), rest], { cursor: 'server' }),
];

let stage: Stage;
beforeAll(async () => {
  stage = await startStage(scripts);
}, 60_000);
afterAll(() => stage.close());

async function open(name: string, config?: object) {
  const conversation = await stage.open(config === undefined ? {} : { config });
  await conversation.say(`[script:${name}] Do it.`);
  return conversation;
}

const quietMs = 1500;

describe('a provider that fails', () => {
  it('HTTP 400 is not answered with a continuation, although the host idles twice (trap 1)', async () => {
    const conversation = await open('broken');
    await conversation.waitFor('session.error');
    await sleep(quietMs);
    expect(stage.continuations(conversation.id)).toHaveLength(0);
    const kept = await stage.record.read(conversation.id);
    expect(
      conversation.events('session.idle').length,
      'the host told of it twice',
    ).toBeGreaterThan(1);
    expect(
      kept?.decisions.map(({ answer }) => answer),
      'E4: and was answered once',
    ).toEqual(['let-go']);
    expect(kept?.events.map(({ type }) => type)).toContain('error-occurred');
  });

  it('HTTP 400 in answer to a continuation: no second one is sent for the same stop', async () => {
    const conversation = await open('broken-once');
    await conversation.waitFor('session.error');
    await sleep(quietMs);
    expect(stage.continuations(conversation.id)).toHaveLength(1);
  });

  it('G9: HTTP 500 is retried by the host, which is neither a stop nor a failure (trap 9)', async () => {
    const conversation = await open('shaky');
    const kept = await stage.record.settled(conversation.id, 60);
    const statuses = conversation
      .events('session.status')
      .map(({ properties }) => (properties['status'] as { type: string }).type);
    expect(statuses).toContain('retry');
    expect(stage.continuations(conversation.id)).toHaveLength(1);
    expect(kept.session.settled?.outcome).toBe('claimed');
    expect(kept.session.circuit?.count ?? 0).toBeLessThan(3);
  });

  it('P21: 429 waits for its reset: no continuation meanwhile, and no stagnation', async () => {
    const conversation = await open('limited');
    const kept = await stage.record.settled(conversation.id, 60);
    expect(stage.continuations(conversation.id)).toHaveLength(1);
    expect(kept.session.settled?.outcome).toBe('claimed');
    expect(kept.session.counters.stagnant).toBe(0);
  });
});

describe('G9: a host that answers 204 and then does nothing (trap 5)', () => {
  it('is sent the continuation again, and the model gets it once', async () => {
    const conversation = await stage.open({ plugins: [deafPlugin, ourPlugin] });
    await conversation.say('[script:quiet] Do it.');
    const kept = await stage.record.settled(conversation.id, 60);
    expect(stage.continuations(conversation.id)).toHaveLength(1);
    expect(kept.outbox).toMatchObject([{ state: 'observed' }]);
    expect(kept.todos.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });
});

describe('P23: the context', () => {
  it('overflows: the host compacts and goes on by itself, and the plan survives (trap 8)', async () => {
    const conversation = await open('first');
    await conversation.waitFor('session.compacted');
    const kept = await stage.record.settled(conversation.id, 60);
    expect(kept.todos.map(({ title, status }) => [title, status])).toEqual([
      ['parser', 'completed'],
      ['docs', 'completed'],
    ]);
    expect(kept.session.settled?.outcome).toBe('claimed');
  });

  it('is compacted by hand during the countdown: the plan is given again with the next continuation', async () => {
    const conversation = await stage.open({ config: { countdownSeconds: 3 } });
    await conversation.say('Do it.', { model: 'second' });
    await stage.record.decided(conversation.id, 'not-yet');
    await conversation.compact('second');
    await conversation.waitFor('session.compacted');
    await waitUntil(
      'it was continued',
      () => stage.continuations(conversation.id).length === 1,
    );
    expect(stage.continuations(conversation.id)[0]).toContain('docs');
    const kept = await stage.record.settled(conversation.id);
    expect(kept.decisions.find(({ answer }) => answer === 'continue')?.textKind).toBe(
      'after-compaction',
    );
    expect(kept.todos.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });
});
