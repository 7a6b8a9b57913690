import { describe, expect, it } from 'vitest';
import { ends, reports } from '../../test/properties/check-story.ts';
import {
  answerOf,
  createCoreDriver,
  type DriverOptions,
  type Happening,
  injectionOf,
  textOf,
} from '../../test/properties/core-driver.ts';

const told: DriverOptions = { descriptor: { mode: 'told' } };
const server = { id: 'job-1', kind: 'shell', description: 'npm run dev' } as const;
const explorer = {
  id: 'job-2',
  kind: 'subagent',
  description: 'explore the code',
} as const;

function planned(options: DriverOptions = {}) {
  const driver = createCoreDriver(options);
  driver.says();
  driver.plans('write the parser', 'write the tests');
  return driver;
}

interface Wait {
  readonly reason: string;
  readonly begins: Happening;
  readonly ends: Happening;
}

const waits: readonly Wait[] = [
  {
    reason: 'recovering',
    begins: { type: 'wait-started', wait: { kind: 'recovery' } },
    ends: { type: 'wait-ended', wait: { kind: 'recovery' } },
  },
  {
    reason: 'compacting',
    begins: { type: 'wait-started', wait: { kind: 'compaction' } },
    ends: { type: 'wait-ended', wait: { kind: 'compaction', shrunk: true } },
  },
  {
    reason: 'permission-pending',
    begins: { type: 'wait-started', wait: { kind: 'permission', requestId: 'r1' } },
    ends: {
      type: 'wait-ended',
      wait: { kind: 'permission', requestId: 'r1', granted: true },
    },
  },
  {
    reason: 'question-pending',
    begins: { type: 'wait-started', wait: { kind: 'question', requestId: 'r1' } },
    ends: {
      type: 'wait-ended',
      wait: { kind: 'question', requestId: 'r1', rejected: false },
    },
  },
  {
    reason: 'subagent-at-work',
    begins: { type: 'wait-started', wait: { kind: 'background', job: explorer } },
    ends: { type: 'wait-ended', wait: { kind: 'background', jobId: explorer.id } },
  },
];

describe('a wait', () => {
  for (const { reason, begins, ends } of waits) {
    it(`G3: ${reason}: a told host's stop is parked and decided again when the cause ends`, () => {
      const driver = planned(told);
      driver.happens(begins);
      expect(driver.stops().decision).toMatchObject({ answer: 'wait', reason });
      expect(driver.state.parked).toMatchObject({ cause: reason });
      driver.now += 10_000;
      const ended = driver.happens(ends);
      expect(injectionOf(ended)).toBeNull();
      expect(ended.decision).toMatchObject({
        reason: 'not-yet',
        dueAt: driver.now + 2000,
      });
      expect(injectionOf(driver.fires())?.text).toContain('write the parser');
      expect(driver.state.counters.total).toBe(1);
    });

    it(`E3: ${reason}: it ends a countdown at once, and its end begins a new one`, () => {
      const driver = planned(told);
      driver.stops();
      expect(driver.state).toMatchObject({
        parked: { cause: 'not-yet' },
        timer: { purpose: 'due' },
      });
      driver.now += 1000;
      expect(driver.happens(begins).decision).toMatchObject({ answer: 'wait', reason });
      expect(driver.state.parked).toMatchObject({ cause: reason });
      driver.now += 60_000;
      driver.happens(ends);
      expect(driver.state.timer).toMatchObject({
        purpose: 'due',
        dueAt: driver.now + 2000,
      });
      driver.stops();
      expect(driver.state.timer?.dueAt).toBe(driver.now + 2000);
      expect(injectionOf(driver.fires())).not.toBeNull();
    });

    it(`G3: ${reason}: an asked host gets control back with a word, and nothing is settled or counted`, () => {
      const driver = planned();
      driver.happens(begins);
      const stopped = driver.stops();
      expect(answerOf(stopped)).toMatchObject({
        answer: 'wait',
        text: null,
        message: expect.stringMatching(/\w/u),
      });
      expect(driver.state).toMatchObject({ parked: null, timer: null, settled: null });
      expect(driver.state.counters.total).toBe(0);
      expect(driver.happens(ends).commands).toEqual([]);
      expect(driver.stops().decision?.answer).toBe('continue');
    });
  }

  it('G3: one cause that ends does not end the others', () => {
    const driver = planned(told);
    driver.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'r1' },
    });
    driver.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'r1' },
    });
    driver.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'r2' },
    });
    driver.stops();
    driver.now += 10_000;
    const first = driver.happens({
      type: 'wait-ended',
      wait: { kind: 'permission', requestId: 'r1', granted: true },
    });
    expect(first.decision?.reason).toBe('permission-pending');
    const second = driver.happens({
      type: 'wait-ended',
      wait: { kind: 'permission', requestId: 'r2', granted: true },
    });
    expect(second.decision?.reason).toBe('not-yet');
  });

  it('G3: requests that nobody answers do not grow the session for ever', () => {
    const driver = planned();
    for (let index = 0; index < 300; index++) {
      const requestId = `r${index}`;
      driver.happens({ type: 'wait-started', wait: { kind: 'permission', requestId } });
      driver.happens({ type: 'wait-started', wait: { kind: 'question', requestId } });
      const job = { ...server, id: `job-${index}` };
      driver.happens({ type: 'wait-started', wait: { kind: 'background', job } });
    }
    expect(driver.state.waits.permissions).toHaveLength(200);
    expect(driver.state.waits.questions).toHaveLength(200);
    expect(driver.state.jobs).toHaveLength(200);
    driver.stops({
      background: Array.from({ length: 300 }, (_, index) => ({
        ...server,
        id: `${index}`,
      })),
    });
    expect(driver.state.jobs).toHaveLength(200);
  });
});

describe('a rejection', () => {
  for (const rejected of ['permission', 'question'] as const) {
    it(`G4: of a ${rejected}: it pauses until the human speaks`, () => {
      const driver = planned(told);
      driver.happens({
        type: 'wait-started',
        wait: { kind: 'permission', requestId: 'r1' },
      });
      driver.happens({
        type: 'wait-started',
        wait: { kind: 'question', requestId: 'r1' },
      });
      driver.happens({
        type: 'wait-ended',
        wait: { kind: 'permission', requestId: 'r1', granted: rejected !== 'permission' },
      });
      driver.happens({
        type: 'wait-ended',
        wait: { kind: 'question', requestId: 'r1', rejected: rejected === 'question' },
      });
      const { epoch } = driver.state;
      expect(driver.stops().decision).toMatchObject({
        reason: 'paused-by-human',
        outcome: 'paused',
      });
      expect(driver.state.epoch).toBe(epoch);
      driver.says('then do it another way');
      expect(driver.state.pause).toBeNull();
    });
  }

  it('V5: it raises the epoch and leaves no timer of the old one behind', () => {
    const driver = planned(told);
    driver.stopsFully();
    driver.happens({
      type: 'delivery-reported',
      news: 'failed',
      epoch: driver.state.epoch,
      error: 'no answer',
    });
    expect(driver.state.timer?.purpose).toBe('resend');
    const { epoch } = driver.state;
    driver.happens({
      type: 'wait-ended',
      wait: { kind: 'permission', requestId: 'r1', granted: false },
    });
    expect(driver.state).toMatchObject({ epoch: epoch + 1, timer: null });
  });

  it("C3: it does not replace the human's own pause", () => {
    const driver = planned();
    driver.happens({ type: 'human-paused', reason: 'lunch' });
    driver.happens({
      type: 'wait-ended',
      wait: { kind: 'permission', requestId: 'r1', granted: false },
    });
    expect(driver.state.pause).toMatchObject({ by: 'human', reason: 'lunch' });
  });
});

describe('compaction', () => {
  it('P23: the plan is given again afterwards, once', () => {
    const driver = planned();
    driver.happens({ type: 'wait-started', wait: { kind: 'compaction' } });
    driver.happens({ type: 'wait-ended', wait: { kind: 'compaction', shrunk: true } });
    const first = driver.stops();
    expect(first.decision?.textKind).toBe('after-compaction');
    expect(textOf(first)).toContain('Open: “write the parser”, “write the tests”.');
    expect(driver.stops().decision?.textKind).toBe('standard');
  });
});

describe('background work', () => {
  it('P18 P37: a shell job is named in one continuation, and holds nothing back', () => {
    const driver = planned();
    driver.happens({ type: 'wait-started', wait: { kind: 'background', job: server } });
    const named = driver.stops();
    expect(named.decision?.textKind).toBe('background-job');
    expect(textOf(named)).toContain('“npm run dev”');
    expect(driver.stops().decision).toMatchObject({
      answer: 'continue',
      textKind: 'standard',
    });
    driver.happens({
      type: 'wait-started',
      wait: {
        kind: 'background',
        job: { ...server, id: 'job-3', description: 'npm test' },
      },
    });
    const second = driver.stops();
    expect(textOf(second)).toContain('“npm test”');
    expect(textOf(second)).not.toContain('npm run dev');
    expect(driver.stops().decision).toMatchObject({ outcome: 'stagnant' });
  });

  it('P37: a server runs and nothing is open: the checks run and the outcome is told', () => {
    const driver = planned({ goalChecks: ['unit'] });
    for (const { id } of driver.todos()) driver.completes(id);
    driver.works();
    const stopped = driver.stops({ background: [server] });
    expect(stopped.commands).toContainEqual(
      expect.objectContaining({ type: 'run-checks' }),
    );
    reports(driver, null, 'passed');
    expect(ends(driver).decision).toMatchObject({ outcome: 'done' });
  });

  it('P18: a run asks its agent once to end or to keep the job, and then settles', () => {
    const tools = { pause: 'todo_pause', verify: 'todo_verify', wait: 'read_job' };
    const driver = planned({ descriptor: { judgesGoal: true, tools } });
    driver.happens({ type: 'wait-started', wait: { kind: 'background', job: server } });
    expect(textOf(driver.stops())).toContain('wait for it with read_job');
    const other = { ...server, id: 'job-3' };
    driver.happens({ type: 'wait-started', wait: { kind: 'background', job: other } });
    for (const { id } of driver.todos()) driver.completes(id);
    const asked = driver.stops();
    expect(asked.decision).toMatchObject({
      answer: 'continue',
      textKind: 'background-job',
    });
    expect(textOf(asked)).toContain('End it now, or say that it is meant to stay');
    expect(driver.stops().decision).toMatchObject({
      outcome: 'claimed',
      reason: 'nothing-open',
    });
  });

  it('P18: it is not waited for for ever, and a new job is waited for from its own start', () => {
    const driver = planned();
    driver.stops({ background: [explorer] });
    driver.now += 30 * 60_000;
    expect(driver.stops().decision?.answer).toBe('continue');
    driver.happens({
      type: 'wait-started',
      wait: { kind: 'background', job: { ...explorer, id: 'job-9' } },
    });
    expect(driver.stops().decision?.reason).toBe('subagent-at-work');
    driver.now += 29 * 60_000;
    expect(driver.stops().decision?.reason).toBe('subagent-at-work');
    driver.now += 60_000;
    expect(driver.stops().decision?.answer).toBe('continue');
  });

  it('P18: the same job announced again does not start the wait anew', () => {
    const driver = planned();
    driver.stops({ background: [explorer] });
    driver.now += 20 * 60_000;
    driver.happens({ type: 'wait-started', wait: { kind: 'background', job: explorer } });
    expect(driver.stops().decision?.dueAt).toBe(driver.now + 10 * 60_000);
  });

  it('P18: the list that comes with a stop replaces our own count, no list leaves it', () => {
    const driver = planned();
    driver.happens({ type: 'wait-started', wait: { kind: 'background', job: explorer } });
    expect(driver.stops({ background: null }).decision?.reason).toBe('subagent-at-work');
    expect(driver.stops({ background: [] }).decision?.answer).toBe('continue');
    expect(driver.state).toMatchObject({ jobs: [], backgroundSince: null });
  });

  it('P18: a job that ended and comes back is named again', () => {
    const driver = planned();
    driver.happens({ type: 'wait-started', wait: { kind: 'background', job: server } });
    driver.stops();
    driver.happens({
      type: 'wait-ended',
      wait: { kind: 'background', jobId: server.id },
    });
    expect(driver.state.namedJobs).toEqual([]);
    driver.happens({ type: 'wait-started', wait: { kind: 'background', job: server } });
    expect(driver.stops().decision?.textKind).toBe('background-job');
  });
});
