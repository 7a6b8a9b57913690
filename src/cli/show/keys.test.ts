import { describe, expect, it } from 'vitest';
import { event, todoView } from '../../../test/support/sample-run.ts';
import type { ViewEvent } from './events.ts';
import { type KeyPress, pressKey, type ViewAct } from './keys.ts';
import { createState, planWindow, reduceView, type ViewState } from './state.ts';

const now = event(0, { type: 'notice', sentence: '' }).at;

function view(kind: ViewState['kind'], ...events: readonly ViewEvent[]): ViewState {
  return events.reduce(reduceView, createState(kind, now));
}

const key = (name: KeyPress['name']): KeyPress => ({ name, text: '', isControl: false });
const type = (text: string): KeyPress => ({ name: 'text', text, isControl: false });
const control = (text: string): KeyPress => ({ name: 'text', text, isControl: true });

function press(
  start: ViewState,
  keys: readonly KeyPress[],
  at = now,
): { state: ViewState; acts: readonly ViewAct[] } {
  let state = start;
  const acts: ViewAct[] = [];
  for (const each of keys) {
    const pressed = pressKey(state, each, at);
    state = pressed.state;
    acts.push(...pressed.acts);
  }
  return { state, acts };
}

const asked = event(0, {
  type: 'permission-asked',
  requestId: '7',
  tool: 'shell',
  subject: 'npm publish',
  pattern: 'npm publish *',
  choices: ['once', 'session', 'no'],
});
const countdown = event(0, {
  type: 'waiting',
  reason: 'rate-limited',
  sentence: 'Wait.',
  until: now + 5000,
});
const paused = event(0, {
  type: 'waiting',
  reason: 'paused-by-human',
  sentence: 'Paused.',
  until: null,
});

describe('keys in a run', () => {
  it('C3: what is typed is a message, sent by Enter, edited like a shell line', () => {
    const typed = press(view('run'), [type('leave the'), type(' tests'), key('return')]);
    expect(typed.acts).toEqual([{ act: 'say', text: 'leave the tests' }]);
    expect(typed.state.input.text).toBe('');
    const edited = press(view('run'), [
      type('abc👩‍👩‍👧'),
      key('backspace'),
      key('leftArrow'),
      type('X'),
      control('a'),
      type('>'),
      control('e'),
      type(' two words'),
      control('w'),
    ]);
    expect(edited.state.input.text).toBe('>abXc two ');
    expect(press(edited.state, [control('u')]).state.input.text).toBe('');
    expect(press(edited.state, [key('escape')]).state.input.text).toBe('');
    expect(press(view('run'), [key('return')]).acts).toEqual([]);
  });

  it('C3: Ctrl-C interrupts whatever is written or asked', () => {
    expect(press(view('run', asked), [type('x'), control('c')]).acts).toEqual([
      { act: 'interrupt' },
    ]);
  });

  it.each([
    ['y', 'once'],
    ['N', 'no'],
    ['yes', 'once'],
  ])('S7: %j and Enter answer a question that was seen', (said, remembered) => {
    const state = view('run', asked);
    const sent = [type(said), key('return')];
    expect(press(state, sent, now + 800).acts).toEqual([
      { act: 'answer', requestId: '7', remembered },
    ]);
    expect(press(state, sent, now + 100)).toMatchObject({
      acts: [],
      state: { input: { text: said } },
    });
  });

  it('S7: letters grant nothing, and a message that begins with one goes to the agent', () => {
    const state = view('run', asked);
    for (const words of ['stop', 'no tabs please', 'and the docs']) {
      const typed = press(state, Array.from(words, type), now + 5000);
      expect(typed).toMatchObject({ acts: [], state: { input: { text: words } } });
      expect(press(typed.state, [key('return')], now + 5000).acts).toEqual([
        { act: 'say', text: words },
      ]);
    }
  });

  it('S7: only what the question offers can be answered, and what is near an answer is sent to nobody', () => {
    for (const word of ['a', 'ok', 'yep'])
      expect(
        press(view('run', asked), [type(word), key('return')], now + 900).acts,
      ).toEqual([]);
  });

  it('C3: any key pauses a countdown, and what was typed is kept; keys that only look do not', () => {
    const state = view('run', countdown);
    const typed = press(state, [type('h')], now + 1000);
    expect(typed.acts).toEqual([{ act: 'pause' }]);
    expect(typed.state.input.text).toBe('h');
    expect(press(state, [key('downArrow'), control('o')], now + 1000).acts).toEqual([]);
    expect(press(state, [type('h')], now + 6000).acts).toEqual([]);
  });

  it('C3: Enter goes on after a pause, with what was written', () => {
    expect(press(view('run', paused), [key('return')]).acts).toEqual([{ act: 'resume' }]);
    expect(press(view('run', paused), [type('go'), key('return')]).acts).toEqual([
      { act: 'say', text: 'go' },
      { act: 'resume' },
    ]);
  });

  it('V1: a check that only a human can answer takes the line as its answer', () => {
    const state = view('run', {
      type: 'check-question',
      question: 'Does it look right?',
    });
    expect(press(state, [type('too dark'), key('return')]).acts).toEqual([
      { act: 'reply', text: 'too dark' },
    ]);
    expect(press(state, [key('return')]).acts).toEqual([{ act: 'reply', text: '' }]);
  });
});

describe('keys in a session that runs elsewhere', () => {
  const state = {
    at: now,
    sessionId: 's',
    host: 'opencode',
    agent: 'build',
    model: null,
    title: null,
    directory: '/x',
    waits: [],
    turnSince: now,
  };
  const counting = {
    ...state,
    type: 'session-state',
    state: 'counting-down',
    words: 'x',
    until: now + 2000,
  } as const;

  it('C3: p, r, x and q pause, resume, stop and leave', () => {
    const acts = ['p', 'r', 'x', 'q'].map(
      (letter) => press(view('attach'), [type(letter)]).acts[0]?.act,
    );
    expect(acts).toEqual(['pause', 'resume', 'stop', 'interrupt']);
    expect(press(view('attach'), [control('c')]).acts).toEqual([{ act: 'interrupt' }]);
    expect(press(view('attach'), [type('z'), key('return')]).acts).toEqual([]);
  });

  it('S7: s answers a question and never stops; x never grants', () => {
    const asking = view('attach', asked);
    expect(press(asking, [type('s')], now + 900).acts).toEqual([
      { act: 'answer', requestId: '7', remembered: 'session' },
    ]);
    expect(press(asking, [type('s')], now + 100).acts).toEqual([]);
    expect(press(asking, [type('x')], now + 900).acts).toEqual([{ act: 'stop' }]);
  });

  it('C3: any other key stops a countdown; q only leaves', () => {
    expect(press(view('attach', counting), [type(' ')], now + 500).acts).toEqual([
      { act: 'stop' },
    ]);
    expect(press(view('attach', counting), [type('q')], now + 500).acts).toEqual([
      { act: 'interrupt' },
    ]);
    expect(press(view('attach', counting), [key('downArrow')], now + 500).acts).toEqual(
      [],
    );
  });
});

describe('scrolling', () => {
  const todos = Array.from({ length: 500 }, (_, index) => {
    const open = index === 250 ? 'in_progress' : 'pending';
    const status = index < 250 ? 'completed' : open;
    return todoView(`${index}`, `Todo ${index + 1}`, { status });
  });
  const plan = event(0, { type: 'plan-changed', todos, completed: 250, total: 500 });

  it('C3: a plan of 500 todos follows the current one until someone scrolls, to either end and back', () => {
    const state = view('run', plan);
    expect(planWindow(state)).toEqual({ first: 248, shown: 8, last: 492 });
    expect(press(state, [key('home')]).state.scroll).toBe(0);
    expect(press(state, [key('end')]).state.scroll).toBe(492);
    expect(
      press(state, [key('end'), key('downArrow'), key('pageDown')]).state.scroll,
    ).toBe(492);
    expect(press(state, [key('upArrow'), key('pageUp')]).state.scroll).toBe(239);
    expect(press(state, [key('home'), key('tab')]).state.scroll).toBeNull();
  });
});
