import { describe, expect, it } from 'vitest';
import {
  type CoreDriver,
  createCoreDriver,
  textOf,
} from '../../test/properties/core-driver.ts';
import type { WorkerResult } from './events.ts';
import { countPlan } from './state.ts';

const settings = { agentTypes: ['coder', 'tester'] };

function planned(mode: 'enforce' | 'observe' = 'enforce') {
  const descriptor = {
    tools: { pause: 'todo_pause', verify: 'todo_verify', delegate: 'delegate' },
  };
  const driver = createCoreDriver({ settings: { ...settings, mode }, descriptor });
  driver.says();
  const [parser = '', docs = ''] = driver.plans(
    { title: 'write the parser', agentType: 'coder' },
    { title: 'write the docs' },
  );
  return { driver, parser, docs };
}

let workers = 0;

function delegates(driver: CoreDriver, todoId: string) {
  workers += 1;
  const workerId = `worker-${workers}`;
  const step = driver.happens({
    type: 'delegation-started',
    todoId,
    workerId,
    agentType: 'coder',
    callId: `call-${workers}`,
  });
  const reply = step.commands.find((command) => command.type === 'reply')?.reply;
  return { workerId, reply };
}

function ends(
  driver: CoreDriver,
  workerId: string,
  result: WorkerResult,
  sentence = 'It gave up.',
) {
  return driver.happens({ type: 'delegation-ended', workerId, result, sentence });
}

function fails(driver: CoreDriver, todoId: string, result: WorkerResult = 'failed') {
  return ends(driver, delegates(driver, todoId).workerId, result);
}

describe('a todo that goes to a worker', () => {
  it('S4: is in progress and on the record, and what came of it is for the agent to mark', () => {
    const { driver, parser } = planned();
    const { workerId, reply } = delegates(driver, parser);
    expect(reply).toMatchObject({ applied: true, refused: [] });
    expect(driver.todo(parser).status).toBe('in_progress');
    expect(driver.state.delegation).toMatchObject({
      workerId,
      todoId: parser,
      ended: null,
    });
    ends(driver, workerId, 'done', 'The parser is there.');
    expect(driver.state.delegation?.ended).toMatchObject({ result: 'done' });
    expect(driver.todo(parser)).toMatchObject({ status: 'in_progress', attempts: 0 });
    expect(driver.ledger.slice(-2)).toEqual(['delegated', 'worker-ended']);
  });

  it('S4: only one worker is at work at a time', () => {
    const { driver, parser, docs } = planned();
    delegates(driver, parser);
    expect(delegates(driver, docs).reply?.refused[0]?.code).toBe('worker-busy');
    expect(driver.todo(docs).status).toBe('pending');
  });

  it.each([
    ['an unknown id', 'unknown-id', () => 'nobody'],
    [
      'a finished todo',
      'not-open',
      (driver: CoreDriver, id: string) => {
        driver.works();
        driver.completes(id);
        return id;
      },
    ],
    [
      'a blocked todo',
      'not-open',
      (driver: CoreDriver, id: string) => {
        driver.updates(id, { status: 'blocked', reason: 'no key' });
        return id;
      },
    ],
  ])('S4: %s is refused and nothing changes', (_name, code, choose) => {
    const { driver, parser } = planned();
    const id = choose(driver, parser);
    const before = driver.todos();
    expect(delegates(driver, id).reply).toMatchObject({
      applied: false,
      refused: [{ code }],
    });
    expect(driver.todos()).toEqual(before);
    expect(driver.state.delegation).toBeNull();
  });

  it('S4: the continuation says that the next todo goes to its worker', () => {
    const { driver } = planned();
    expect(textOf(driver.stops())).toContain(
      'It goes to the worker “coder”: call delegate.',
    );
  });
});

describe('a worker that does not finish', () => {
  it.each(['failed', 'timed-out', 'refused'] as const)(
    'S6: after “%s” the todo is tried once more, then it is blocked and the others go on',
    (result) => {
      const { driver, parser } = planned();
      fails(driver, parser, result);
      expect(driver.todo(parser)).toMatchObject({
        status: 'in_progress',
        attempts: 1,
        workerFailures: 1,
      });
      fails(driver, parser, result);
      expect(driver.todo(parser)).toMatchObject({
        status: 'blocked',
        attempts: 2,
        reason: 'its worker failed 2 times, most recently: It gave up.',
      });
      expect(countPlan(driver.state.plan)).toMatchObject({
        blocked: 1,
        pending: 1,
        inProgress: 0,
      });
      expect(textOf(driver.stops())).toContain('“write the docs”');
    },
  );

  it('S6: failures of one todo are not those of another, whatever lies between them', () => {
    const { driver, parser, docs } = planned();
    for (const id of [parser, docs]) fails(driver, id);
    expect([driver.todo(parser).status, driver.todo(docs).status]).toEqual([
      'in_progress',
      'in_progress',
    ]);
    fails(driver, parser);
    expect([driver.todo(parser).status, driver.todo(docs).status]).toEqual([
      'blocked',
      'in_progress',
    ]);
  });

  it('P12: a check that failed before is not the worker’s failure', () => {
    const { driver, parser } = planned();
    const plan = driver
      .todos()
      .map((todo) => (todo.id === parser ? { ...todo, attempts: 1 } : todo));
    driver.state = { ...driver.state, plan };
    fails(driver, parser);
    expect(driver.todo(parser)).toMatchObject({ status: 'in_progress', attempts: 2 });
  });

  it('V5: an interruption is nobody’s failure, and the todo can be delegated again', () => {
    const { driver, parser } = planned();
    for (let times = 0; times < 3; times += 1) fails(driver, parser, 'interrupted');
    expect(driver.todo(parser)).toMatchObject({ status: 'in_progress', attempts: 0 });
    expect(delegates(driver, parser).reply?.applied).toBe(true);
  });

  it('V5: a second word about the same worker, or one about another, changes nothing', () => {
    const { driver, parser } = planned();
    const { workerId } = delegates(driver, parser);
    ends(driver, 'somebody', 'failed');
    expect(driver.state.delegation?.ended).toBeNull();
    ends(driver, workerId, 'failed');
    const before = { todo: driver.todo(parser), delegation: driver.state.delegation };
    ends(driver, workerId, 'failed');
    expect({ todo: driver.todo(parser), delegation: driver.state.delegation }).toEqual(
      before,
    );
  });

  it('S6: a todo that was settled while the worker was at it stays as it was settled', () => {
    const { driver, parser } = planned();
    const { workerId } = delegates(driver, parser);
    driver.works();
    driver.completes(parser);
    ends(driver, workerId, 'failed');
    expect(driver.todo(parser)).toMatchObject({ status: 'completed', attempts: 0 });
  });

  it('C2: in observe mode it is recorded and not set aside', () => {
    const { driver, parser } = planned('observe');
    fails(driver, parser);
    fails(driver, parser);
    expect(driver.todo(parser)).toMatchObject({
      status: 'in_progress',
      workerFailures: 2,
    });
  });
});
