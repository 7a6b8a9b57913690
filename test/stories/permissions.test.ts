// Permissions that ask: the question is on the record, the automation waits, and the
// answer counts wherever and whenever it was given (S7, P9).
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PermissionChoice } from '../../src/agent/agent-event.ts';
import { noAsking } from '../../src/agent/loop/tool-calls.ts';
import type { HumanControl } from '../../src/agent/run-agent.ts';
import type { RememberedGrant } from '../../src/agent/workspace/remembered-grants.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import {
  complete,
  parallel,
  plan,
  runCommand,
  type Step,
  say,
} from '../../src/scripted-model/index.ts';
import { delegate } from './delegating.ts';
import { createMortalStore } from './mortal-store.ts';
import { type Played, type Stage, type Story, setStage } from './play.ts';
import { oneProtocol as protocol } from './protocols.ts';
import { ending, eventsOf, lastResults } from './seen.ts';

const asks = { mode: 'ask', shellAllow: [] } as const;
const here = { ...noAsking, here: true };
const log = (word: string): Step => runCommand(`echo ${word} >> calls.log`);
const end: readonly Step[] = [complete('Write it'), say('Written.')];

/** A story whose human gives these answers, one after the other. */
async function answered(
  steps: readonly Step[],
  answers: readonly PermissionChoice[],
  more: Partial<Story> = {},
): Promise<Played & { readonly log: readonly string[] }> {
  let control: HumanControl | null = null;
  const left = [...answers];
  const stage = await setStage({
    protocol,
    permissions: asks,
    asking: here,
    steps: [plan('Write it'), ...steps, ...end],
    onControl: (given) => {
      control = given;
    },
    watch: (event) => {
      if (event.type === 'permission-asked')
        void control?.answer(event.requestId, left.shift() ?? 'no');
    },
    ...more,
  });
  const played = await stage.run();
  return { ...played, log: readLog(stage.root) };
}

function readLog(root: string): readonly string[] {
  const path = join(root, 'calls.log');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

function requestAt({ requests }: Played, index: number): Played['requests'][number] {
  const request = requests[index];
  if (request === undefined) throw new Error(`There is no request ${index}.`);
  return request;
}

const asked = (played: Played): number => eventsOf(played, 'permission-asked').length;

describe('a permission that the human is asked for', () => {
  it('S7: the run waits for the answer, and the answer resumes it; once is once', async () => {
    const played = await answered([log('a'), log('a')], ['once', 'once']);
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(played.log).toEqual(['a', 'a']);
    expect(
      eventsOf(played, 'permission-asked').map(({ subject, pattern }) => [
        subject,
        pattern,
      ]),
    ).toEqual([
      ['echo a >> calls.log', '= echo a >> calls.log'],
      ['echo a >> calls.log', '= echo a >> calls.log'],
    ]);
    expect(played.session.waits.permissions).toEqual([]);
    expect(played.session.permissions).toMatchObject({ requests: [], grants: [] });
  });

  it('S7: for the session it is asked once per pattern, in later turns too', async () => {
    const played = await answered([log('a'), log('a'), log('b')], ['session', 'session']);
    expect(played.log).toEqual(['a', 'a', 'b']);
    expect(asked(played)).toBe(2);
    const grants = played.session.permissions?.grants.map(({ pattern, remembered }) => [
      pattern,
      remembered,
    ]);
    expect(grants).toEqual([
      ['= echo a >> calls.log', 'session'],
      ['= echo b >> calls.log', 'session'],
    ]);
  });

  it('S7: for good it is handed to the memory of this directory with the answer that gave it', async () => {
    const kept: RememberedGrant[] = [];
    const remember = async (grant: RememberedGrant) => void kept.push(grant);
    const played = await answered([log('a')], ['always'], {
      asking: { ...here, remember },
    });
    expect(kept).toMatchObject([{ tool: 'shell', pattern: '= echo a >> calls.log' }]);
    const [grant] = kept;
    const isOnRecord =
      (await played.stage.store.events({ ids: [grant?.answerId ?? ''] })).length > 0;
    expect(isOnRecord).toBe(true);
    const again = await answered([log('a')], [], {
      asking: { ...here, remembered: kept },
    });
    expect(asked(again)).toBe(0);
    expect(again.log).toEqual(['a']);
  });

  it('S7: a no is told to the model, which goes on with something else; it is not asked for again', async () => {
    const played = await answered([log('a'), log('a'), log('b')], ['no', 'once']);
    expect(played.log).toEqual(['b']);
    expect(asked(played)).toBe(2);
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(played.session.pause).toBeNull();
    for (const index of [2, 3])
      expect(lastResults(requestAt(played, index))).toMatchObject([
        { text: expect.stringContaining('The human said no to shell') },
      ]);
  });

  it('S7: two calls side by side with one pattern are one question', async () => {
    const played = await answered([parallel(log('a'), log('a'))], ['session']);
    expect(asked(played)).toBe(1);
    expect(played.log).toEqual(['a', 'a']);
  });

  it('S7: two calls side by side with the same words are not both allowed by one yes for once', async () => {
    const played = await answered([parallel(log('a'), log('a'))], ['once', 'no']);
    expect(asked(played)).toBe(2);
    expect(played.log).toEqual(['a']);
  });

  it('S7: a worker asks through the run that sent it', async () => {
    const played = await answered([], ['once'], {
      workers: { coder: [log('worker'), say('Done.')] },
      steps: [
        plan({ title: 'Write it', agentType: 'coder' }),
        delegate('Write it'),
        ...end,
      ],
    });
    expect(played.log).toEqual(['worker']);
    expect(asked(played)).toBe(1);
    expect(played.session.permissions?.requests).toEqual([]);
  });
});

/** What `untildone approve` does: another process, which only knows the store. */
async function answerElsewhere(
  { store, sessionId }: Stage,
  choice: PermissionChoice,
): Promise<number> {
  const session = await store.state(sessionId);
  const waiting =
    session?.permissions?.requests.filter(({ answer }) => answer === null) ?? [];
  const identifiers = createIdentifiers();
  const policy = () => {
    throw new Error('An answer needs no policy of its own.');
  };
  const engine = createRuntime({
    store,
    clock: systemClock,
    identifiers,
    hash: sha256,
    policy,
  });
  for (const { requestId } of waiting)
    await engine.handle({
      id: identifiers.next(),
      sessionId,
      at: systemClock.now(),
      type: 'wait-ended',
      wait: {
        kind: 'permission',
        requestId,
        granted: choice !== 'no',
        remembered: choice,
      },
    });
  return waiting.length;
}

describe('without anyone to ask', () => {
  const story: Story = {
    protocol,
    permissions: asks,
    steps: [plan('Write it'), log('a'), ...end],
  };

  it('S7, P9: the run ends paused with exit code 7, and the sentence names the command that answers', async () => {
    const stage = await setStage(story);
    const played = await stage.run();
    expect(ending(played)).toEqual({
      outcome: 'paused',
      reason: 'permission-pending',
      exitCode: 7,
    });
    expect(played.ended.sentence).toContain(
      'shell: echo a >> calls.log; `untildone approve` answers it',
    );
    expect(played.session.waits.permissions).toHaveLength(1);
    expect(readLog(stage.root)).toEqual([]);
  });

  it.each([
    ['once', ['a']],
    ['no', []],
  ] as const)(
    'S7: an answer that was given while the process was dead counts: %s',
    async (choice, made) => {
      const stage = await setStage(story);
      const first = await stage.run();
      expect(await answerElsewhere(stage, choice)).toBe(1);
      const played = await stage.run({ goal: null, resume: true });
      expect(ending(played)).toMatchObject({ outcome: 'claimed' });
      expect(readLog(stage.root)).toEqual(made);
      expect(asked(played), 'nobody is asked again').toBe(0);
      expect(eventsOf(played, 'permission-answered')).toMatchObject([
        { remembered: choice, by: 'elsewhere' },
      ]);
      // The call that waited is made before the model is called again.
      const results = lastResults(requestAt(played, first.requests.length));
      expect(results[0]?.text).toMatch(choice === 'no' ? /said no/u : /Exit code 0/u);
    },
  );

  it('S7: a yes counts for nothing where the run is taken up read-only', async () => {
    const stage = await setStage(story);
    await stage.run();
    await answerElsewhere(stage, 'once');
    await stage.run({
      goal: null,
      resume: true,
      permissions: { mode: 'read-only', shellAllow: [] },
    });
    expect(readLog(stage.root)).toEqual([]);
  });

  it('S7: resumed without an answer it asks the same question again, not another one', async () => {
    const stage = await setStage(story);
    const [before] = eventsOf(await stage.run(), 'permission-asked');
    const played = await stage.run({ goal: null, resume: true });
    expect(ending(played)).toMatchObject({ outcome: 'paused', exitCode: 7 });
    expect(
      eventsOf(played, 'permission-asked').map(({ requestId }) => requestId),
    ).toEqual([before?.requestId]);
    expect(played.session.permissions?.requests).toHaveLength(1);
  });

  it('design: an answer from where nobody is counts for nothing: an agent may have made itself a terminal', async () => {
    let control: HumanControl | null = null;
    const stage = await setStage({
      ...story,
      onControl: (given) => {
        control = given;
      },
      watch: (event) => {
        if (event.type === 'permission-asked')
          void control?.answer(event.requestId, 'always');
      },
    });
    const played = await stage.run();
    expect(ending(played)).toMatchObject({ outcome: 'paused', exitCode: 7 });
    expect(played.session.permissions).toMatchObject({
      requests: [{ answer: null }],
      grants: [],
    });
  });

  it('S7: new words instead of an answer give the call up, and the model is told', async () => {
    const stage = await setStage({
      ...story,
      steps: [plan('Write it'), log('a'), say('I see.'), ...end],
    });
    const first = await stage.run();
    const played = await stage.run({ goal: 'Do it without commands.', resume: true });
    const told = requestAt(played, first.requests.length);
    expect(lastResults(told)).toMatchObject([
      { text: expect.stringContaining('was not made') },
    ]);
    expect(played.session.permissions?.requests).toEqual([]);
    expect(played.session.waits.permissions).toEqual([]);
    expect(readLog(stage.root)).toEqual([]);
  });

  it('S7: it waits for an answer from elsewhere as long as it was told to', async () => {
    const stage = await setStage({
      ...story,
      asking: { ...noAsking, waitMs: 3_600_000 },
      watch: (event) => {
        if (event.type === 'permission-asked')
          setTimeout(() => void answerElsewhere(stage, 'once'), 20);
      },
    });
    const played = await stage.run();
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(eventsOf(played, 'permission-answered')).toMatchObject([
      { granted: true, by: 'elsewhere' },
    ]);
    expect(readLog(stage.root)).toEqual(['a']);
  });
});

describe('killed while it asks', () => {
  const steps = [plan('Write it'), log('a'), ...end];

  /** A stage whose human always says yes, once; the questions are kept. */
  async function consenting(onAsked: () => void = () => {}) {
    const questions = new Set<string>();
    let control: HumanControl | null = null;
    const stage = await setStage({
      protocol,
      permissions: asks,
      asking: here,
      steps,
      fingerprint: 'none',
      onControl: (given) => {
        control = given;
      },
      watch: (event) => {
        if (event.type !== 'permission-asked') return;
        onAsked();
        questions.add(event.requestId);
        void control?.answer(event.requestId, 'once');
      },
    });
    return { stage, questions };
  }

  /** From the write that puts the question on record to the one that ends the call. */
  async function writesOfQuestion(): Promise<readonly number[]> {
    let asking = 0;
    let made = 0;
    const { stage } = await consenting(() => {
      asking = counting.writes();
    });
    const counting = createMortalStore(stage.store, Number.POSITIVE_INFINITY, 'after');
    const watch: Story['watch'] = (event) => {
      if (event.type === 'tool-ended' && event.tool === 'shell') made = counting.writes();
    };
    await stage.run({ store: counting, watch });
    return Array.from({ length: made - asking + 3 }, (_, index) => asking - 2 + index);
  }

  it('V5: at each of its writes, the question is answered once and the call is made once', async () => {
    const writes = await writesOfQuestion();
    expect(writes.length).toBeGreaterThan(6);
    for (const at of writes) {
      const { stage, questions } = await consenting();
      const mortal = createMortalStore(
        stage.store,
        at,
        at % 2 === 0 ? 'before' : 'after',
      );
      void stage.run({ store: mortal });
      await mortal.died;
      const played = await stage.run({ goal: null, resume: true });
      const made = readLog(stage.root);
      const isInterrupted = JSON.stringify(played.transcript).includes(
        'it is unknown whether',
      );
      expect(made, `write ${at}`).toEqual(
        isInterrupted && made.length === 0 ? [] : ['a'],
      );
      // What was never on record is asked for under a new name.
      expect(questions.size, `write ${at}`).toBeLessThanOrEqual(at === writes[0] ? 2 : 1);
      expect(played.session.permissions?.requests ?? [], `write ${at}`).toEqual([]);
    }
  });
});
