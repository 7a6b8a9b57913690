import { describe, expect, it } from 'vitest';
import { createCoreDriver } from '../../test/properties/core-driver.ts';
import type { PermissionAnswer } from './events.ts';

const about = {
  callId: 's/c1',
  tool: 'shell',
  subject: 'npm publish',
  pattern: '= npm publish',
};

function asked(requestId = 'r1') {
  const driver = createCoreDriver({ descriptor: { headless: true } });
  driver.says();
  driver.plans('write the parser');
  driver.happens({
    type: 'wait-started',
    wait: { kind: 'permission', requestId, about },
  });
  return driver;
}

function answer(
  driver: ReturnType<typeof asked>,
  remembered: PermissionAnswer,
  requestId = 'r1',
): void {
  const granted = remembered !== 'no' && remembered !== 'withdrawn';
  driver.happens({
    type: 'wait-ended',
    wait: { kind: 'permission', requestId, granted, remembered },
  });
}

describe('what our own agent asks to be allowed', () => {
  it('S7, P9: waits for the human; without anyone at a terminal the stop settles as paused and names the command', () => {
    const driver = asked();
    expect(driver.state.permissions.requests).toMatchObject([
      { requestId: 'r1', ...about, answer: null },
    ]);
    const { decision } = driver.stops();
    expect(decision).toMatchObject({
      answer: 'let-go',
      reason: 'permission-pending',
      outcome: 'paused',
    });
    expect(decision?.sentence).toContain(
      'shell: npm publish; `untildone approve` answers it',
    );
    expect(decision?.inputs['asked']).toBe('shell: npm publish');
  });

  it.each([
    ['once', []],
    ['session', [{ pattern: '= npm publish', remembered: 'session' }]],
    ['always', [{ pattern: '= npm publish', remembered: 'always' }]],
  ] as const)(
    'S7: %s ends the wait, and only what lasts is granted',
    (remembered, grants) => {
      const driver = asked();
      answer(driver, remembered);
      expect(driver.state.waits.permissions).toEqual([]);
      expect(driver.state.permissions.requests).toMatchObject([{ answer: remembered }]);
      expect(driver.state.permissions.grants).toMatchObject(grants);
      expect(driver.state.permissions.grants).toHaveLength(grants.length);
    },
  );

  it('S7: a no does not pause our own loop, and holds until the human speaks', () => {
    const driver = asked();
    answer(driver, 'no');
    expect(driver.state.pause).toBeNull();
    expect(driver.state.permissions.refused).toEqual([
      { tool: 'shell', pattern: '= npm publish' },
    ]);
    driver.says('try again');
    expect(driver.state.permissions.refused).toEqual([]);
  });

  it('G4: a host’s rejection still pauses', () => {
    const driver = createCoreDriver();
    driver.says();
    driver.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'r1' },
    });
    driver.happens({
      type: 'wait-ended',
      wait: { kind: 'permission', requestId: 'r1', granted: false },
    });
    expect(driver.state.pause).toMatchObject({ by: 'rejection' });
  });

  it('S7: of two answers the first counts', () => {
    const driver = asked();
    answer(driver, 'no');
    answer(driver, 'always');
    expect(driver.state.permissions.requests).toMatchObject([{ answer: 'no' }]);
    expect(driver.state.permissions.grants).toEqual([]);
  });

  it('S7: the beginning of the call uses the answer up; a withdrawn request is gone, answered or not', () => {
    const driver = asked();
    answer(driver, 'once');
    driver.happens({ type: 'tool-started', tool: 'shell', access: 'write' });
    expect(driver.state.permissions.requests).toHaveLength(1);
    driver.happens({
      type: 'tool-started',
      tool: 'shell',
      access: 'write',
      requestId: 'r1',
    });
    expect(driver.state.permissions.requests).toEqual([]);
    driver.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'r2', about },
    });
    answer(driver, 'withdrawn', 'r2');
    const nothingLeft = { requests: [], grants: [], refused: [] };
    expect(driver.state.permissions).toEqual({ hasAsked: true, ...nothingLeft });
    expect(driver.state.waits.permissions).toEqual([]);
  });

  it('T3: a new turn asks no longer, and keeps what was granted; words that join the turn leave the question', () => {
    const driver = asked();
    driver.says('and hurry');
    expect(driver.state.waits.permissions).toEqual(['r1']);
    answer(driver, 'session');
    driver.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'r2', about },
    });
    driver.stops();
    driver.says('something else');
    expect(driver.state.permissions.requests.map(({ requestId }) => requestId)).toEqual([
      'r1',
    ]);
    expect(driver.state.permissions.grants).toHaveLength(1);
  });
});

describe('words for an agent at work', () => {
  it('T3: are kept until the loop has taken them up; a stop word is not', () => {
    const driver = createCoreDriver();
    driver.says();
    const spoke = (text: string, messageId: string) =>
      driver.happens({
        type: 'human-spoke',
        text,
        messageId,
        turnId: messageId,
        agent: null,
        fingerprint: null,
        policyHash: null,
        queued: true,
      });
    spoke('use tabs', 'm1');
    spoke('and hurry', 'm2');
    expect(driver.state.words.map(({ text }) => text)).toEqual(['use tabs', 'and hurry']);
    expect(driver.state.turn?.number).toBe(1);
    driver.happens({ type: 'words-joined', messageId: 'm1' });
    expect(driver.state.words.map(({ messageId }) => messageId)).toEqual(['m2']);
    spoke('stop', 'm3');
    expect(driver.state.latch).not.toBeNull();
    expect(driver.state.words).toHaveLength(1);
  });
});
