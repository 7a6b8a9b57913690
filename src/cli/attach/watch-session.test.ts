import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../test/support/memory-store.ts';
import { defaultSettings } from '../../core/settings.ts';
import type { EvidenceRow } from '../../engine/host.ts';
import { sha256 } from '../../engine/system.ts';
import { createScriptedHost } from '../../simulated/scripted-host.ts';
import { createSequentialIdentifiers, createSimulatedClock } from '../../simulated/simulated-clock.ts';
import type { SessionEvent } from '../view/view-event.ts';
import { createSessionWatch } from './watch-session.ts';

async function watched(mode: 'asked' | 'told', host = 'opencode') {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const session = createScriptedHost({
    mode,
    store,
    clock,
    identifiers: createSequentialIdentifiers(),
    hash: sha256,
    policy: () => ({ settings: { ...defaultSettings, countdownSeconds: 5 }, goalChecks: [] }),
    descriptor: { host, directory: '/project' },
  });
  await session.open();
  await session.says('Do it.');
  const todos = await session.plans('Write alpha', 'Write beta');
  const watch = createSessionWatch(store, session.sessionId, clock);
  const look = async (): Promise<readonly SessionEvent[]> => (await watch.look()) ?? [];
  return { clock, store, session, todos, look };
}

const types = (events: readonly SessionEvent[]): string[] => events.map(({ type }) => type);

describe('a session in the store, told as the events of a run', () => {
  it('C3: starts with the plan, what was said, and the state; then tells only what is new', async () => {
    const { look, session, todos } = await watched('asked');
    const first = await look();
    expect(types(first)).toEqual(['human-message', 'plan-changed', 'session-state']);
    expect(first.at(-1)).toMatchObject({ host: 'opencode', agent: 'build', state: 'running', until: null });
    expect(await look()).toEqual([]);
    await session.works('edit');
    await session.completes(todos[0] ?? '');
    const next = await look();
    expect(types(next)).toEqual(['tool-started', 'tool-ended', 'plan-changed', 'session-state']);
    expect(next[0]).toMatchObject({ tool: 'edit', input: null });
    expect(next[2]).toMatchObject({ completed: 1, total: 2 });
  });

  it('C3: events that wait in the inbox are told once, and not again when they are applied', async () => {
    const { look, session, store, clock } = await watched('asked');
    await look();
    const event = { id: 'inbox-1', sessionId: session.sessionId, at: clock.now() } as const;
    await store.append([{ ...event, type: 'tool-started', tool: 'Bash', access: 'write' }]);

    expect(types(await look())).toEqual(['tool-started', 'session-state']);
    await session.works('Read');
    expect(types(await look()).filter((type) => type === 'tool-started')).toHaveLength(1);
  });

  it('C3: a countdown has its end; the human who stops it is told', async () => {
    const { look, session, clock } = await watched('told');
    await look();
    await session.stops();
    const counting = await look();
    expect(counting.at(-1)).toMatchObject({ type: 'session-state', state: 'counting-down' });
    expect(counting.at(-1)).toMatchObject({
      until: clock.now() + 5000,
      words: 'counting down: the agent goes on',
    });
    await session.happens({ type: 'human-aborted', how: 'a key' });
    const stopped = await look();
    expect(stopped).toContainEqual(
      expect.objectContaining({ type: 'notice', sentence: 'Stopped by the human (a key).' }),
    );
    expect(stopped.at(-1)).toMatchObject({ state: 'latched', until: null });
  });

  it('C4: continuations come with their number, text and firmness, let-go with its reason', async () => {
    const { look, session } = await watched('asked');
    await look();
    await session.stops();
    const sent = (await look()).find(({ type }) => type === 'continuation');
    expect(sent).toMatchObject({ number: 1, level: 1, textKind: 'standard' });
    await session.happens({ type: 'human-paused', reason: null });
    await session.stops();
    const told = await look();
    expect(told).toContainEqual(
      expect.objectContaining({
        type: 'notice',
        sentence: expect.stringMatching(/^The agent may stop.*: /u),
      }),
    );
  });

  it('V1: a check is told when it runs and when its evidence is there, and is gone if it was cancelled', async () => {
    const { look, store, session, clock } = await watched('asked');
    await look();
    const { sessionId } = session;
    const run = {
      id: 'run-1',
      key: 'k',
      directory: '/project',
      spec: { id: 'npm test', kind: 'command', argv: ['npm', 'test'] },
      exclude: [],
      state: 'running',
      askers: [{ sessionId, todoId: null, final: true, writes: 0 }],
      askedAt: clock.now(),
      startedAt: clock.now(),
      endedAt: null,
      finding: null,
    };
    const save = (changes: object): Promise<null> =>
      store.changeChecks(run.directory, null, () => ({
        result: null,
        runs: [{ ...run, ...changes } as never],
      }));
    await save({});
    expect(types(await look())).toEqual(['check-started', 'session-state']);
    await save({ state: 'cancelled' });
    expect(types(await look())).toEqual(['check-cancelled', 'session-state']);
    await save({ id: 'run-2', state: 'running' });
    await look();
    await clock.advance(900);
    const row = { sessionId, check: 'npm test', todoId: null, result: 'failed', flaky: false } as const;
    const rest = {
      sentence: 'Exit code 1.',
      milliseconds: 900,
      at: clock.now(),
      tail: '',
      fingerprint: null,
    };
    await save({ id: 'run-2', state: 'finished' });
    await store.record({ evidence: [{ ...row, ...rest, exitCode: 1, timedOut: false } as EvidenceRow] });

    const ended = await look();
    expect(types(ended)).toEqual(['check-cancelled', 'check-ended', 'session-state']);
    expect(ended[1]).toMatchObject({ result: 'failed', sentence: 'Exit code 1.', milliseconds: 900 });
  });

  it('our own agent’s words, held answers and calls come from what it wrote down', async () => {
    const { look, store, session, clock } = await watched('asked', 'untildone');
    await look();
    const { sessionId } = session;
    const base = { sessionId, turnId: null, at: clock.now() };
    const body = (content: unknown): string =>
      JSON.stringify({ cut: false, message: { role: 'assistant', content } });
    await store.record({
      calls: [
        {
          ...{ sessionId, callId: 'c1', stepId: 's1', tool: 'shell', readOnly: false },
          ...{ input: '{"command":"npm test"}', startedAt: clock.now(), result: null, endedAt: null },
        },
      ],
    });

    expect(await look()).toContainEqual(
      expect.objectContaining({ type: 'tool-started', callId: 'c1', input: { command: 'npm test' } }),
    );
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'shell', input: {} };
    const result = {
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'shell',
      output: { type: 'error-text', value: 'no' },
    };
    await store.record({
      messages: [
        { ...base, kind: 'agent', body: body([{ type: 'text', text: 'I look.' }, call]) },
        { ...base, kind: 'tools', body: body([result]) },
        { ...base, kind: 'held', body: body('All done!') },
        { ...base, kind: 'continuation', body: body('[TODO CONTINUATION]') },
        { ...base, kind: 'agent', body: 'not JSON' },
      ],
    });
    await store.record({ settled: { sessionId, stepId: 's1' } });

    const told = (await look()).filter(({ type }) => type !== 'session-state');
    expect(types(told)).toEqual(['text', 'tool-ended', 'text-held-back', 'text']);
    expect(told[1]).toMatchObject({ callId: 'c1', ok: false, output: 'no' });
  });

  it('our own agent’s calls took as long as their events say, though their messages come at the end', async () => {
    const { look, store, session, clock } = await watched('asked', 'untildone');
    await look();
    const { sessionId } = session;
    await session.happens({ type: 'tool-started', tool: 'shell', access: 'write' });
    await clock.advance(1700);
    await session.happens({ type: 'tool-ended', tool: 'shell', access: 'write', error: null });
    const at = clock.now();
    const body = (part: object): string =>
      JSON.stringify({ message: { content: [{ toolCallId: 'c1', toolName: 'shell', ...part }] } });
    await store.record({
      messages: [
        { sessionId, turnId: null, at, kind: 'agent', body: body({ type: 'tool-call', input: {} }) },
        { sessionId, turnId: null, at, kind: 'tools', body: body({ type: 'tool-result', output: {} }) },
      ],
    });

    const ended = (await look()).find(({ type }) => type === 'tool-ended');
    expect(ended).toMatchObject({ callId: 'c1', milliseconds: 1700 });
  });

  it('C4: a held answer stands before the continuation that replies to it, however late it is written', async () => {
    const { look, store, session, clock } = await watched('asked', 'untildone');
    await look();
    const { sessionId } = session;
    await session.stops();
    expect(types(await look())).not.toContain('continuation');
    await clock.advance(20);
    const row = { sessionId, turnId: null, at: clock.now() };
    const body = JSON.stringify({ message: { content: 'All done!' } });
    await store.record({
      messages: [
        { ...row, kind: 'held', body },
        { ...row, kind: 'continuation', body },
      ],
    });

    expect(types(await look())).toEqual(['text-held-back', 'continuation', 'session-state']);
    await session.stops();
    await look();
    await clock.advance(4000);
    expect(types(await look())).toContain('continuation');
  });

  it('S4: what a worker says and does is told with its own session', async () => {
    const { look, store, session, todos, clock } = await watched('asked', 'untildone');
    await look();
    const delegated = { workerId: 'w1', agentType: 'tester', todoId: todos[0] ?? '', callId: 'd1' };
    await session.happens({ type: 'delegation-started', ...delegated });
    expect(types(await look())).toEqual(['plan-changed', 'worker-started', 'step-started', 'session-state']);
    const row = { sessionId: 'w1', turnId: null, at: clock.now() };
    const body = (part: object): string =>
      JSON.stringify({ message: { content: [{ toolCallId: 'c1', toolName: 'shell', ...part }] } });
    await store.record({
      messages: [
        { ...row, kind: 'agent', body: body({ type: 'tool-call', input: { command: 'npm test' } }) },
        { ...row, kind: 'tools', body: body({ type: 'tool-result', output: {} }) },
        { ...row, kind: 'agent', body: body({ type: 'text', text: 'It works.' }) },
      ],
    });

    const told = (await look()).filter((event) => event.sessionId === 'w1');
    expect(types(told)).toEqual(['tool-started', 'tool-ended', 'text', 'step-started']);
    expect(told.at(-1)).toMatchObject({ step: 2 });
  });

  it('a session that is not there any more is null', async () => {
    const { store, clock } = await watched('asked');
    expect(await createSessionWatch(store, 'unknown', clock).look()).toBeNull();
  });
});
