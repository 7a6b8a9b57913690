import { describe, expect, it } from 'vitest';
import { ends, own, planned, reports } from '../../test/properties/check-story.ts';

describe('what proves a todo or the goal', () => {
  it('V1: a todo with two checks is final only when both have passed', () => {
    const { driver, first } = planned({}, { title: 'parse', checks: ['own', 'other'] });
    const claimed = driver.completes(first);
    expect(claimed.commands).toContainEqual(
      expect.objectContaining({
        checks: [
          { todoId: first, check: 'own' },
          { todoId: first, check: 'other' },
        ],
      }),
    );
    reports(driver, first, 'passed');
    expect(driver.todo(first)).toMatchObject({ verification: 'claimed', finalAt: null });
    reports(driver, first, 'passed', { check: 'other' });
    expect(driver.todo(first)).toMatchObject({
      verification: 'passed',
      finalAt: driver.now,
    });
    reports(driver, first, 'passed', { check: 'nobody asked for this' });
    expect(driver.todo(first).evidence).toHaveLength(2);
  });

  it('V2: evidence from a time in which something could write is no proof of any state', () => {
    const cases = [
      { writes: 1, meanwhile: 'nothing', proves: 'tree-1' },
      { writes: null, meanwhile: 'nothing', proves: null },
      { writes: 1, meanwhile: 'a call ended', proves: null },
      { writes: 1, meanwhile: 'a call began', proves: null },
    ] as const;
    for (const { writes, meanwhile, proves } of cases) {
      const { driver, first } = planned({}, { title: 'parse', ...own });
      const tool = { tool: 'write', access: 'write' } as const;
      driver.happens({ type: 'tool-started', ...tool });
      driver.happens({ type: 'tool-ended', ...tool, error: null });
      const started = driver.state.work.writes;
      driver.state = { ...driver.state, work: { ...driver.state.work, started } };
      driver.completes(first);
      if (meanwhile !== 'nothing') driver.happens({ type: 'tool-started', ...tool });
      if (meanwhile === 'a call ended')
        driver.happens({ type: 'tool-ended', ...tool, error: null });
      reports(driver, first, 'passed', {
        final: false,
        writes: writes === null ? null : started,
      });
      expect(driver.todo(first).evidence[0]?.fingerprint, meanwhile).toBe(proves);
    }
  });

  it('V1: a todo that was reopened needs new proof', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    reports(driver, first, 'passed');
    driver.updates(first, { status: 'in_progress' });
    const again = driver.completes(first);
    expect(driver.todo(first)).toMatchObject({ verification: 'claimed', evidence: [] });
    expect(again.commands).toContainEqual(
      expect.objectContaining({
        type: 'run-checks',
        checks: [{ todoId: first, check: 'own' }],
      }),
    );
  });

  it('V2: a call whose end was lost voids nothing once the human has spoken again', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.happens({ type: 'tool-started', tool: 'write', access: 'write' });
    driver.says('go on', 'message-2');
    driver.completes(first);
    reports(driver, first, 'passed', { final: false, writes: driver.state.work.writes });
    expect(driver.todo(first).evidence[0]?.fingerprint).toBe('tree-1');
  });

  it('V2: the end of the run for another stop settles nothing', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    reports(driver, first, 'passed');
    driver.stops();
    const other = driver.happens({
      type: 'final-run-ended',
      stop: 'another stop',
      edited: [],
    });
    expect(other.decision?.answer).toBe('wait');
    expect(driver.state.finalRun?.ended).toBe(false);
  });

  it('M8: what has passed is not run again because someone asks', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    reports(driver, first, 'passed');
    expect(
      driver.happens({ type: 'verification-asked', todoId: first }).commands,
    ).toEqual([]);
  });

  it('V1: a todo with a check of its own that the agent cancels leaves the human’s wish unproved', () => {
    const { driver, first, second } = planned(
      { goalChecks: ['unit'] },
      { title: 'parse', ...own },
      'test',
    );
    driver.completes(first, 'cancelled');
    driver.completes(second);
    driver.stops();
    reports(driver, null, 'passed');
    ends(driver);
    expect(driver.state.settled?.outcome).toBe('claimed');
    expect(driver.decisions.at(-1)?.sentence).toContain(
      '1 todo with checks of its own was cancelled',
    );
  });

  it('V1: a check that waited for a human and was never answered proves nothing', () => {
    const { driver, first } = planned(
      { goalChecks: ['unit'] },
      { title: 'parse', ...own },
    );
    driver.completes(first);
    reports(driver, first, 'passed');
    driver.stops();
    reports(driver, null, 'waiting');
    ends(driver);
    driver.state = { ...driver.state, waits: { ...driver.state.waits, questions: [] } };
    const stop = driver.state.parked?.eventId ?? '';
    driver.happens({
      type: 'wait-ended',
      wait: { kind: 'question', requestId: 'another', rejected: false },
    });
    driver.happens({ type: 'final-run-ended', stop, edited: [] });
    expect(driver.state.settled?.outcome ?? 'claimed').toBe('claimed');
  });

  it('V1: a human who speaks has answered: the question of a check does not hold up the next stop', () => {
    const { driver, first } = planned({ goalChecks: ['unit'] }, 'parse');
    driver.completes(first);
    driver.stops();
    reports(driver, null, 'waiting');
    expect(driver.state.waits.questions).toEqual(['approve unit']);
    driver.happens({
      type: 'wait-started',
      wait: { kind: 'question', requestId: 'dialog' },
    });
    driver.says('no, make it blue', 'message-2');
    expect(driver.state.waits.questions).not.toContain('approve unit');
  });

  it('V1: a flaky check of a todo is at best claimed', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    reports(driver, first, 'passed', { flaky: true });
    driver.stops();
    ends(driver);
    expect(driver.state.settled?.outcome).toBe('claimed');
    expect(driver.decisions.at(-1)?.sentence).toContain('failed before it passed');
  });

  it('V1: a check that waits for a human pauses a session without a terminal, and fails nothing', () => {
    for (const todoId of ['first', null]) {
      const setting = {
        goalChecks: todoId === null ? ['unit'] : [],
        descriptor: { headless: true },
      };
      const { driver, first } = planned(setting, {
        title: 'parse',
        ...(todoId === null ? {} : own),
      });
      driver.completes(first);
      driver.stops();
      reports(driver, todoId === null ? null : first, 'waiting');
      expect(driver.state.settled).toMatchObject({
        outcome: 'paused',
        reason: 'question-pending',
      });
      expect(driver.todo(first).status).toBe('completed');
      const requestId = todoId === null ? 'approve unit' : 'approve own';
      driver.happens({
        type: 'wait-ended',
        wait: { kind: 'question', requestId, rejected: false },
      });
      driver.stops();
      reports(driver, todoId === null ? null : first, 'passed');
      ends(driver);
      expect(driver.state.settled?.outcome).toBe('done');
    }
  });

  it('M8: asking for results runs what is claimed, and waits for what runs on the goal', () => {
    const { driver, first, second } = planned(
      { goalChecks: ['unit'] },
      { title: 'parse', ...own },
      { title: 'test', ...own },
    );
    driver.completes(first);
    driver.completes(second);
    const asked = { type: 'verification-asked', todoId: first } as const;
    expect(driver.happens(asked).commands).toEqual([
      { type: 'run-checks', checks: [{ todoId: first, check: 'own' }], stop: null },
    ]);
    driver.stops();
    driver.happens({ type: 'checks-overdue' });
    expect(driver.happens({ ...asked, todoId: null }).commands).toEqual([
      {
        type: 'run-checks',
        checks: [
          { todoId: first, check: 'own' },
          { todoId: second, check: 'own' },
          { todoId: null, check: 'unit' },
        ],
        stop: null,
      },
    ]);
    for (const todoId of [first, second, null]) reports(driver, todoId, 'passed');
    expect(driver.happens({ ...asked, todoId: null }).commands).toEqual([]);
  });

  it('M8: what passed after the deadline counts at the next stop, unless something was written since', () => {
    for (const wrote of [false, true]) {
      const { driver, first } = planned({ goalChecks: ['unit'] }, 'parse');
      driver.completes(first);
      driver.stops();
      driver.happens({ type: 'checks-overdue' });
      reports(driver, null, 'passed');
      if (wrote) driver.works('write');
      const again = driver.stops();
      expect(again.commands).toContainEqual(
        expect.objectContaining({
          checks: wrote ? [{ todoId: null, check: 'unit' }] : [],
        }),
      );
      if (wrote) reports(driver, null, 'passed');
      ends(driver);
      expect(driver.state.settled?.outcome).toBe('done');
    }
  });

  it('V2: edits of the files that say what is checked are on the record', () => {
    const { driver, first } = planned({ goalChecks: ['unit'] }, 'parse');
    driver.completes(first);
    driver.stops();
    reports(driver, null, 'passed');
    driver.happens({
      type: 'final-run-ended',
      stop: driver.state.finalRun?.stop ?? '',
      edited: ['untildone.json'],
    });
    expect(driver.ledger).toContain('checks-edited');
    expect(driver.state.settled?.outcome).toBe('done');
  });

  it('V2: files that are ignored since the message are told with the outcome, done or not, until the human speaks', () => {
    const { driver, first } = planned({ goalChecks: ['unit'] }, 'parse');
    const stopsWith = (hidden: readonly string[]) => {
      driver.stops();
      reports(driver, null, 'passed');
      const stop = driver.state.finalRun?.stop ?? '';
      return driver.happens({ type: 'final-run-ended', stop, edited: [], hidden });
    };
    driver.completes(first);
    const many = stopsWith(['a\u001b[2J.txt', 'b', 'c', 'd', 'e', 'f']);
    const words = 'These files are ignored only since your message, so they count: ';
    expect(many.decision).toMatchObject({
      outcome: 'done',
      sentence: expect.stringContaining(words),
    });
    expect(many.decision?.sentence).toMatch(/, b, c, d, e and others\.$/u);
    expect(many.decision?.sentence).not.toContain('\u001b');
    expect(many.commands).toContainEqual(
      expect.objectContaining({
        message: `done: unit passed. ${many.decision?.sentence}`,
      }),
    );
    driver.says('and now?');
    expect(driver.state.hidden).toEqual([]);
    driver.updates(first, { status: 'in_progress' });
    driver.completes(first);
    expect(stopsWith([]).decision?.sentence).not.toContain(words);
  });

  it('V4: a record that was changed from outside makes done impossible', () => {
    const { driver, first } = planned({ goalChecks: ['unit'] }, 'parse');
    driver.completes(first);
    driver.stops();
    reports(driver, null, 'passed');
    driver.happens({ type: 'record-broken', sentence: 'a row is gone' });
    ends(driver);
    expect(driver.state.settled?.outcome).toBe('claimed');
    expect(driver.decisions.at(-1)?.sentence).toContain('a row is gone');
    driver.says('go on');
    expect(driver.state.recordBroken).toBeNull();
  });

  it('V4: a pass that is taken back because a human has to be asked again stands in the ledger', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own }, 'test');
    driver.completes(first);
    const claimed = reports(driver, first, 'waiting');
    expect(claimed.ledger, 'it was a claim before').toEqual([]);
    reports(driver, first, 'passed');
    const back = reports(driver, first, 'waiting');
    expect(driver.todo(first).verification).toBe('claimed');
    expect(back.ledger).toMatchObject([{ change: 'edited', todoId: first }]);
  });

  it('V4: from a damaged record even a claim is told as what it is', () => {
    const { driver, first } = planned({}, 'parse');
    driver.completes(first);
    driver.happens({ type: 'record-broken', sentence: 'a todo was forged' });
    const { decision } = driver.stops();
    expect(decision).toMatchObject({ outcome: 'claimed', reason: 'nothing-open' });
    expect(decision?.sentence).toBe(
      'The record of the plan was changed from outside: a todo was forged. It proves nothing.',
    );
  });

  it('V2: a check of the final run that has not reported keeps the turn waiting, even if the run is said to be over', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    expect(driver.stops().decision).toMatchObject({
      answer: 'wait',
      reason: 'nothing-open',
    });
    expect(driver.todo(first).verification).toBe('running');
    expect(ends(driver).decision).toMatchObject({
      answer: 'wait',
      reason: 'nothing-open',
    });
    expect(reports(driver, first, 'passed').decision).toMatchObject({
      answer: 'let-go',
      outcome: 'done',
    });
  });
});
