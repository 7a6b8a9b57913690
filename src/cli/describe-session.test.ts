import { describe, expect, it } from 'vitest';
import type { Session } from '../core/state.ts';
import { describeHost } from './describe-session.ts';

function hosted(descriptor: Partial<Session['descriptor']>): Session {
  const base = { host: 'opencode', mode: 'told', kind: 'main', headless: false, parentId: null };
  return { descriptor: { ...base, ...descriptor } } as Session;
}

describe('who runs a session, in words', () => {
  it('C3: our own agent is named as such, whether or not somebody is at its terminal', () => {
    expect(describeHost(hosted({ host: 'untildone', mode: 'asked', headless: true }))).toBe('our own agent');
    expect(describeHost(hosted({ host: 'untildone', parentId: 's1' }))).toBe('our own agent: a worker');
  });

  it('C3: a host is named with how it is kept at work', () => {
    expect(describeHost(hosted({}))).toBe('opencode, its main session; it is told to go on');
    expect(describeHost(hosted({ host: 'claude-code', mode: 'asked', headless: true }))).toBe(
      'claude-code, its main session; it asks before it stops; nobody is there to answer it',
    );
  });
});
