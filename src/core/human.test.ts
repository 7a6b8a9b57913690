import { describe, expect, it } from 'vitest';
import {
  answerOf,
  createCoreDriver,
  type DriverOptions,
  injectionOf,
} from '../../test/properties/core-driver.ts';

const told: DriverOptions = { descriptor: { mode: 'told' } };

/** A session whose agent was continued once and stands before its next stop. */
function continuedOnce(options: DriverOptions = {}) {
  const driver = createCoreDriver(options);
  driver.says();
  driver.plans('write the parser', 'write the tests');
  driver.stopsFully();
  expect(driver.state.counters.total).toBe(1);
  return driver;
}

describe('the counters', () => {
  it('G6: a genuine human message zeroes all three', () => {
    const driver = continuedOnce();
    expect(driver.state.counters).toEqual({ stagnant: 1, continuations: 1, total: 1 });
    driver.says('and hurry');
    expect(driver.state.counters).toEqual({ stagnant: 0, continuations: 0, total: 0 });
  });

  it('G6: neither resume, nor a send, nor an echo of a message zeroes any', () => {
    const driver = continuedOnce(told);
    const counters = { stagnant: 1, continuations: 1, total: 1 };
    const messageId = driver.state.humanMessageIds[0] ?? null;
    driver.happens({
      type: 'delivery-reported',
      news: 'sent',
      error: null,
      epoch: driver.state.epoch,
    });
    driver.happens({
      type: 'delivery-reported',
      news: 'observed',
      error: null,
      epoch: driver.state.epoch,
    });
    driver.says('Please build it.', messageId);
    driver.happens({ type: 'human-paused', reason: null });
    driver.happens({ type: 'human-resumed' });
    driver.happens({ type: 'session-closed' });
    expect(driver.state.counters).toEqual(counters);
  });

  it('G6: a human message also starts the budgets, questions, errors and alarms anew', () => {
    const driver = createCoreDriver();
    driver.says();
    driver.plans('write the parser');
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      cost: 1,
      contextTokens: 70,
      contextLimit: 100,
    };
    driver.happens({ type: 'usage-reported', ...usage });
    const error = { signature: 'x', message: 'broken', retryAt: null };
    driver.happens({ type: 'error-occurred', kind: 'other', ...error });
    driver.happens({ type: 'error-occurred', kind: 'overflow', ...error });
    driver.happens({ type: 'loop-alarmed', pattern: 'A B' });
    driver.stops({ question: true, toolError: 'it broke' });
    driver.now += 5000;
    driver.says();
    expect(driver.state).toMatchObject({
      usage: {
        since: driver.now,
        tokens: 0,
        cost: 0,
        contextTokens: 70,
        contextLimit: 100,
      },
      circuit: null,
      overflows: 0,
      loopAlarms: 0,
      loopTold: false,
      questions: 0,
      emptyAnswers: 0,
      toolErrorTodo: null,
      challenged: { claims: false, ends: false },
      settled: null,
    });
  });
});

describe('the latch', () => {
  it('G4 P19: after an abort nothing is continued until the human speaks', () => {
    const driver = continuedOnce();
    driver.happens({ type: 'human-aborted', how: 'escape' });
    expect(driver.state.settled?.outcome).toBe('aborted');
    for (let stop = 0; stop < 3; stop++) {
      expect(driver.stops().decision).toMatchObject({
        answer: 'let-go',
        reason: 'aborted',
        outcome: 'aborted',
      });
    }
    driver.says('go on');
    expect(driver.stops().decision?.answer).toBe('continue');
  });

  it('G4 P19: an abort during the countdown leaves no timer that could still fire', () => {
    const driver = continuedOnce(told);
    driver.happens({ type: 'activity-seen' });
    driver.stops();
    const timer = driver.state.timer;
    driver.happens({ type: 'human-aborted', how: 'escape' });
    expect(driver.state).toMatchObject({ timer: null, parked: null });
    const fired = driver.happens({
      type: 'timer-fired',
      epoch: timer?.epoch ?? -1,
      dueAt: timer?.dueAt ?? 0,
    });
    expect(fired.commands).toEqual([]);
  });

  it('P20: a message that is exactly a stop word sets it, one that contains the word does not', () => {
    const driver = continuedOnce();
    driver.says('Stop!');
    expect(driver.state.latch).toMatchObject({ how: 'told to stop' });
    expect(driver.stops().decision?.reason).toBe('aborted');
    driver.says('stop using tabs in the parser, and go on');
    driver.plans('use spaces');
    expect(driver.state.latch).toBeNull();
    expect(driver.stops().decision?.answer).toBe('continue');
  });

  it('G4: an echo of an earlier message does not lift it', () => {
    const driver = continuedOnce();
    const messageId = driver.state.humanMessageIds[0] ?? null;
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.says('Please build it.', messageId);
    expect(driver.state.latch).not.toBeNull();
    driver.happens({ type: 'session-closed' });
    driver.happens({ type: 'activity-seen' });
    driver.works();
    expect(driver.stops().decision?.reason).toBe('aborted');
  });

  it('G4: resume lifts it, and budgets stay spent', () => {
    const driver = continuedOnce();
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.happens({ type: 'human-resumed' });
    expect(driver.state.latch).toBeNull();
    expect(driver.state.counters.total).toBe(1);
    expect(driver.stops().decision?.answer).toBe('continue');
  });
});

describe('pausing and resuming', () => {
  it('M6: a pause of the model ends with the next message of the human', () => {
    const driver = continuedOnce();
    driver.happens({ type: 'model-paused', reason: 'I need a key' });
    expect(driver.stops().decision).toMatchObject({
      reason: 'paused-by-model',
      outcome: 'paused',
    });
    driver.says('here it is, go on');
    driver.works('todo');
    driver.plans('use the key');
    expect(driver.stops().decision?.answer).toBe('continue');
  });

  it('C3: a pause of the human outlives their messages; only resume ends it', () => {
    const driver = continuedOnce();
    driver.happens({ type: 'human-paused', reason: null });
    driver.says('what does this do?');
    expect(driver.stops().decision).toMatchObject({
      reason: 'paused-by-human',
      outcome: 'paused',
    });
    driver.happens({ type: 'model-paused', reason: 'me too' });
    expect(driver.state.pause?.by).toBe('human');
    driver.happens({ type: 'human-resumed' });
    expect(driver.state.pause).toBeNull();
  });

  it('C3: resume takes the last stop attempt of an idle told host up again', () => {
    const driver = continuedOnce(told);
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.stops();
    const resumed = driver.happens({ type: 'human-resumed' });
    expect(resumed.decision).toMatchObject({ answer: 'wait', reason: 'not-yet' });
    expect(injectionOf(driver.fires())?.text).toContain('write the parser');
  });

  it('C3: a pause in the middle of a countdown and a resume after it go on where they were', () => {
    const driver = continuedOnce(told);
    driver.happens({ type: 'activity-seen' });
    driver.stops();
    driver.happens({ type: 'human-paused', reason: null });
    expect(driver.state).toMatchObject({ parked: null, timer: null });
    driver.happens({ type: 'human-resumed' });
    expect(injectionOf(driver.fires())).not.toBeNull();
  });

  it('C3: resume while an agent is at work, or where nothing is held, changes nothing', () => {
    const driver = continuedOnce(told);
    driver.happens({ type: 'activity-seen' });
    driver.happens({ type: 'human-paused', reason: null });
    driver.happens({ type: 'human-resumed' });
    expect(driver.state.parked).toBeNull();
    driver.stops();
    const { timer, parked, epoch } = driver.state;
    driver.happens({ type: 'human-resumed' });
    expect(driver.state).toMatchObject({
      timer,
      parked: { eventId: parked?.eventId },
      epoch,
    });
  });

  it('G4: an asked host is not answered by a resume: nobody asks', () => {
    const driver = continuedOnce();
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.stops();
    expect(driver.happens({ type: 'human-resumed' }).commands).toEqual([]);
  });
});

describe('turns', () => {
  it('T3: a message while the turn runs joins it, one after it starts another', () => {
    const driver = continuedOnce();
    const first = driver.state.turn;
    driver.says('use tabs');
    expect(driver.state.turn).toMatchObject({ id: first?.id, number: 1 });
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.says('now something else');
    expect(driver.state.turn).toMatchObject({
      number: 2,
      ended: false,
      touchedPlan: false,
      stopSeen: false,
    });
    expect(driver.state.turn?.id).not.toBe(first?.id);
  });

  it('P19 T3: a message of which the host knows that no turn runs starts one, though the last never ended', () => {
    const driver = continuedOnce();
    const spoken = {
      messageId: 'm',
      turnId: 'turn-2',
      agent: null,
      fingerprint: null,
      policyHash: null,
    };
    driver.happens({
      type: 'human-spoke',
      text: 'What is this?',
      turnIsOver: true,
      ...spoken,
    });
    expect(driver.state.turn).toMatchObject({
      id: 'turn-2',
      number: 2,
      touchedPlan: false,
    });
    driver.stops();
    expect(driver.decisions.at(-1)).toMatchObject({
      answer: 'let-go',
      reason: 'plan-not-resumed',
    });
  });

  it('T3: a continuation stays in its turn, also after a resume', () => {
    const driver = continuedOnce(told);
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.stops();
    driver.happens({ type: 'human-resumed' });
    driver.fires();
    expect(driver.state.turn).toMatchObject({ number: 1, ended: false });
    driver.happens({ type: 'activity-seen' });
    driver.says('use tabs');
    expect(driver.state.turn?.number).toBe(1);
  });

  it('T3: a message during a countdown starts a turn: the agent had stopped', () => {
    const driver = continuedOnce(told);
    driver.happens({ type: 'activity-seen' });
    driver.stops();
    driver.now += 1000;
    driver.says('something else');
    expect(driver.state.turn?.number).toBe(2);
  });

  it('P34: todos of an earlier turn force nothing until the turn takes them up or the human says go on', () => {
    const driver = continuedOnce();
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.says('what is the time?');
    expect(driver.stops().decision).toMatchObject({
      reason: 'plan-not-resumed',
      outcome: 'paused',
    });
    driver.says('Go on!');
    expect(driver.stops().decision?.answer).toBe('continue');
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.says('another question');
    const [open] = driver.todos();
    driver.updates(open?.id ?? '', { status: 'in_progress' });
    expect(driver.stops().decision?.answer).toBe('continue');
  });

  it('T3: a go-on phrase that joins a running turn counts for it', () => {
    const driver = continuedOnce();
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.says('what is the time?');
    driver.says('continue');
    expect(driver.stops().decision?.answer).toBe('continue');
    driver.says('thank you');
    expect(driver.state.turn?.goesOn).toBe(true);
  });

  it('T3: in turn scope a new turn has a new plan; the old todos stay as they are and are remembered', () => {
    const driver = continuedOnce({ settings: { scope: 'turn' } });
    const { planId: oldPlan, plan } = driver.state;
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.says('something else');
    expect(driver.state.planId).not.toBe(oldPlan);
    expect(driver.state.leftOver).toEqual({ planId: oldPlan, open: 2 });
    expect(driver.todos()).toEqual([]);
    expect(plan.map(({ status }) => status)).toEqual(['pending', 'pending']);
    expect(driver.stops().decision).toMatchObject({ reason: 'no-plan', outcome: null });
    const [todo = ''] = driver.plans('another');
    driver.completes(todo);
    expect(driver.stops().decision).toMatchObject({
      reason: 'plan-not-resumed',
      outcome: 'paused',
    });
  });

  it('T3: in session scope the plan stays, and in turn scope a message that joins keeps it', () => {
    const session = continuedOnce();
    session.happens({ type: 'human-aborted', how: 'escape' });
    session.says('something else');
    expect(session.todos()).toHaveLength(2);
    const turn = continuedOnce({ settings: { scope: 'turn' } });
    turn.says('use tabs');
    expect(turn.todos()).toHaveLength(2);
    expect(turn.state.leftOver).toBeNull();
  });

  it('T3: a new turn forgets requests that were never answered', () => {
    const driver = continuedOnce();
    driver.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'r1' },
    });
    driver.happens({ type: 'wait-started', wait: { kind: 'question', requestId: 'r2' } });
    driver.says('joins');
    expect(driver.state.waits).toMatchObject({ permissions: ['r1'], questions: ['r2'] });
    driver.happens({ type: 'human-aborted', how: 'escape' });
    driver.says('starts');
    expect(driver.state.waits).toMatchObject({ permissions: [], questions: [] });
  });
});

describe('echoes', () => {
  function inCountdown(options: DriverOptions = told) {
    const driver = continuedOnce(options);
    driver.now += 10_000;
    driver.happens({ type: 'activity-seen' });
    driver.stops();
    return driver;
  }

  it('E2: a known id never cancels the countdown, a new one always does', () => {
    const driver = inCountdown();
    driver.says('Please build it.', driver.state.humanMessageIds[0]);
    expect(driver.state.timer).not.toBeNull();
    driver.says('wait', 'message-new');
    expect(driver.state.timer).toBeNull();
  });

  it('E5: without ids the grace period tells an echo from a word', () => {
    const driver = inCountdown();
    driver.now += 499;
    driver.says('Please build it.', null);
    expect(driver.state.timer).not.toBeNull();
    driver.now += 1;
    driver.says('wait', null);
    expect(driver.state.timer).toBeNull();
  });

  it('C1: the grace period can be set for one agent', () => {
    const driver = inCountdown({
      ...told,
      settings: { agents: { build: { graceSeconds: 0 } } },
    });
    driver.says('wait', null);
    expect(driver.state.timer).toBeNull();
  });

  it('E2: an asked host, or one that is at work, has no grace period', () => {
    const asked = continuedOnce();
    asked.says('wait', null);
    expect(asked.state.counters.total).toBe(0);
    const busy = continuedOnce(told);
    busy.happens({ type: 'activity-seen' });
    busy.says('wait', null);
    expect(busy.state.counters.total).toBe(0);
  });

  it('E2: the last messages are remembered, and not more than those', () => {
    const driver = createCoreDriver();
    for (let index = 0; index < 40; index++) driver.says('hello', `message-${index}`);
    expect(driver.state.humanMessageIds).toHaveLength(32);
    const { epoch } = driver.state;
    driver.says('hello', 'message-39');
    expect(driver.state.epoch).toBe(epoch);
    driver.says('hello', null);
    expect(driver.state.humanMessageIds).toHaveLength(32);
  });
});

describe('what a message fixes', () => {
  it('V2: the policy and the agent from here on', () => {
    const driver = createCoreDriver();
    const agent = { name: 'other', canWrite: 'yes', model: 'm', variant: null } as const;
    const details = { messageId: 'm1', text: 'hello', turnId: 't1', fingerprint: null };
    driver.happens({ type: 'human-spoke', ...details, agent, policyHash: 'hash-1' });
    expect(driver.state).toMatchObject({ policyHash: 'hash-1', agent });
    driver.says();
    expect(driver.state).toMatchObject({ policyHash: 'hash-1', agent });
  });

  it('V5: an answer that an asked host never acted on is marked unanswered, not sent again', () => {
    const driver = continuedOnce();
    expect(driver.state.injection?.state).toBe('intended');
    const spoke = driver.says('are you there?');
    expect(driver.state.injection?.state).toBe('unanswered');
    expect(answerOf(spoke)).toBeNull();
    const acted = continuedOnce();
    acted.works();
    acted.says('good');
    expect(acted.state.injection?.state).toBe('observed');
    const injected = continuedOnce(told);
    injected.says('hello', 'new-1');
    expect(injected.state.injection?.state).toBe('intended');
  });

  it('G7: the state of the workspace at the message is the baseline, never progress', () => {
    const driver = continuedOnce();
    driver.stops({ fingerprint: 'tree-1' });
    driver.works();
    const details = {
      messageId: 'm9',
      text: 'hello',
      turnId: 't9',
      agent: null,
      policyHash: null,
    };
    driver.happens({ type: 'human-spoke', ...details, fingerprint: 'tree-2' });
    driver.stops();
    expect(driver.state.counters.stagnant).toBe(1);
    driver.happens({ type: 'workspace-seen', fingerprint: 'tree-3' });
    expect(driver.state.counters.stagnant).toBe(1);
    driver.works();
    driver.happens({ type: 'workspace-seen', fingerprint: 'tree-4' });
    expect(driver.state.counters.stagnant).toBe(0);
  });
});

describe('a message without an id', () => {
  it('E2: to an asked host is never taken for an echo, even while its checks run', () => {
    const driver = createCoreDriver({ goalChecks: ['unit'] });
    driver.says('work', 'message-1');
    const [first = ''] = driver.plans('parse');
    driver.works();
    driver.completes(first);
    driver.stops();
    expect(driver.state.parked).not.toBeNull();
    const { epoch } = driver.state;
    driver.says('and document it', null);
    expect(driver.state.epoch).toBe(epoch + 1);
    expect(driver.state.parked).toBeNull();
  });
});

describe('the title (V11)', () => {
  it('V11: is the first words of the human, cleaned and cut, and later ones do not change it', () => {
    const driver = createCoreDriver();
    driver.says('   ');
    expect(driver.state.title).toBeNull();
    driver.says(`\u001b[31mFix the login\nand ${'more '.repeat(50)}`);
    const title = driver.state.title ?? '';
    expect(title).toMatch(/^Fix the login and more .*…$/u);
    expect(title.length).toBeLessThanOrEqual(80);
    driver.says('go on');
    expect(driver.state.title).toBe(title);
  });
});
