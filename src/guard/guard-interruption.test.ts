// Errors, aborts and consumers that go away: the guard never hides a text for good, never
// hangs, and never asks needlessly.
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  call,
  line,
  ScriptedCaller,
  type ScriptPart,
  step,
  text,
} from '../../test/support/scripted-stream.ts';

const half: ScriptPart[] = [
  { type: 'start' },
  { type: 'start-step' },
  ...text('half an'),
];
const lie = step(text('All done!'));

/** Speaks, then is silent for ever; says whether it was ended. */
function silentAfter(parts: readonly ScriptPart[]) {
  const state = { ended: false };
  const stream: AsyncIterable<ScriptPart> = {
    [Symbol.asyncIterator]: () => {
      const rest = [...parts];
      return {
        next: () => {
          const value = rest.shift();
          return value === undefined
            ? new Promise(() => undefined)
            : Promise.resolve({ done: false, value });
        },
        return: () => {
          state.ended = true;
          return Promise.resolve({ done: true, value: undefined });
        },
      };
    },
  };
  return { state, open: () => stream };
}

describe('errors', () => {
  it('I4: an error part lets the held text out before it; nothing is asked or retried', async () => {
    const boom = new Error('boom');
    const caller = new ScriptedCaller([
      ...half,
      { type: 'error', error: boom },
      { type: 'finish-step' },
    ]);
    const { parts, result } = await caller.run();
    expect(line(parts)).toBe('start start-step text-delta(half an) error finish-step');
    expect(result).toMatchObject({
      attempts: 1,
      end: 'error',
      error: { source: 'model', cause: boom },
    });
    expect(caller.stops).toEqual([]);
  });

  it('I4: a stream that throws ends with an error part of its own', async () => {
    const caller = new ScriptedCaller(async function* () {
      yield* half;
      throw new Error('connection lost');
    });
    const { parts, result } = await caller.run();
    expect(line(parts)).toBe('start start-step text-delta(half an) error');
    expect(result.error).toEqual({
      source: 'model',
      cause: new Error('connection lost'),
    });
  });

  it('I4: a model call that cannot even start is an error, not an exception', async () => {
    const { parts, result } = await new ScriptedCaller().run();
    expect(line(parts)).toBe('error');
    expect(result).toMatchObject({ attempts: 1, error: { source: 'model' } });
  });

  it('G2: a step that finished with "error" is not asked about', async () => {
    const caller = new ScriptedCaller(step(text('x'), 'error'));
    expect((await caller.run()).result.attempts).toBe(1);
    expect(caller.stops).toEqual([]);
  });

  it('fails open: a decision that throws releases the answer and says so', async () => {
    const cause = new Error('store is locked');
    for (const question of ['ask', 'isPaused', 'hasOpenTodos'] as const) {
      const caller = new ScriptedCaller(lie);
      caller[question] = () => {
        throw cause;
      };
      const { parts, result } = await caller.run();
      expect(line(parts)).toBe(
        'start start-step text-delta(All done!) finish-step finish',
      );
      expect(result).toMatchObject({ heldBack: [], error: { source: 'guard', cause } });
    }
  });
});

describe('aborts', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('I4: an abort part lets the held text out and ends the step without a question', async () => {
    const caller = new ScriptedCaller([...half, { type: 'abort' }]);
    const { parts, result } = await caller.run();
    expect(line(parts)).toBe('start start-step text-delta(half an) abort');
    expect(result).toMatchObject({ aborted: true, heldBack: [], end: 'cancelled' });
    expect(caller.stops).toEqual([]);
  });

  it('I4: a stream that does not hear the signal is left after a moment, and what it said is shown', async () => {
    vi.useFakeTimers();
    const silent = silentAfter(half);
    const abort = new AbortController();
    const caller = new ScriptedCaller(silent.open);
    caller.signal = abort.signal;
    const running = caller.run();
    await vi.advanceTimersByTimeAsync(10_000);
    abort.abort(new Error('Ctrl-C'));
    await vi.advanceTimersByTimeAsync(150);
    const { parts, result } = await running;
    expect(line(parts)).toBe('start start-step text-delta(half an) abort');
    expect(parts.at(-1)).toEqual({ type: 'abort', reason: 'Ctrl-C' });
    expect(result).toMatchObject({ aborted: true, heldBack: [] });
    expect(silent.state.ended).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('I4: a stream that hears the signal ends in its own words, last tool results included', async () => {
    const abort = new AbortController();
    const caller = new ScriptedCaller(async function* () {
      yield* half;
      abort.abort();
      yield* call('shell');
      yield { type: 'abort' };
    });
    caller.signal = abort.signal;
    const { parts } = await caller.run();
    expect(line(parts)).toBe(
      'start start-step text-delta(half an) tool-call tool-result abort',
    );
  });

  it('I4: what a stream throws after an abort is the abort, not an error', async () => {
    const abort = new AbortController();
    const caller = new ScriptedCaller(async function* () {
      yield* half;
      abort.abort();
      throw new DOMException('aborted', 'AbortError');
    });
    caller.signal = abort.signal;
    const { parts, result } = await caller.run();
    expect(line(parts)).toBe('start start-step text-delta(half an) abort');
    expect(result.error).toBeUndefined();
    expect(result.aborted).toBe(true);
  });

  it('I4: a stream that says that it was aborted and then throws is not told twice', async () => {
    const abort = new AbortController();
    const caller = new ScriptedCaller(async function* () {
      abort.abort();
      yield { type: 'abort' };
      throw new DOMException('aborted', 'AbortError');
    });
    caller.signal = abort.signal;
    expect(line((await caller.run()).parts)).toBe('abort');
  });

  it('I4: a tool that ends a moment after the abort still brings its result', async () => {
    vi.useFakeTimers();
    const abort = new AbortController();
    const caller = new ScriptedCaller(async function* () {
      yield* half;
      await new Promise((resolve) => setTimeout(resolve, 1050));
      yield* call('shell');
    });
    caller.signal = abort.signal;
    const running = caller.run();
    await vi.advanceTimersByTimeAsync(1000);
    abort.abort();
    await vi.advanceTimersByTimeAsync(500);
    expect(line((await running).parts)).toBe(
      'start start-step text-delta(half an) tool-call tool-result',
    );
  });

  it('I4: an abort during a long decision releases the answer', async () => {
    vi.useFakeTimers();
    const abort = new AbortController();
    const caller = new ScriptedCaller(lie);
    caller.signal = abort.signal;
    caller.answer = () => new Promise(() => undefined);
    const running = caller.run();
    await vi.advanceTimersByTimeAsync(1000);
    abort.abort();
    await vi.advanceTimersByTimeAsync(150);
    const { parts, result } = await running;
    expect(line(parts)).toBe('start start-step text-delta(All done!) finish-step finish');
    expect(result).toMatchObject({ aborted: true, heldBack: [] });
  });

  it('I4: a step that is aborted before it starts calls no model', async () => {
    const caller = new ScriptedCaller(lie);
    caller.signal = AbortSignal.abort();
    const { parts, result } = await caller.run();
    expect(line(parts)).toBe('abort');
    expect(caller.reminders).toEqual([]);
    expect(result).toMatchObject({ attempts: 0, aborted: true });
  });

  it('an abort between the reminder and its attempt starts no second attempt', async () => {
    const abort = new AbortController();
    const caller = new ScriptedCaller(lie, lie);
    caller.signal = abort.signal;
    const parts = caller.guard();
    let next = await parts.next();
    while (!next.done) {
      if (next.value.type === 'held-back') abort.abort();
      next = await parts.next();
    }
    expect(caller.reminders).toEqual([null]);
    expect(next.value).toMatchObject({
      attempts: 1,
      aborted: true,
      heldBack: ['All done!'],
    });
  });

  it('leaves no listener on a signal that outlives the step', async () => {
    const abort = new AbortController();
    const removed = vi.spyOn(abort.signal, 'removeEventListener');
    const added = vi.spyOn(abort.signal, 'addEventListener');
    const caller = new ScriptedCaller(lie, lie);
    caller.signal = abort.signal;
    await caller.run();
    const listeners = (calls: readonly unknown[][]) =>
      new Set(calls.map(([, listener]) => listener));
    expect(added).toHaveBeenCalled();
    expect(listeners(removed.mock.calls)).toEqual(listeners(added.mock.calls));
  });
});

describe('a consumer that goes away', () => {
  it('I4: ends the model call', async () => {
    const silent = silentAfter([...half, ...call('shell')]);
    const caller = new ScriptedCaller(silent.open);
    for await (const part of caller.guard()) if (part.type === 'tool-call') break;
    expect(silent.state.ended).toBe(true);
    expect(caller.stops).toEqual([]);
  });

  it('pulls nothing that nobody wants: a slow reader slows the model', async () => {
    let pulled = 0;
    const caller = new ScriptedCaller(async function* () {
      for (const part of step([...call('a'), ...call('b'), ...call('c')])) {
        pulled += 1;
        yield part;
      }
    });
    const parts = caller.guard();
    for (let read = 1; read <= 5; read += 1) {
      await parts.next();
      expect(pulled).toBe(read);
    }
    await parts.return(undefined as never);
  });

  it('a guard that was never read holds on to nothing', async () => {
    const abort = new AbortController();
    const added = vi.spyOn(abort.signal, 'addEventListener');
    const caller = new ScriptedCaller(lie);
    caller.signal = abort.signal;
    await caller.guard().return(undefined as never);
    expect(added).not.toHaveBeenCalled();
    expect(caller.reminders).toEqual([]);
  });
});
