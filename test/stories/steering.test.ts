// Speaking to an agent while it works: the words join the turn between two steps, and
// nothing of them is lost (T3, C3).
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import type { HumanControl } from '../../src/agent/run-agent.ts';
import {
  callTool,
  complete,
  plan,
  runCommand,
  type Step,
  say,
  whenTold,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { createMortalStore } from './mortal-store.ts';
import { type Played, type Stage, type Story, setStage } from './play.ts';
import { oneProtocol as protocol } from './protocols.ts';
import { ending, eventsOf, heard, userTexts } from './seen.ts';

const words = 'Use tabs, please.';
const startsShell = (event: AgentEvent): boolean =>
  event.type === 'tool-started' && event.tool === 'shell';

/** Says something at the first event that fits. */
async function spokenTo(
  steps: readonly Step[],
  fits: (event: AgentEvent) => boolean,
  text = words,
  more: Partial<Story> = {},
): Promise<{ readonly stage: Stage; readonly run: () => Promise<Played> }> {
  let control: HumanControl | null = null;
  let isSaid = false;
  const stage = await setStage({
    protocol,
    steps,
    onControl: (given) => {
      control = given;
    },
    watch: (event) => {
      if (isSaid || !fits(event)) return;
      isSaid = true;
      void control?.say(text);
    },
    ...more,
  });
  return { stage, run: () => stage.run() };
}

const states = (played: Played): readonly string[] =>
  eventsOf(played, 'human-message').map(({ state }) => state);

describe('words to an agent at work', () => {
  it('T3, C3: are read after the running step, behind the results of its calls, and join the turn', async () => {
    const { run } = await spokenTo(
      [
        plan('Write it'),
        runCommand('sleep 0.3; echo slow'),
        complete('Write it'),
        say('Written.'),
      ],
      startsShell,
    );
    const played = await run();
    expect(states(played)).toEqual(['queued', 'joined']);
    const [, , third] = played.requests;
    const roles = third?.messages.map(({ role }) => role) ?? [];
    expect(heard(third ?? missing())).toContain(words);
    expect(roles.slice(roles.lastIndexOf('assistant'))).toEqual([
      'assistant',
      'tool',
      'user',
      'user',
    ]);
    expect(played.session.turn?.number).toBe(1);
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    // Said once, however often it is sent along afterwards.
    const last = played.requests.at(-1) ?? missing();
    expect(userTexts(last).filter((text) => text.includes(words))).toHaveLength(1);
  });

  it('G6: zero the counters, as every message of a human does', async () => {
    const { run } = await spokenTo(
      [
        plan('Write it'),
        say('Done!'),
        say('Really done!'),
        runCommand('sleep 0.3'),
        whenTold('tabs', writeFile('a.txt', 'a'), say('Done!')),
        complete('Write it'),
        say('Written.'),
      ],
      startsShell,
    );
    const played = await run();
    expect(eventsOf(played, 'continuation').length).toBeGreaterThanOrEqual(3);
    expect(played.session.counters.total).toBeLessThan(
      eventsOf(played, 'continuation').length,
    );
    expect(played.session.humanMessageIds).toHaveLength(2);
  });

  it('T3: that come while the agent says its last word are answered before the run ends', async () => {
    const { run } = await spokenTo(
      [plan('Write it'), complete('Write it'), say('Written.'), say('With tabs now.')],
      (event) => event.type === 'step-started' && event.step === 3,
    );
    const played = await run();
    expect(states(played)).toEqual(['queued', 'joined']);
    expect(heard(played.requests.at(-1) ?? missing())).toContain(words);
    expect(
      eventsOf(played, 'text')
        .map(({ text }) => text)
        .join(''),
    ).toContain('With tabs now.');
  });

  it('T3: that come after the last decision join the open plan in the same run', async () => {
    const { run } = await spokenTo(
      [
        plan('Write it'),
        say('Done!'),
        say('Really done!'),
        say('Finally!'),
        say('With tabs now.'),
      ],
      // What was held is released when the limit has let the agent go.
      (event) => event.type === 'text' && event.text.includes('Finally'),
      words,
      { settings: { ceiling: 2 } },
    );
    const played = await run();
    expect(played.decisions[2]).toMatchObject({ answer: 'let-go', reason: 'ceiling' });
    expect(played.session.turn?.number).toBe(1);
    expect(played.requests.some((request) => heard(request).includes(words))).toBe(true);
    expect(eventsOf(played, 'run-ended')).toHaveLength(1);
  });

  it('P20: exactly a stop word sets the latch and ends the run', async () => {
    const { run } = await spokenTo(
      [plan('Write it'), runCommand('sleep 20'), complete('Write it'), say('Written.')],
      startsShell,
      'stop',
    );
    const played = await run();
    expect(ending(played)).toEqual({
      outcome: 'aborted',
      reason: 'aborted',
      exitCode: 130,
    });
    expect(played.session.latch).toMatchObject({ how: 'told to stop' });
    expect(played.session.words ?? []).toEqual([]);
    expect(played.requests).toHaveLength(2);
  });

  it('T3, P37: join an agent that is asked about its background job, which nobody waits for', async () => {
    const { run } = await spokenTo(
      [
        plan('Write it'),
        callTool('start_job', { command: 'sleep 60', description: 'a server' }),
        complete('Write it'),
        say('The server runs.'),
        callTool('stop_job', { job: 'job-1' }),
        say('I heard you.'),
      ],
      (event) => event.type === 'continuation',
    );
    const played = await run();
    expect(states(played)).toEqual(['queued', 'joined']);
    expect(eventsOf(played, 'waiting')).toEqual([]);
    expect(played.requests.some((request) => heard(request).includes(words))).toBe(true);
  });
});

describe('killed between the word and the step', () => {
  it('V5: at each write the words reach the model once', async () => {
    const steps = [
      plan('Write it'),
      runCommand('sleep 0.05'),
      complete('Write it'),
      say('Written.'),
    ];
    for (const after of [1, 2, 3, 4, 5, 6]) {
      let said = false;
      let control: HumanControl | null = null;
      const stage = await setStage({
        protocol,
        steps,
        fingerprint: 'none',
        onControl: (given) => {
          control = given;
        },
      });
      // The word is the write that everything is counted from.
      const counting = createMortalStore(stage.store, Number.POSITIVE_INFINITY, 'after');
      let deadline = Number.POSITIVE_INFINITY;
      let die = (): void => {};
      const died = new Promise<void>((resolve) => {
        die = resolve;
      });
      const unlessDead = <T>(work: () => Promise<T>): Promise<T> => {
        if (counting.writes() < deadline) return work();
        die();
        return new Promise(() => {});
      };
      const mortal = new Proxy(counting, {
        get: (store, name: keyof typeof counting | 'then') =>
          name === 'then'
            ? undefined
            : (...values: unknown[]) =>
                unlessDead(async () =>
                  Reflect.apply(store[name] as never, store, values),
                ),
      });
      const first = stage.run({
        store: mortal,
        watch: (event) => {
          if (said || !startsShell(event)) return;
          said = true;
          void control?.say(words).then(() => {
            deadline = counting.writes() + after - 1;
          });
        },
      });
      await Promise.race([died, first]);
      const played = await stage.run({ goal: null, resume: true });
      const last = played.requests.at(-1) ?? missing();
      expect(
        userTexts(last).filter((text) => text.includes(words)),
        `write ${after}`,
      ).toHaveLength(1);
      expect(played.session.words ?? [], `write ${after}`).toEqual([]);
    }
  });
});

function missing(): never {
  throw new Error('There is no such request.');
}
