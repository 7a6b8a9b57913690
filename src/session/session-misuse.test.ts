// What programs get wrong: each gets one sentence or the right outcome, and none holds
// nobody without a word.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../test/properties/property-runs.ts';
import { createLibraryStage, finish, planned } from '../../test/support/library-stage.ts';
import { messageOf, UntildoneError } from '../core/error.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

describe('options', () => {
  // Neither a shell line nor a file that somebody made up.
  const noLines = fc.anything().filter((value) => !Array.isArray(value));
  const noPath = fc.anything().filter((value) => typeof value !== 'string');
  const any = fc.anything();
  const options = fc.record(
    {
      goal: any,
      id: any,
      settings: any,
      signal: any,
      onDecision: any,
      onNotice: any,
      policy: any,
      checker: any,
      clock: any,
      identifiers: any,
      environment: any,
      directory: any,
      gaol: any,
      checks: fc.oneof(noLines, fc.constant([' ']), fc.constant(['true', 5])),
      store: fc.oneof(noPath, fc.constant(' ')),
    },
    { requiredKeys: [] },
  );

  it('15: whatever they are, they are taken or refused in one sentence, before anything is opened', async () => {
    const { directory, environment } = createLibraryStage();
    const place = { directory, environment, store: ':memory:', onNotice: () => {} };
    const open = async (given: unknown) => {
      const session = await openSession(given as SessionOptions).catch(
        (error: unknown) => error,
      );
      if (session instanceof Error) {
        expect(session).toBeInstanceOf(UntildoneError);
        expect(session.message).toMatch(/^openSession: [^\n]{10,400}$/u);
      } else await (session as Awaited<ReturnType<typeof openSession>>).close();
    };
    await fc.assert(
      fc.asyncProperty(options, (given) => open({ ...place, ...given })),
      { numRuns: propertyRuns(150) },
    );
    for (const given of [null, 5, 'migrate the tests', [], () => {}]) await open(given);
    expect(existsSync(environment.UNTILDONE_HOME)).toBe(false);
  });

  it.each([
    ['the goal alone', 'migrate the tests', 'must be an object, got "migrate the tests"'],
    ['a file as folder', { directory: import.meta.filename }, 'is not a folder'],
    [
      'a blank store',
      { store: '' },
      'store: must be a path, ":memory:" or a store, got ""',
    ],
    ['half a policy', { policy: {} }, 'policy.goalChecks: must be a list, got nothing'],
    [
      'settings that are none',
      { settings: 5 },
      'settings: the configuration must be an object',
    ],
  ])('15: %s is told with its path', async (_what, given, sentence) => {
    await expect(openSession(given as SessionOptions)).rejects.toThrow(sentence);
  });

  it('G4: a signal of another realm is followed', async () => {
    const human = new EventTarget() as EventTarget & { aborted: boolean };
    human.aborted = false;
    const session = await createLibraryStage().open({ goal: 'go', signal: human });
    await planned(session, 'a');
    human.dispatchEvent(new Event('abort'));
    expect(await session.stop()).toMatchObject({ answer: 'let-go', outcome: 'aborted' });
  });
});

describe('calls', () => {
  it('15: what is no agent, no tools and no format is told', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    await expect(session.hold('agent' as never)).rejects.toThrow(
      'hold: must be a function',
    );
    await expect(session.stop('I am done' as never)).rejects.toThrow(
      'stop: must be an object, got "I am',
    );
    await expect(session.stop({ message: 'Done.' } as never)).rejects.toThrow(
      'stop: "message" is unknown; it takes text and end.',
    );
    expect(() => session.toolsFor('gemini' as never)).toThrow(
      'toolsFor: must be one of openai, anthropic',
    );
    expect(() => session.watch(null as never)).toThrow(
      'watch: must be an object with tools by name',
    );
    expect(session.watch({ none: null as never })).toEqual({ none: null });
    expect(session.outcome).toBeNull();
  });

  it('15: stops at once are answered one after the other', async () => {
    const session = await createLibraryStage().open({ goal: 'go', checks: ['false'] });
    const answers = await Promise.all([session.stop(), session.stop()]);
    expect(answers.map(({ answer }) => answer)).toEqual(['continue', 'continue']);
    const holds = [
      session.hold((_messages) => 'Done.'),
      session.hold((_messages) => 'Done.'),
    ];
    await expect(holds[1]).rejects.toThrow('hold: the agent is held already');
    expect([await holds[0], session.outcome]).toEqual(['Done.', 'stagnant']);
  });

  it('P41: of several that open one session at once, one gets it', async () => {
    const { open, store: path } = createLibraryStage();
    const store = await openSqliteStore({ path });
    const opened = await Promise.allSettled(
      [1, 2, 3].map(() => open({ id: 'one', goal: 'go', store })),
    );
    expect(opened.map(({ status }) => status).toSorted()).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    for (const result of opened)
      if (result.status === 'rejected')
        expect(result.reason.message).toContain('The session "one" is open in');
    await store.close();
  });

  it('15: a session that was closed or left says so, and the program’s own tools go on', async () => {
    const { open, store } = createLibraryStage();
    await (await open({ id: 'other', goal: 'go', store })).close();
    const session = await open({ id: 'one', goal: 'go', store });
    const { add } = session.watch({ add: { execute: async (one: number) => one + 1 } });
    const other = await session.resume('other');
    const { list_todo } = session.tools;
    for (const call of [
      () => list_todo.execute({}),
      () => session.stop(),
      () => session.why(),
    ])
      await expect(call()).rejects.toThrow('The session "one" is closed.');
    expect(await add.execute(1)).toBe(2);
    await other.close();
    await expect(other.hold((_messages) => 'Done.')).rejects.toThrow(
      'The session "other" is closed.',
    );
  });

  it('15: closed while the agent is held, it says so; an error of the agent stays its own', async () => {
    const { open } = createLibraryStage();
    const closed = async (answer: () => string) => {
      const session = await open({ id: 'one', goal: 'go' });
      const held = session.hold(async (_messages) => {
        await session.close();
        return answer();
      });
      return held.catch(messageOf);
    };
    const sentence = 'The session "one" is closed.';
    expect(await closed(() => 'Done.')).toBe(sentence);
    expect(
      await closed(() => {
        throw new Error('no network');
      }),
    ).toBe('no network');
    // While a check runs, and while a wait lasts.
    const settings = { baselineSeconds: 0 };
    const checked = await open({ id: 'one', goal: 'go', checks: ['sleep 1'], settings });
    const waits = await open({ id: 'one', goal: 'go' });
    await waits.tell({ type: 'wait-started', wait: { kind: 'compaction' } });
    for (const session of [checked, waits]) {
      const held = session.hold((_messages) => 'Done.');
      setTimeout(() => void session.close(), 300);
      await expect(held).rejects.toThrow(sentence);
    }
  });

  it('G3: what is told meanwhile ends a wait', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    await planned(session, 'a');
    await session.tell({ type: 'wait-started', wait: { kind: 'compaction' } });
    const stopped = session.stop();
    setTimeout(() => {
      void session.tell({
        type: 'wait-ended',
        wait: { kind: 'compaction', shrunk: true },
      });
    }, 200);
    expect((await stopped).answer).toBe('continue');
  });
});

describe('answers', () => {
  it('15: a conversation that comes back whole is not doubled', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    await planned(session, 'a');
    const lengths: number[] = [];
    await session.hold((messages: unknown[]) => {
      lengths.push(messages.length);
      messages.push({ role: 'assistant', content: 'Done.' });
      return { text: 'Done.', messages };
    });
    expect(lengths).toEqual([1, 3, 5, 7]);
  });

  it('15: the state of another framework is no answer', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    const answer = async (messages: unknown[]) => ({
      messages: [...messages, { content: 'Done.' }],
    });
    await expect(session.hold(answer)).rejects.toThrow(
      'hold: the function must return what',
    );
  });
});

describe('nobody is held without a word', () => {
  it.each([
    ['off', 'is switched off'],
    ['observe', 'only observes'],
  ])('C2: where the environment says %s, the program is told', async (mode, sentence) => {
    const { open, environment } = createLibraryStage();
    const notices: string[] = [];
    const onNotice = (notice: string) => void notices.push(notice);
    await open({ onNotice, environment: { ...environment, UNTILDONE_MODE: mode } });
    expect(notices).toEqual([expect.stringContaining(`untildone ${sentence} here`)]);
    await open({ onNotice, settings: { mode: 'off' } });
    expect(notices).toHaveLength(1);
  });
});

describe('tools that were not passed on', () => {
  const tell = async (
    options: SessionOptions,
    agent: (session: Session) => Promise<unknown>,
  ) => {
    const notices: string[] = [];
    const onNotice = (notice: string) => void notices.push(notice);
    const { open, put, store } = createLibraryStage();
    const first = await open({ id: 'one', goal: 'go', store, onNotice, ...options });
    await agent(first);
    put('written', '');
    for (const _ of [1, 2]) await first.hold((_messages) => 'Done.');
    await first.close();
    const told = { notices: [...notices], outcome: first.outcome };
    const again = await open({ id: 'one', store, onNotice });
    await again.hold((_messages) => 'Done.');
    return { ...told, later: notices.length - told.notices.length };
  };
  const nothing = async () => {};

  it.each([
    ['claimed', []],
    ['stagnant', ['false']],
  ])(
    '15: an agent that ends as %s without a todo tool is named once',
    async (outcome, checks) => {
      const sentence =
        'The agent called no todo tool: if it is to keep a plan, pass session.tools to it.';
      expect(await tell({ checks }, nothing)).toMatchObject({
        notices: [sentence],
        outcome,
      });
    },
  );

  it('15: not where the checks say that it is done, nor where a todo tool was called, even before', async () => {
    const none = { notices: [], later: 0 };
    const checks = ['test -f written'];
    expect(await tell({ checks }, nothing)).toEqual({ ...none, outcome: 'done' });
    const listed = tell({}, ({ tools }) => tools.list_todo.execute({}));
    expect(await listed).toEqual({ ...none, outcome: 'claimed' });
  });
});

describe('done by nothing', () => {
  it('V1: what a check writes is no work of an agent whose tools nobody sees', async () => {
    const session = await createLibraryStage().open({
      goal: 'go',
      checks: ['date +%N > a', 'date +%N > b'],
    });
    for (const _ of [1, 2])
      expect(await session.stop()).toMatchObject({
        outcome: 'claimed',
        reason: 'no-change',
      });
    await finish(session, (await planned(session, 'a'))[0]);
    expect(await session.stop()).toMatchObject({
      outcome: 'claimed',
      reason: 'no-change',
    });
  });

  it('V1: nor is the store, wherever it lies', async () => {
    const { open, directory, environment } = createLibraryStage();
    const own = await open({
      goal: 'go',
      checks: ['true'],
      store: join(directory, 'own.db'),
    });
    expect(await own.stop()).toMatchObject({ outcome: 'claimed', reason: 'no-change' });
    const home = { ...environment, UNTILDONE_HOME: join(directory, 'state') };
    const users = await openSession({
      goal: 'go',
      checks: ['true'],
      directory,
      environment: home,
    });
    expect(await users.stop()).toMatchObject({ outcome: 'claimed', reason: 'no-change' });
    writeFileSync(join(directory, 'written'), '');
    expect(await users.stop()).toMatchObject({ outcome: 'done' });
    await users.close();
  });

  it('V1: without a goal the work begins when the session is opened; what happened before a later one is no work for it', async () => {
    const { open, put } = createLibraryStage();
    const session = await open({ checks: ['true'] });
    put('a', '');
    expect(await session.stop()).toMatchObject({ outcome: 'done' });
    const later = await open({ checks: ['true'] });
    put('b', '');
    await later.tell({ type: 'human-spoke', text: 'go' });
    expect(await later.stop()).toMatchObject({ outcome: 'claimed', reason: 'no-change' });
  });

  it('V2: a session that is taken up keeps its checks when the human says more', async () => {
    const { open, store } = createLibraryStage();
    await (await open({ id: 'one', goal: 'go', checks: ['false'], store })).close();
    const again = await open({ id: 'one', store });
    await again.tell({ type: 'human-spoke', text: 'and the docs' });
    expect((await again.stop()).text).toContain(
      'The check “$ false” of the whole work failed',
    );
  });

  it('V5: a store that fails is told at the next stop, and breaks no tool of the program', async () => {
    const { open, store: path } = createLibraryStage();
    const store = await openSqliteStore({ path });
    const session = await open({ goal: 'go', store });
    const { add } = session.watch({ add: { execute: async (one: number) => one + 1 } });
    await session.stop();
    await store.close();
    expect(await add.execute(1)).toBe(2);
    await expect(session.stop()).rejects.toThrow('The store is closed.');
  });
});
