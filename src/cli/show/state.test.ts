import { describe, expect, it } from 'vitest';
import { event, sampleRun, todoView } from '../../../test/support/sample-run.ts';
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { ViewEvent } from './events.ts';
import { createState, reduceView, type ViewState } from './state.ts';

function stateAfter(...events: readonly ViewEvent[]): ViewState {
  return events.reduce(reduceView, createState('run', 0));
}

const started = event(0, {
  type: 'run-started',
  goal: 'x',
  model: 'scripted/x',
  directory: '/x',
  resumed: false,
  permissions: 'auto',
});
const call = (callId: string): AgentEvent =>
  event(1, { type: 'tool-started', callId, tool: 'shell', input: { command: callId } });
const ended = (callId: string): AgentEvent =>
  event(3, {
    type: 'tool-ended',
    callId,
    tool: 'shell',
    ok: true,
    output: 'out',
    milliseconds: 2000,
  });
const checkStarted = event(1, { type: 'check-started', check: 'npm test', todoId: 'a' });
const checkEnded = event(2, {
  type: 'check-ended',
  check: 'npm test',
  todoId: 'a',
  result: 'failed',
  flaky: false,
  sentence: 'Exit code 1.',
  milliseconds: 900,
  tail: '',
});

describe('what the live view knows', () => {
  it('C3: knows every event of a run, and at its end nothing runs, waits or asks', () => {
    const state = stateAfter(...sampleRun);
    expect(state).toMatchObject({
      outcome: 'blocked',
      wait: null,
      held: '',
      continuations: 2,
    });
    expect(state).toMatchObject({ calls: [], checks: [], workers: [], permissions: [] });
    expect(state.todos).toHaveLength(4);
    expect(state.usage?.inputTokens).toBe(48_210);
  });

  it('I1: held text is kept apart until it is released, held back or dropped', () => {
    const held = stateAfter(
      started,
      event(1, { type: 'text-held', text: 'All ' }),
      event(1, { type: 'text-held', text: 'done' }),
    );
    expect(held.held).toBe('All done');
    for (const next of [
      event(2, { type: 'text', text: 'All done' }),
      event(2, { type: 'text-held-back', text: 'All done' }),
      event(2, { type: 'step-started', step: 2 }),
      call('1'),
    ])
      expect(reduceView(held, next).held, next.type).toBe('');
  });

  it('keeps the end of held text only, however much of it there is', () => {
    const flood = event(1, { type: 'text-held', text: 'x'.repeat(1_000_000) });
    expect(
      stateAfter(flood, flood, event(1, { type: 'text-held', text: 'end' })).held,
    ).toMatch(/^x{3997}end$/);
  });

  it('remembers the last calls, running or ended, and no more than twenty', () => {
    const two = stateAfter(call('1'), call('2'), ended('1'));
    expect(
      two.calls.map(({ callId, ended }) => [callId, ended?.milliseconds ?? null]),
    ).toEqual([
      ['2', null],
      ['1', 2000],
    ]);
    expect(two.calls[1]?.input).toEqual({ command: '1' });
    const many = Array.from({ length: 50 }, (_, index) => call(`${index}`));
    expect(stateAfter(...many).calls).toHaveLength(20);
  });

  it('V1: a check is there while it runs; one for another todo is another', () => {
    const other = event(1, { type: 'check-started', check: 'npm test', todoId: 'b' });
    const running = stateAfter(checkStarted, other, checkStarted);
    expect(running.checks.map(({ check, todoId }) => `${check} ${todoId}`)).toEqual([
      'npm test b',
      'npm test a',
    ]);
    expect(reduceView(running, checkEnded).checks).toMatchObject([{ todoId: 'b' }]);
    const cancelled = {
      type: 'check-cancelled',
      at: 0,
      sessionId: 's',
      check: 'npm test',
      todoId: 'b',
    } as const;
    expect(reduceView(running, cancelled).checks).toMatchObject([{ todoId: 'a' }]);
  });

  it('C3: a wait ends when the agent moves, and a pause is one', () => {
    const waiting = stateAfter(
      event(1, {
        type: 'waiting',
        reason: 'paused-by-human',
        sentence: 'Paused.',
        until: null,
      }),
    );
    expect(waiting.wait).toEqual({
      reason: 'paused-by-human',
      sentence: 'Paused.',
      until: null,
    });
    expect(
      reduceView(waiting, event(2, { type: 'step-started', step: 2 })).wait,
    ).toBeNull();
    const retried = stateAfter(
      event(1, { type: 'error', kind: 'overload', sentence: 'Busy.', retryAt: 9 }),
    );
    expect(retried.wait).toEqual({ reason: 'overload', sentence: 'Busy.', until: 9 });
    expect(
      stateAfter(
        event(1, { type: 'error', kind: 'other', sentence: 'No.', retryAt: null }),
      ).wait,
    ).toBeNull();
  });

  it('S4: what happens inside a worker is the worker’s and never the run’s own', () => {
    const worker = event(1, {
      type: 'worker-started',
      workerId: 'w1',
      agentType: 'coder',
      todoId: 'a',
      title: 'Write it',
    });
    const inside = (fields: AgentEvent): AgentEvent => ({ ...fields, sessionId: 'w1' });
    const state = stateAfter(
      started,
      event(1, { type: 'step-started', step: 7 }),
      worker,
      inside(event(2, { type: 'step-started', step: 3 })),
      inside(call('1')),
      inside(event(2, { type: 'text-held', text: 'mine' })),
      inside(
        event(2, {
          type: 'plan-changed',
          todos: [todoView('x', 'x')],
          completed: 0,
          total: 1,
        }),
      ),
    );
    expect(state).toMatchObject({ step: 7, held: '', todos: [] });
    expect(state.workers).toMatchObject([{ workerId: 'w1', step: 3 }]);
    expect(state.calls).toMatchObject([{ callId: '1', workerId: 'w1' }]);
    const over = reduceView(
      state,
      event(9, {
        type: 'worker-ended',
        workerId: 'w1',
        agentType: 'coder',
        todoId: 'a',
        result: 'failed',
        sentence: 'No.',
        milliseconds: 8000,
      }),
    );
    expect(over).toMatchObject({ workers: [], calls: [] });
  });

  it('S7: questions wait in their order until each is answered, here or elsewhere', () => {
    const asked = (requestId: string): AgentEvent =>
      event(1, {
        type: 'permission-asked',
        requestId,
        tool: 'shell',
        subject: 'npm publish',
        pattern: 'npm publish *',
        choices: ['once', 'no'],
      });
    const state = stateAfter(asked('1'), asked('2'), asked('1'));
    expect(state.permissions.map(({ requestId }) => requestId)).toEqual(['2', '1']);
    const answer = { granted: true, remembered: 'once', by: 'elsewhere' } as const;
    const next = reduceView(
      state,
      event(2, { type: 'permission-answered', requestId: '2', ...answer }),
    );
    expect(next.permissions.map(({ requestId }) => requestId)).toEqual(['1']);
  });

  it('never changes the state that it was given', () => {
    let state = createState('run', 0);
    for (const each of sampleRun) {
      const before = structuredClone(state);
      const frozen = state;
      state = reduceView(state, each);
      expect(frozen).toEqual(before);
    }
  });
});
