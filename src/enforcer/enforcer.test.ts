// The enforcer as a program sees it: events in, continuations out.
import { describe, expect, it } from 'vitest';
import {
  createProgramStage,
  stopped,
  theSession,
} from '../../test/support/program-stage.ts';
import { defaultSettings } from '../core/settings.ts';
import { createRuntime } from '../engine/runtime.ts';
import { createIdentifiers, sha256 } from '../engine/system.ts';
import { createEnforcer, type EnforcerDecision, type EnforcerOptions } from './index.ts';

const sessionId = theSession;
const minute = 60_000;

describe('an idle session with open todos', () => {
  it('E1 E6: is counted down with toasts, then told to go on with the next todo', async () => {
    const stage = await stopped();
    await stage.clock.advance(1999);
    expect(stage.injected).toEqual([]);
    expect(stage.toasts.map(({ message }) => message)).toEqual([
      'Resuming in 2 s, 2 todos remaining',
      'Resuming in 1 s, 2 todos remaining',
    ]);
    await stage.clock.advance(1);
    expect(stage.injected).toHaveLength(1);
    expect(stage.injected[0]?.text).toContain('write the parser');
    expect(stage.injected[0]?.text).toContain('TODO CONTINUATION');
    expect(stage.errors).toEqual([]);
  });

  it('T6 P45: a status or priority that we do not know: the todo is held as open, and the program is told', async () => {
    const stage = createProgramStage();
    await stage.says('Build it.');
    stage.todos = [
      { content: 'write the parser', status: 'waiting', priority: 'critical' },
      { content: 'write the tests', status: 'completed' },
    ];
    await stage.works('todo_write');
    await stage.answers();
    await stage.idles();
    await stage.clock.advance(2000);
    expect(stage.injected[0]?.text).toContain('write the parser');
    expect(String(stage.errors)).toMatch(
      /"waiting", taken as pending.*"critical", taken as medium/u,
    );
  });

  it('S6: a slip in a todo tool is not the error that blocks a todo; two of another tool are', async () => {
    const fails = async (tool: string) => {
      const stage = await stopped();
      for (let stop = 0; stop < 2; stop++) {
        await stage.clock.advance(2000);
        await stage.emits({
          type: 'tool.after',
          sessionId,
          tool,
          error: 'no todo has this id',
        });
        await stage.idles();
      }
      await stage.clock.advance(2000);
      return stage.injected.map(
        ({ text }) => /The last tool call failed|next todo: “[^”]*”/u.exec(text)?.[0],
      );
    };
    const parser = 'next todo: “write the parser”';
    expect(await fails('todo_write')).toEqual([parser, parser, parser]);
    expect(await fails('edit')).toEqual([
      parser,
      'The last tool call failed',
      'next todo: “write the tests”',
    ]);
  });

  it('V4: a program that tells of no tool is never told that its agent did nothing', async () => {
    const finished = ['a', 'b', 'c', 'd'].map((content) => ({
      content,
      status: 'completed',
    }));
    const ends = async (tellsOfTools: boolean) => {
      const stage = createProgramStage();
      await stage.says('Look these up.');
      stage.todos = finished;
      if (tellsOfTools) await stage.works('todo_write');
      await stage.answers();
      await stage.idles();
      await stage.clock.advance(2000);
      return stage.injected.length;
    };
    expect(await ends(false)).toBe(0);
    expect(await ends(true)).toBe(1);
  });

  it("V9 P26: keeps agent, model and variant of the human's last message", async () => {
    const stage = await stopped();
    await stage.clock.advance(2000);
    expect(stage.injected[0]).toMatchObject({
      sessionId,
      options: { agent: 'build', model: 'scripted/model', variant: 'high' },
    });
  });

  it('P30: drains a plan, one todo per stop, and then leaves the session alone', async () => {
    const stage = createProgramStage();
    await stage.says('Build it.');
    const todos = Array.from({ length: 12 }, (_, index) => ({
      content: `todo ${index}`,
      status: 'pending',
    }));
    stage.todos = todos;
    await stage.works('todo_write');
    for (let done = 1; done <= todos.length; done++) {
      await stage.works();
      stage.todos = todos.map((todo, index) =>
        index < done ? { ...todo, status: 'completed' } : todo,
      );
      await stage.works('todo_write');
      await stage.answers();
      await stage.idles();
      await stage.clock.advance(2000);
      expect(stage.injected).toHaveLength(Math.min(done, todos.length - 1));
    }
    await stage.clock.advance(minute);
    expect(stage.toasts.at(-1)?.message).toMatch(/^claimed, not proved/u);
  });

  it('G6: our own text, coming back as a message, is neither the human nor a reason to count anew', async () => {
    const stage = await stopped({ settings: { maxStagnant: 2 } });
    for (let turn = 0; turn < 5; turn++) {
      await stage.clock.advance(3000);
      await stage.answers();
      await stage.idles();
    }
    expect(stage.injected).toHaveLength(2);
  });

  it('G6: recognises its own text without a key, and without any text', async () => {
    for (const shape of [(text: string) => ({ text }), () => ({})]) {
      const stage = await stopped({
        settings: { maxStagnant: 2 },
        inject: (_id, text) => {
          sent += 1;
          return stage.emits({
            type: 'message.updated',
            sessionId,
            message: { id: `own-${sent}`, role: 'user', ...shape(text) },
          });
        },
      });
      let sent = 0;
      for (let turn = 0; turn < 5; turn++) {
        await stage.clock.advance(3000);
        await stage.answers();
        await stage.idles();
      }
      expect(sent).toBe(2);
    }
  });

  it('G5: reads the list again at the moment of acting', async () => {
    const stage = await stopped();
    stage.todos = stage.todos.map((todo) => ({ ...todo, status: 'completed' }));
    await stage.clock.advance(3000);
    expect(stage.injected).toEqual([]);
  });

  it('G5: does not interrupt an agent that writes again, though no event said so', async () => {
    const grown = await stopped();
    const last = grown.messages.length - 1;
    grown.messages[last] = {
      ...grown.messages[last],
      role: 'assistant',
      text: 'Done. And now',
    };
    await grown.clock.advance(minute);
    expect(grown.injected).toEqual([]);
    let idle = true;
    const busy = await stopped({ isIdle: () => idle });
    idle = false;
    await busy.clock.advance(minute);
    expect(busy.injected).toEqual([]);
  });

  it('E2: an idle that the human has overtaken starts nothing', async () => {
    const stage = await stopped();
    await stage.clock.advance(2000);
    await stage.answers();
    const idling = stage.idles();
    await stage.says('Let me see.');
    await idling;
    await stage.clock.advance(minute);
    expect(stage.injected).toHaveLength(1);
  });

  it('G5: goes on when list and messages cannot be read, or never answer', async () => {
    for (const broken of [
      () => Promise.reject(new Error('gone')),
      () => new Promise<never>(() => {}),
    ]) {
      const stage = await stopped();
      const options = stage.options as { getTodos: unknown; getMessages: unknown };
      options.getTodos = broken;
      options.getMessages = broken;
      await stage.clock.advance(20_000);
      expect(stage.injected).toHaveLength(1);
      expect(stage.errors.length).toBeGreaterThan(0);
    }
  });

  it('G5: concludes nothing from a list that cannot be read: the session is neither done nor continued', async () => {
    for (const broken of [
      () => Promise.reject(new Error('db down')),
      () => null as never,
    ]) {
      const stage = createProgramStage({ getTodos: broken });
      await stage.says('Build it.');
      await stage.answers();
      await stage.idles();
      await stage.clock.advance(minute);
      expect([stage.injected, stage.toasts]).toEqual([[], []]);
      const session = await stage.options.store?.state(`untildone-enforcer:${sessionId}`);
      expect(session).toMatchObject({ settled: null, turn: { ended: false } });
      expect(stage.errors.length).toBeGreaterThan(0);
      (stage.options as { getTodos: unknown }).getTodos = () => [
        { content: 'write the parser' },
      ];
      await stage.idles();
      await stage.clock.advance(2000);
      expect(stage.injected).toHaveLength(1);
    }
  });

  it('E2: an idle after a message of which no event told is left alone, and that is told', async () => {
    const stage = createProgramStage();
    stage.todos = [{ content: 'write the parser' }];
    stage.messages.push({ id: 'silent', role: 'user', text: 'Build it.' });
    await stage.idles();
    await stage.clock.advance(minute);
    expect(stage.injected).toEqual([]);
    expect(stage.errors.map(String)).toEqual([
      expect.stringContaining('message.updated'),
    ]);
  });

  it('E2: a program that lists more messages than are remembered is counted down like any other', async () => {
    const stage = createProgramStage();
    for (let index = 0; index < 1100; index++)
      stage.messages.push({ id: `old-${index}`, role: 'user', text: 'And then?' });
    await stage.says('Build it.');
    stage.todos = [{ content: 'write the parser' }];
    await stage.works('todo_write');
    await stage.answers();
    await stage.idles();
    await stage.clock.advance(2000);
    expect(stage.injected).toHaveLength(1);
  });

  it('M5 P34: reading the same list again is nobody’s write and takes up no plan', async () => {
    const stage = await stopped();
    await stage.clock.advance(1000);
    await stage.says('What is the capital of France?');
    await stage.answers('Paris.');
    await stage.idles();
    await stage.clock.advance(minute);
    expect(stage.injected).toEqual([]);
    expect(stage.toasts.at(-1)?.message).toContain('are still open');
  });
});

describe('signs of life', () => {
  const signs: readonly [
    string,
    (stage: Awaited<ReturnType<typeof stopped>>) => Promise<void>,
  ][] = [
    ['a new message of the human', (stage) => stage.says('Wait.')],
    ['a new answer', (stage) => stage.answers('More.')],
    [
      'a tool that starts',
      (stage) => stage.emits({ type: 'tool.before', sessionId, tool: 'edit' }),
    ],
    [
      'a tool that ends',
      (stage) => stage.emits({ type: 'tool.after', sessionId, tool: 'edit' }),
    ],
    [
      'an error',
      (stage) =>
        stage.emits({ type: 'session.error', sessionId, error: new Error('it broke') }),
    ],
    ['the deletion', (stage) => stage.emits({ type: 'session.deleted', sessionId })],
  ];
  for (const [sign, happens] of signs) {
    it(`E2: ${sign} cancels the countdown`, async () => {
      const stage = await stopped();
      await stage.clock.advance(1000);
      await happens(stage);
      await stage.clock.advance(minute);
      expect(stage.injected).toEqual([]);
    });
  }

  it('E2: late echoes of known messages cancel nothing', async () => {
    const stage = await stopped();
    for (const message of stage.messages) {
      await stage.emits({ type: 'message.updated', sessionId, message });
      await stage.emits({ type: 'message.after', sessionId, message });
    }
    await stage.clock.advance(2000);
    expect(stage.injected).toHaveLength(1);
  });

  it('E4 P24: duplicate idles give one countdown and one injection', async () => {
    const stage = await stopped();
    await Promise.all([stage.idles(), stage.idles()]);
    await stage.clock.advance(2000);
    await stage.idles();
    await stage.clock.advance(minute);
    expect(stage.injected).toHaveLength(1);
  });

  it('G4 P19: an abort holds until the human speaks, whatever else happens', async () => {
    for (const name of ['AbortError', 'MessageAbortedError']) {
      const stage = await stopped();
      await stage.emits({
        type: 'session.error',
        sessionId,
        error: { name, data: { message: 'stopped' } },
      });
      await stage.idles();
      await stage.works();
      await stage.answers();
      await stage.idles();
      await stage.clock.advance(minute);
      expect(stage.injected, name).toEqual([]);
      await stage.says('continue');
      await stage.answers();
      await stage.idles();
      await stage.clock.advance(2000);
      expect(stage.injected, name).toHaveLength(1);
    }
  });

  it('G4 P19: an abort that only the messages show holds as well', async () => {
    const stage = await stopped();
    const last = stage.messages.at(-1);
    if (last !== undefined)
      stage.messages[stage.messages.length - 1] = {
        ...last,
        error: { name: 'AbortError' },
      };
    await stage.clock.advance(minute);
    expect(stage.injected).toEqual([]);
  });

  it('G4 P19: an abort that was received and waits to be written down is respected already', async () => {
    const stage = await stopped();
    await stage.clock.advance(1500);
    const options = stage.options as { getMessages: unknown };
    const { getMessages } = stage.options;
    options.getMessages = () => new Promise(() => {});
    const late = [stage.idles()];
    await stage.clock.advance(0);
    options.getMessages = getMessages;
    late.push(
      stage.emits({ type: 'session.error', sessionId, error: { name: 'AbortError' } }),
    );
    await stage.clock.advance(minute);
    await Promise.all(late);
    expect(stage.injected).toEqual([]);
  });

  it('G4: a human who resumes after an abort is not stopped again by the trace of it', async () => {
    const stage = await stopped();
    const { store } = stage.options;
    if (store === undefined) throw new Error('the stage has a store');
    await stage.answers('Wor', { error: { name: 'AbortError' } });
    await stage.emits({
      type: 'session.error',
      sessionId,
      error: { name: 'AbortError' },
    });
    const runtime = createRuntime({
      store,
      clock: stage.clock,
      identifiers: createIdentifiers(stage.clock),
      hash: sha256,
      policy: () => ({ settings: defaultSettings, goalChecks: [] }),
    });
    const id = `untildone-enforcer:${sessionId}`;
    await runtime.handle({
      type: 'human-resumed',
      id: 'resumed',
      sessionId: id,
      at: stage.clock.now(),
    });
    await stage.clock.advance(minute);
    expect(stage.injected).toHaveLength(1);
  });

  it('P20: a human who says stop is obeyed', async () => {
    const stage = await stopped();
    await stage.says('stop');
    await stage.answers();
    await stage.idles();
    await stage.clock.advance(minute);
    expect(stage.injected).toEqual([]);
  });
});

describe('sessions and agents that are left alone', () => {
  it('G4: subagents, and sessions that are neither main nor subagent', async () => {
    expect((await idleFor(await stopped({ isSubagent: () => true }))).injected).toEqual(
      [],
    );
    expect(
      (await idleFor(await stopped({ mainSession: () => 'another' }))).injected,
    ).toEqual([]);
    expect(
      (await idleFor(await stopped({ mainSession: () => sessionId }))).injected,
    ).toHaveLength(1);
    expect(
      (await idleFor(await stopped({ mainSession: () => null }))).injected,
    ).toHaveLength(1);
  });

  it('G4 P26: read-only agents, agents of which that is unknown, and those on the skip list', async () => {
    expect(
      (await idleFor(await stopped({ agentInfo: () => ({ canWrite: false }) }))).injected,
    ).toEqual([]);
    expect((await idleFor(await stopped({ agentInfo: () => null }))).injected).toEqual(
      [],
    );
    expect(
      (await idleFor(await stopped({ agentInfo: () => ({ canWrite: true }) }))).injected,
    ).toHaveLength(1);
    expect(
      (await idleFor(await stopped({ settings: { skipAgents: ['Build'] } }))).injected,
    ).toEqual([]);
  });

  it('C2: everything, when it is switched off', async () => {
    const stage = await idleFor(await stopped({ settings: { enabled: false } }));
    expect([stage.injected, stage.toasts]).toEqual([[], []]);
  });

  async function idleFor(stage: Awaited<ReturnType<typeof stopped>>) {
    await stage.clock.advance(minute / 10);
    return stage;
  }
});

describe('onDecision', () => {
  function listening(overrides: Parameters<typeof stopped>[0] = {}) {
    const heard: (readonly [string, EnforcerDecision])[] = [];
    const onDecision: EnforcerOptions['onDecision'] = (...told) => void heard.push(told);
    const reasons = () => heard.map(([, { answer, reason }]) => `${answer} ${reason}`);
    return { heard, reasons, staged: stopped({ onDecision, ...overrides }) };
  }

  it('C4: hears each wait and each continuation of a session once, with its reason and a sentence', async () => {
    const { heard, reasons, staged } = listening();
    const stage = await staged;
    expect(reasons()).toEqual(['wait not-yet']);
    await stage.clock.advance(2000);
    expect(reasons()).toEqual(['wait not-yet', 'continue continue']);
    expect(heard[0]).toEqual([
      sessionId,
      {
        answer: 'wait',
        reason: 'not-yet',
        sentence: 'Resuming in 2 s.',
        outcome: null,
        dueAt: stage.clock.now(),
        observed: false,
      },
    ]);
    await stage.enforcer.markRecovering(sessionId);
    await stage.answers();
    await stage.idles();
    expect(reasons().slice(2)).toEqual(['wait recovering']);
  });

  it('C4: hears why a session was left alone, and with which outcome a turn ended', async () => {
    for (const [overrides, reason] of [
      [{ isSubagent: () => true }, 'subagent'],
      [{ agentInfo: () => ({ canWrite: false }) }, 'read-only-agent'],
      [{ settings: { skipAgents: ['build'] } }, 'skipped-agent'],
      [{ settings: { enabled: false } }, 'disabled'],
    ] as const) {
      const { reasons, staged } = listening(overrides);
      await staged;
      expect(reasons()).toEqual([`let-go ${reason}`]);
    }
    const { heard, staged } = listening({ settings: { maxStagnant: 1 } });
    const stage = await staged;
    await stage.clock.advance(2000);
    await stage.answers();
    await stage.idles();
    const sentence = expect.stringContaining('No progress after one continuation');
    expect(heard.at(-1)?.[1]).toMatchObject({
      reason: 'stagnant',
      outcome: 'stagnant',
      sentence,
    });
  });

  it('C4 C2: hears what would have been decided while it only observes', async () => {
    const { heard, staged } = listening({ settings: { mode: 'observe' } });
    const stage = await staged;
    expect(heard[0]?.[1]).toMatchObject({ answer: 'continue', observed: true });
    expect(stage.injected).toEqual([]);
  });

  it('C4: callbacks that throw or reject, onError included, hold nothing up', async () => {
    for (const onDecision of [() => fail(), async () => fail()]) {
      const stage = await stopped({ onDecision });
      await stage.clock.advance(2000);
      expect(stage.injected).toHaveLength(1);
      expect(stage.errors.map(String)).toEqual(['Error: mine', 'Error: mine']);
    }
    for (const onError of [() => fail(), (async () => fail()) as () => void]) {
      const stage = await stopped({ onError, onDecision: () => fail() });
      await stage.emits({ type: 'tool.before', sessionId } as never);
      await stage.clock.advance(2000);
      expect(stage.injected).toHaveLength(1);
    }
  });

  function fail(): never {
    throw new Error('mine');
  }
});

describe('the listener', () => {
  it('has a name, a description, a priority and the names of its events', () => {
    const { enforcer } = createProgramStage();
    expect(enforcer).toMatchObject({ name: 'untildone-enforcer', priority: 40 });
    expect(enforcer.description).not.toBe('');
    expect(enforcer.events).toEqual(
      expect.arrayContaining([
        'session.idle',
        'session.error',
        'session.deleted',
        'message.updated',
        'message.after',
        'tool.before',
        'tool.after',
      ]),
    );
    expect(
      createProgramStage({ priority: 7, name: 'mine', description: 'ours' }).enforcer,
    ).toMatchObject({
      priority: 7,
      name: 'mine',
      description: 'ours',
    });
  });

  it('C1: refuses wrong settings and names at once, with the path', () => {
    const callbacks = { getTodos: () => [], getMessages: () => [], inject: () => {} };
    const settings = { countdownSeconds: -1 };
    expect(() => createEnforcer({ ...callbacks, settings })).toThrow('countdownSeconds');
    expect(() => createEnforcer({ ...callbacks, name: ' ' })).toThrow('name');
  });

  it('fails open: a store that cannot be opened leaves the program alone', async () => {
    const errors: unknown[] = [];
    const stage = createProgramStage({ onError: (error) => errors.push(error) });
    const { store: _store, ...rest } = stage.options;
    const enforcer = createEnforcer({
      ...rest,
      environment: { UNTILDONE_HOME: '/dev/null/nowhere' },
    });
    await enforcer.handler({ type: 'session.idle', sessionId });
    await enforcer.markRecovering(sessionId);
    await enforcer.dispose();
    expect(errors).toHaveLength(1);
  });
});
