import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../test/support/memory-store.ts';
import type { AgentEvent } from '../../agent/agent-event.ts';
import { createStreamWriter } from '../../agent/event-stream.ts';
import { defaultSettings } from '../../core/settings.ts';
import type { EvidenceRow } from '../../engine/host.ts';
import { sha256 } from '../../engine/system.ts';
import { createScriptedHost } from '../../simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../../simulated/simulated-clock.ts';
import type { SessionEvent } from './events.ts';
import { createSessionWatch } from './watch-session.ts';

type Draft<Event> = Event extends unknown ? Omit<Event, 'at' | 'sessionId'> : never;

async function watched(mode: 'asked' | 'told', host = 'opencode') {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const session = createScriptedHost({
    mode,
    store,
    clock,
    identifiers: createSequentialIdentifiers(),
    hash: sha256,
    policy: () => ({
      settings: { ...defaultSettings, countdownSeconds: 5 },
      goalChecks: [],
    }),
    descriptor: { host, directory: '/project' },
  });
  await session.open();
  await session.says('Do it.');
  const todos = await session.plans('Write alpha', 'Write beta');
  const watch = createSessionWatch(store, session.sessionId, clock);
  let stream = createStreamWriter(store, session.sessionId);
  const look = async (): Promise<readonly SessionEvent[]> => {
    await stream.close();
    stream = createStreamWriter(store, session.sessionId);
    return (await watch.look()) ?? [];
  };
  const tell = (event: Draft<AgentEvent>, sessionId = session.sessionId): void =>
    stream.take({ at: clock.now(), sessionId, ...event } as AgentEvent);
  return { clock, store, session, todos, look, tell };
}

const types = (events: readonly SessionEvent[]): string[] =>
  events.map(({ type }) => type);

describe('a session in the store, told as the events of a run', () => {
  it('C3: starts with the plan, what was said, and the state; then tells only what is new', async () => {
    const { look, session, todos } = await watched('asked');
    const first = await look();
    expect(types(first)).toEqual(['human-message', 'plan-changed', 'session-state']);
    expect(first.at(-1)).toMatchObject({
      host: 'opencode',
      agent: 'build',
      state: 'running',
      until: null,
    });
    expect(await look()).toEqual([]);
    await session.works('edit');
    await session.completes(todos[0] ?? '');
    const next = await look();
    expect(types(next)).toEqual([
      'tool-started',
      'tool-ended',
      'plan-changed',
      'session-state',
    ]);
    expect(next[0]).toMatchObject({ tool: 'edit', input: null });
    expect(next[2]).toMatchObject({ completed: 1, total: 2 });
  });

  it('C3: events that wait in the inbox are told once, and not again when they are applied', async () => {
    const { look, session, store, clock } = await watched('asked');
    await look();
    const event = {
      id: 'inbox-1',
      sessionId: session.sessionId,
      at: clock.now(),
    } as const;
    await store.append([
      { ...event, type: 'tool-started', tool: 'Bash', access: 'write' },
    ]);

    expect(types(await look())).toEqual(['tool-started', 'session-state']);
    await session.works('Read');
    expect(types(await look()).filter((type) => type === 'tool-started')).toHaveLength(1);
  });

  it('C3: a countdown has its end; the human who stops it is told', async () => {
    const { look, session, clock } = await watched('told');
    await look();
    await session.stops();
    const counting = await look();
    expect(counting.at(-1)).toMatchObject({
      type: 'session-state',
      state: 'counting-down',
    });
    expect(counting.at(-1)).toMatchObject({
      until: clock.now() + 5000,
      words: 'counting down: the agent goes on',
    });
    await session.happens({ type: 'human-aborted', how: 'a key' });
    const stopped = await look();
    expect(stopped).toContainEqual(
      expect.objectContaining({
        type: 'notice',
        sentence: 'Stopped by the human (a key).',
      }),
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
    const row = {
      sessionId,
      check: 'npm test',
      todoId: null,
      result: 'failed',
      flaky: false,
    } as const;
    const rest = {
      sentence: 'Exit code 1.',
      milliseconds: 900,
      at: clock.now(),
      tail: '',
      fingerprint: null,
    };
    await save({ id: 'run-2', state: 'finished' });
    await store.record({
      evidence: [{ ...row, ...rest, exitCode: 1, timedOut: false } as EvidenceRow],
    });

    const ended = await look();
    expect(types(ended)).toEqual(['check-cancelled', 'check-ended', 'session-state']);
    expect(ended[1]).toMatchObject({
      result: 'failed',
      sentence: 'Exit code 1.',
      milliseconds: 900,
    });
  });

  it('C3: what our own agent told is told again as it was, with the plan of now', async () => {
    const { look, session, tell, todos } = await watched('asked', 'untildone');
    await look();
    tell({ type: 'text', text: 'I ' });
    tell({ type: 'text', text: 'look.' });
    tell({
      type: 'tool-started',
      callId: 'c1',
      tool: 'shell',
      input: { command: 'npm test' },
    });
    tell({ type: 'plan-changed', todos: [], completed: 0, total: 0 });
    await session.completes(todos[0] ?? '');
    const first = await look();
    expect(types(first)).toEqual([
      'text',
      'tool-started',
      'plan-changed',
      'session-state',
    ]);
    expect(first[0]).toMatchObject({ text: 'I look.' });
    expect(first[1]).toMatchObject({ input: { command: 'npm test' } });
    expect(first[2]).toMatchObject({ completed: 1, total: 2 });
    tell({
      type: 'tool-ended',
      callId: 'c1',
      tool: 'shell',
      ok: false,
      output: 'no',
      milliseconds: 1700,
    });
    tell({ type: 'text-held-back', text: 'All done!' });
    tell({ type: 'plan-changed', todos: [], completed: 0, total: 0 });
    expect(types(await look())).toEqual([
      'tool-ended',
      'text-held-back',
      'session-state',
    ]);
    expect(await look()).toEqual([]);
  });

  it('C3: whoever comes late sees the end of it and what is still open, not what is over', async () => {
    const { look, tell } = await watched('asked', 'untildone');
    const call = (callId: string) => ({ callId, tool: 'shell' });
    tell({ type: 'tool-started', ...call('over'), input: null });
    tell({ type: 'check-started', check: 'npm test', todoId: null });
    tell({ type: 'tool-started', ...call('open'), input: null });
    tell({ type: 'tool-ended', ...call('over'), ok: true, output: '', milliseconds: 3 });
    for (let step = 1; step <= 40; step += 1)
      tell({ type: 'notice', sentence: `step ${step}` });
    const told = await look();
    expect(types(told).slice(0, 2)).toEqual(['check-started', 'tool-started']);
    expect(told[1]).toMatchObject({ callId: 'open' });
    expect(told.filter(({ type }) => type === 'notice')).toHaveLength(30);
    expect(types(told).slice(-2)).toEqual(['plan-changed', 'session-state']);
  });

  it('S4: a worker is told within the run that sent it, and alone where the worker is asked for', async () => {
    const { look, tell, store, clock, session, todos } = await watched(
      'asked',
      'untildone',
    );
    await look();
    const worker = { workerId: 'w1', agentType: 'tester', todoId: todos[0] ?? '' };
    tell({ type: 'worker-started', ...worker, title: 'Write alpha' });
    tell({ type: 'step-started', step: 2 }, 'w1');
    const told = (await look()).slice(0, 2);
    expect(types(told)).toEqual(['worker-started', 'step-started']);
    expect(told[1]).toMatchObject({ sessionId: 'w1' });
    const parentId = session.sessionId;
    const own = createScriptedHost({
      mode: 'asked',
      store,
      clock,
      identifiers: createSequentialIdentifiers('w'),
      hash: sha256,
      policy: () => ({ settings: defaultSettings, goalChecks: [] }),
      sessionId: 'w1',
      descriptor: { host: 'untildone', parentId, directory: '/project' },
    });
    await own.open();
    const alone = (await createSessionWatch(store, 'w1', clock).look()) ?? [];
    expect(types(alone)).toEqual(['step-started', 'session-state']);
  });

  it('S7: a question is told once, with its answer, and is withdrawn when the turn is over', async () => {
    const { look, tell, session } = await watched('asked', 'untildone');
    const about = {
      tool: 'shell',
      subject: 'npm test',
      pattern: 'npm *',
      choices: ['once', 'no'] as const,
    };
    tell({ type: 'permission-asked', requestId: 'r1', ...about });
    expect(types(await look())).toContain('permission-asked');
    tell({
      type: 'permission-answered',
      requestId: 'r1',
      granted: true,
      remembered: 'once',
      by: 'terminal',
    });
    tell({ type: 'permission-asked', requestId: 'r2', ...about });
    expect(types(await look())).toEqual([
      'permission-answered',
      'permission-asked',
      'session-state',
    ]);
    await session.happens({ type: 'human-aborted', how: 'Ctrl-C' });
    expect(await look()).toMatchObject([
      { type: 'permission-withdrawn', requestId: 'r2' },
      { state: 'latched' },
    ]);
  });

  it('V5: the stored stream is bounded: long texts, lists and inputs, and the number of rows', async () => {
    const { look, tell, store, session } = await watched('asked', 'untildone');
    await look();
    const content = 'x'.repeat(1_000_000);
    tell({
      type: 'tool-started',
      callId: 'c1',
      tool: 'write_file',
      input: { path: 'a', content },
    });
    tell({ type: 'text', text: 'word '.repeat(2000) });
    const told = await look();
    expect(JSON.stringify(told[0]).length).toBeLessThan(5000);
    const said = told
      .flatMap((event) => (event.type === 'text' ? [event.text] : []))
      .join('');
    expect(said, 'of what was said nothing is lost').toBe('word '.repeat(2000));
    const { sessionId } = session;
    const body = JSON.stringify({ type: 'notice', at: 1, sessionId, sentence: 'again' });
    await store.record({
      shown: Array.from({ length: 4100 }, () => ({ sessionId, body })),
    });
    await store.record({ shown: [{ sessionId, body: '{"type":"of a newer version"}' }] });
    expect(types(await look())).not.toContain('of a newer version');
    const rows = await store.shown(sessionId, 0);
    expect(rows).toHaveLength(4000);
    expect(rows.at(-1)?.sequence).toBe(4105);
  });

  it('a session that is not there any more is null', async () => {
    const { store, clock } = await watched('asked');
    expect(await createSessionWatch(store, 'unknown', clock).look()).toBeNull();
  });
});
