import { describe, expect, it } from 'vitest';
import {
  answerOf,
  createCoreDriver,
  type DriverOptions,
  type Happening,
  injectionOf,
  textOf,
} from '../../../test/properties/core-driver.ts';

const told: DriverOptions = { descriptor: { mode: 'told' } };
const server = { id: 'job-1', kind: 'shell', description: 'npm run dev' } as const;
const explorer = { id: 'job-2', kind: 'subagent', description: 'explore the code' } as const;

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
  { reason: 'recovering', begins: { type: 'recovery-started' }, ends: { type: 'recovery-ended' } },
  {
    reason: 'compacting',
    begins: { type: 'compaction-started' },
    ends: { type: 'compaction-ended', shrunk: true },
  },
  {
    reason: 'permission-pending',
    begins: { type: 'permission-asked', requestId: 'r1' },
    ends: { type: 'permission-answered', requestId: 'r1', granted: true },
  },
  {
    reason: 'question-pending',
    begins: { type: 'question-asked', requestId: 'r1' },
    ends: { type: 'question-answered', requestId: 'r1', rejected: false },
  },
  {
    reason: 'background',
    begins: { type: 'background-started', job: explorer },
    ends: { type: 'background-ended', jobId: explorer.id },
  },
];

describe('a wait', () => {
  for (const { reason, begins, ends } of waits) {
    it(`G3: ${reason}: a told host's stop is parked and decided again when the cause ends`, () => {
      const driver = planned(told);
      driver.happens(begins);
      expect(driver.stops().decision).toMatchObject({ answer: 'wait', reason });
      expect(driver.session.parked).toMatchObject({ cause: reason });
      driver.now += 10_000;
      expect(injectionOf(driver.happens(ends))?.text).toContain('write the parser');
      expect(driver.session.counters.total).toBe(1);
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
      expect(driver.session).toMatchObject({ parked: null, timer: null, settled: null });
      expect(driver.session.counters.total).toBe(0);
      expect(driver.happens(ends).commands).toEqual([]);
      expect(driver.stops().decision?.answer).toBe('continue');
    });
  }

  it('G3: one cause that ends does not end the others', () => {
    const driver = planned(told);
    driver.happens({ type: 'permission-asked', requestId: 'r1' });
    driver.happens({ type: 'permission-asked', requestId: 'r1' });
    driver.happens({ type: 'permission-asked', requestId: 'r2' });
    driver.stops();
    driver.now += 10_000;
    const first = driver.happens({ type: 'permission-answered', requestId: 'r1', granted: true });
    expect(first.decision?.reason).toBe('permission-pending');
    const second = driver.happens({ type: 'permission-answered', requestId: 'r2', granted: true });
    expect(second.decision?.answer).toBe('continue');
  });

  it('G3: requests that nobody answers do not grow the session for ever', () => {
    const driver = planned();
    for (let index = 0; index < 300; index++) {
      driver.happens({ type: 'permission-asked', requestId: `r${index}` });
      driver.happens({ type: 'question-asked', requestId: `r${index}` });
      driver.happens({ type: 'background-started', job: { ...server, id: `job-${index}` } });
    }
    expect(driver.session.waits.permissions).toHaveLength(200);
    expect(driver.session.waits.questions).toHaveLength(200);
    expect(driver.session.jobs).toHaveLength(200);
    driver.stops({ background: Array.from({ length: 300 }, (_, index) => ({ ...server, id: `${index}` })) });
    expect(driver.session.jobs).toHaveLength(200);
  });
});

describe('a rejection', () => {
  const rejections: readonly Happening[] = [
    { type: 'permission-answered', requestId: 'r1', granted: false },
    { type: 'question-answered', requestId: 'r1', rejected: true },
  ];
  for (const rejection of rejections) {
    it(`G4: ${rejection.type}: it pauses until the human speaks`, () => {
      const driver = planned(told);
      driver.happens({ type: 'permission-asked', requestId: 'r1' });
      driver.happens({ type: 'question-asked', requestId: 'r1' });
      driver.happens({
        type: 'permission-answered',
        requestId: 'r1',
        granted: rejection.type !== 'permission-answered',
      });
      driver.happens({
        type: 'question-answered',
        requestId: 'r1',
        rejected: rejection.type === 'question-answered',
      });
      const { epoch } = driver.session;
      expect(driver.stops().decision).toMatchObject({ reason: 'paused-by-human', outcome: 'paused' });
      expect(driver.session.epoch).toBe(epoch);
      driver.says('then do it another way');
      expect(driver.session.pause).toBeNull();
    });
  }

  it('V5: it raises the epoch and leaves no timer of the old one behind', () => {
    const driver = planned(told);
    driver.stopsFully();
    driver.happens({ type: 'injection-failed', epoch: driver.session.epoch, error: 'no answer' });
    expect(driver.session.timer?.purpose).toBe('resend');
    const { epoch } = driver.session;
    driver.happens({ type: 'permission-answered', requestId: 'r1', granted: false });
    expect(driver.session).toMatchObject({ epoch: epoch + 1, timer: null });
  });

  it("C3: it does not replace the human's own pause", () => {
    const driver = planned();
    driver.happens({ type: 'human-paused', reason: 'lunch' });
    driver.happens({ type: 'permission-answered', requestId: 'r1', granted: false });
    expect(driver.session.pause).toMatchObject({ by: 'human', reason: 'lunch' });
  });
});

describe('compaction', () => {
  it('P23: the plan is given again afterwards, once', () => {
    const driver = planned();
    driver.happens({ type: 'compaction-started' });
    driver.happens({ type: 'compaction-ended', shrunk: true });
    const first = driver.stops();
    expect(first.decision?.textKind).toBe('after-compaction');
    expect(textOf(first)).toContain('Open: “write the parser”, “write the tests”.');
    expect(driver.stops().decision?.textKind).toBe('standard');
  });
});

describe('background work', () => {
  it('P18: a shell job is named in one continuation while there is other work, then waited for', () => {
    const driver = planned();
    driver.happens({ type: 'background-started', job: server });
    const named = driver.stops();
    expect(named.decision?.textKind).toBe('background-job');
    expect(textOf(named)).toContain('“npm run dev”');
    expect(driver.stops().decision).toMatchObject({ answer: 'wait', reason: 'background' });
    driver.happens({ type: 'background-started', job: { ...server, id: 'job-3', description: 'npm test' } });
    const second = driver.stops();
    expect(textOf(second)).toContain('“npm test”');
    expect(textOf(second)).not.toContain('npm run dev');
  });

  it('P18: it is not waited for for ever, and a new job is waited for from its own start', () => {
    const driver = planned();
    driver.stops({ background: [explorer] });
    driver.now += 30 * 60_000;
    expect(driver.stops().decision?.answer).toBe('continue');
    driver.happens({ type: 'background-started', job: { ...explorer, id: 'job-9' } });
    expect(driver.stops().decision?.reason).toBe('background');
    driver.now += 29 * 60_000;
    expect(driver.stops().decision?.reason).toBe('background');
    driver.now += 60_000;
    expect(driver.stops().decision?.answer).toBe('continue');
  });

  it('P18: the same job announced again does not start the wait anew', () => {
    const driver = planned();
    driver.stops({ background: [explorer] });
    driver.now += 20 * 60_000;
    driver.happens({ type: 'background-started', job: explorer });
    expect(driver.stops().decision?.dueAt).toBe(driver.now + 10 * 60_000);
  });

  it('P18: the list that comes with a stop replaces our own count, no list leaves it', () => {
    const driver = planned();
    driver.happens({ type: 'background-started', job: explorer });
    expect(driver.stops({ background: null }).decision?.reason).toBe('background');
    expect(driver.stops({ background: [] }).decision?.answer).toBe('continue');
    expect(driver.session).toMatchObject({ jobs: [], backgroundSince: null });
  });

  it('P18: a job that ended and comes back is named again', () => {
    const driver = planned();
    driver.happens({ type: 'background-started', job: server });
    driver.stops();
    driver.happens({ type: 'background-ended', jobId: server.id });
    expect(driver.session.namedJobs).toEqual([]);
    driver.happens({ type: 'background-started', job: server });
    expect(driver.stops().decision?.textKind).toBe('background-job');
  });
});
