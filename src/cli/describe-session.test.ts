import { describe, expect, it } from 'vitest';
import { newTurn, type Session } from '../core/state.ts';
import type { Todo } from '../core/todo.ts';
import { describeHost, standingIn } from './describe-session.ts';

function hosted(descriptor: Partial<Session['descriptor']>): Session {
  const base = {
    host: 'opencode',
    mode: 'told',
    kind: 'main',
    headless: false,
    parentId: null,
  };
  return { descriptor: { ...base, ...descriptor } } as Session;
}

describe('who runs a session, in words', () => {
  it('C3: our own agent is named as such, whether or not somebody is at its terminal', () => {
    expect(
      describeHost(hosted({ host: 'untildone', mode: 'asked', headless: true })),
    ).toBe('our own agent');
    expect(describeHost(hosted({ host: 'untildone', parentId: 's1' }))).toBe(
      'our own agent: a worker',
    );
  });

  it('C3: a host is named with how it is kept at work', () => {
    expect(describeHost(hosted({}))).toBe(
      'opencode, its main session; it is told to go on',
    );
    expect(
      describeHost(hosted({ host: 'claude-code', mode: 'asked', headless: true })),
    ).toBe(
      'claude-code, its main session; it asks before it stops; nobody is there to answer it',
    );
  });
});

describe('how far a todo is proved', () => {
  const todo = {
    status: 'completed',
    verification: 'none',
    checks: [] as string[],
  } as unknown as Todo;
  const settled = { outcome: 'done', reason: 'nothing-open', at: 1 } as const;
  const asked = { ...newTurn('turn-2', 2, 2), proved: true };

  it.each([
    ['covered', 'it ended done', { settled, turn: newTurn('turn-1', 1) }],
    ['covered', 'a question was asked since', { settled: null, turn: asked }],
    [
      'claimed',
      'files were touched since',
      { settled: null, turn: { ...asked, touchedWorkspace: true } },
    ],
    [
      'claimed',
      'the plan was touched since',
      { settled: null, turn: { ...asked, touchedPlan: true } },
    ],
    [
      'claimed',
      'it ended claimed',
      { settled: { ...settled, outcome: 'claimed' as const }, turn: asked },
    ],
    ['claimed', 'nothing was proved', { settled: null, turn: newTurn('turn-1', 1) }],
  ])('V8: %s where %s', (standing, _where, session) => {
    expect(standingIn(session)(todo)).toBe(standing);
  });
});
