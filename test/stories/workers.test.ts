// Delegation through the real loop and the wire: todos go to workers, one after the
// other, and come back (S4, S6).
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  always,
  callTool,
  complete,
  empty,
  fail,
  firstOf,
  type LoggedRequest,
  listTodos,
  parallel,
  plan,
  refuse,
  runCommand,
  say,
  stall,
  when,
  whenContinued,
  whenToolFailed,
  withUsage,
  writeFile,
} from '../../src/scripted-model/index.ts';
import {
  delegate,
  delegateAll,
  ifSentFor,
  report,
  workerSessions,
} from './delegating.ts';
import { type Played, play } from './play.ts';
import { protocols } from './protocols.ts';
import {
  continuations,
  continuationText,
  ending,
  eventsOf,
  lastResults,
  shownText,
  statuses,
  userTexts,
} from './seen.ts';

/** The one that marks failed calls, so that the scripted model can see them. */
const protocol = protocols[2]!;

const alpha = {
  title: 'Write alpha',
  agentType: 'coder',
  completionCriteria: 'alpha.txt exists',
};

/** Requests of the run's own agent; those of workers come with their own model. */
function supervised({ requests }: Played): readonly LoggedRequest[] {
  return requests.filter(({ script }) => script === 'story');
}

function asked({ requests }: Played, worker: string): readonly LoggedRequest[] {
  return requests.filter(({ script }) => script === worker);
}

function lastAnswer(played: Played): string {
  return lastResults(supervised(played).at(-1)!)[0]?.text ?? '';
}

describe.each(protocols)('S4: $name', (wire) => {
  it('a todo with an agentType goes to that worker, whose report comes back, and the agent marks it', async () => {
    const played = await play({
      protocol: wire,
      steps: [
        plan(alpha),
        delegate('Write alpha', 'An "a" is enough.'),
        complete('Write alpha', 'it is there'),
        say('Done.'),
      ],
      workers: { coder: [writeFile('alpha.txt', 'a'), report('alpha.txt is written.')] },
    });
    expect(readFileSync(join(played.root, 'alpha.txt'), 'utf8')).toBe('a');
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    const brief = userTexts(asked(played, 'coder')[0]!).join('\n');
    expect(brief).toContain('The work: “Write alpha”');
    expect(brief).toContain('It is done when: “alpha.txt exists”');
    expect(brief).toContain('An "a" is enough.');
    const answer = lastResults(supervised(played)[2]!)[0]?.text;
    expect(answer).toContain('alpha.txt is written.');
    expect(answer).toContain('not proof');
  });
});

describe('a worker', () => {
  it('M7: has neither todo tools nor delegate, only its part of the run’s tools', async () => {
    const played = await play({
      protocol,
      steps: [
        plan(
          { title: 'Look', agentType: 'explorer' },
          { title: 'Try', agentType: 'tester' },
          alpha,
        ),
        delegateAll(),
        say('Done.'),
      ],
      workers: { explorer: [report()], tester: [report()], coder: [report()] },
    });
    const tools = (worker: string) =>
      asked(played, worker)[0]!.tools.map(({ name }) => name);
    const reading = ['read_file', 'list_directory', 'glob', 'grep'];
    expect(tools('explorer')).toEqual(reading);
    expect(tools('tester')).toEqual([
      ...reading,
      'shell',
      'start_job',
      'read_job',
      'stop_job',
      'list_jobs',
    ]);
    expect(tools('coder')).not.toContain('create_todo');
    expect(tools('coder')).not.toContain('delegate');
    expect(tools('coder')).toContain('write_file');
    expect(supervised(played)[0]!.tools.map(({ name }) => name)).toContain('delegate');
    for (const worker of ['explorer', 'tester', 'coder'])
      expect(JSON.stringify(asked(played, worker)[0]!.body)).not.toMatch(
        /CURRENT PLAN|Work by a plan/,
      );
  });

  it('S4: works in a session of its own, which the engine lets go and never continues', async () => {
    const played = await play({
      protocol,
      steps: [
        plan(alpha),
        delegate('Write alpha'),
        complete('Write alpha'),
        say('Done.'),
      ],
      workers: { coder: [writeFile('alpha.txt', 'a'), report('All done!')] },
    });
    const [worker] = await workerSessions(played.stage);
    expect(worker).toMatchObject({
      descriptor: { kind: 'subagent' },
      agent: { name: 'coder' },
    });
    const { store } = played.stage;
    const record = {
      decisions: await store.decisions(worker!.id, 10),
      messages: (await store.transcript(worker!.id, 0)).messages,
    };
    expect(record.decisions.map(({ decision }) => decision.reason)).toEqual(['subagent']);
    expect(record.messages.map(({ kind }) => kind)).toEqual([
      'human',
      'agent',
      'tools',
      'agent',
    ]);
    const inside = played.events
      .filter(({ sessionId }) => sessionId === worker!.id)
      .map(({ type }) => type);
    expect(inside).toEqual(
      expect.arrayContaining([
        'step-started',
        'tool-started',
        'tool-ended',
        'text',
        'usage',
      ]),
    );
    expect(eventsOf(played, 'worker-started')).toMatchObject([
      {
        workerId: worker!.id,
        agentType: 'coder',
        title: 'Write alpha',
        sessionId: played.stage.sessionId,
      },
    ]);
    expect(eventsOf(played, 'worker-ended')).toMatchObject([
      { result: 'done', workerId: worker!.id },
    ]);
  });

  it('S4: several delegations in one answer are worked off one after the other', async () => {
    const titles = ['One', 'Two', 'Three'];
    const played = await play({
      protocol,
      steps: [
        plan(...titles.map((title) => ({ title, agentType: 'coder' }))),
        parallel(...titles.map((title) => delegate(title))),
        say('Hm.'),
      ],
      workers: { coder: [runCommand('sleep 0.05'), report()] },
      settings: { maxStagnant: 1 },
    });
    const order = played.events.flatMap((event) =>
      event.type === 'worker-started' || event.type === 'worker-ended'
        ? [event.type]
        : [],
    );
    expect(order).toEqual(titles.flatMap(() => ['worker-started', 'worker-ended']));
    expect(lastResults(supervised(played)[2]!)).toHaveLength(3);
  });

  it('G8: what it spends counts into the run’s budgets and summary', async () => {
    const usage = {
      inputTokens: 5000,
      cachedTokens: 0,
      outputTokens: 1000,
      thinkingTokens: 0,
    };
    const small = {
      inputTokens: 10,
      cachedTokens: 0,
      outputTokens: 10,
      thinkingTokens: 0,
    };
    const played = await play({
      protocol,
      steps: [
        withUsage(small, plan(alpha)),
        withUsage(small, delegate('Write alpha')),
        always(withUsage(small, say('Hm.'))),
      ],
      workers: { coder: [always(withUsage(usage, runCommand('date +%N')))] },
      settings: { maxTokens: 15_000 },
    });
    expect(ending(played)).toMatchObject({
      outcome: 'exhausted',
      reason: 'token-budget',
    });
    expect(played.ended.usage.inputTokens).toBeGreaterThanOrEqual(15_000);
    expect(asked(played, 'coder')).toHaveLength(3);
    // It is not the worker's fault that the run may spend no more.
    expect(eventsOf(played, 'worker-ended')).toMatchObject([{ result: 'interrupted' }]);
    expect(played.todos[0]).toMatchObject({ status: 'in_progress', attempts: 0 });
  });
});

describe('a worker that does not finish', () => {
  const cases = [
    ['refuses', [always(refuse('I will not.'))], {}, 'refused', 'It refused'],
    ['answers empty twice', [always(empty())], {}, 'failed', 'empty answer twice'],
    ['meets an error that stays', [always(fail(400))], {}, 'failed', 'story'],
    [
      'never reports',
      [always(runCommand('date +%N'))],
      { maxSteps: 3 },
      'failed',
      'within its 3 steps',
    ],
    [
      'spends its tokens',
      [always(runCommand('date +%N'))],
      { maxTokens: 1000 },
      'failed',
      '1000 tokens',
    ],
    [
      'goes round in circles',
      [always(runCommand('echo same'))],
      {},
      'failed',
      'round in circles',
    ],
    [
      'takes too long',
      [stall()],
      { timeoutSeconds: 8 },
      'timed-out',
      'within its 8 seconds',
    ],
    [
      'hangs in a command',
      [runCommand('sleep 60')],
      { timeoutSeconds: 8 },
      'timed-out',
      '8 seconds',
    ],
  ] as const;

  it.each(cases)(
    'S6: %s: comes back as a result, and the second time the todo is blocked',
    async (...given) => {
      const [, steps, limits, result, sentence] = given;
      const played = await play({
        protocol,
        steps: [plan(alpha, 'Write beta'), delegate('Write alpha'), ...blockedThenBeta()],
        workers: { coder: steps },
        settings: { workers: { coder: limits }, circuitAfter: 2 },
      });
      const ends = eventsOf(played, 'worker-ended');
      expect(ends.map((event) => event.result)).toEqual([result, result]);
      expect(ends[0]?.sentence).toContain(sentence === 'story' ? '' : sentence);
      expect(statuses(played)).toEqual({
        'Write alpha': 'blocked',
        'Write beta': 'completed',
      });
      expect(played.todos[0]?.attempts).toBe(2);
      expect(ending(played)).toMatchObject({ outcome: 'blocked', reason: 'all-blocked' });
    },
  );

  it('S6: is told the first time that it may be tried once more, the second time that it is set aside', async () => {
    const played = await play({
      protocol,
      steps: [plan(alpha, 'Write beta'), delegate('Write alpha'), ...blockedThenBeta()],
      workers: { coder: [always(empty())] },
    });
    const answers = supervised(played).flatMap((request) =>
      lastResults(request).map(({ text }) => text),
    );
    expect(answers.find((text) => text.includes('once more'))).toContain(
      'empty answer twice',
    );
    expect(answers.find((text) => text.includes('set aside as blocked.'))).toBeDefined();
  });

  it('P12: its failure is no tool error of the run: the next todo is not blamed for it', async () => {
    const played = await play({
      protocol,
      steps: [
        plan({ ...alpha, priority: 'low' }, { title: 'Write beta', priority: 'high' }),
        delegate('Write alpha'),
        say('It failed.'),
        say('It failed, as I said.'),
      ],
      workers: { coder: [always(empty())] },
      settings: { maxStagnant: 2 },
    });
    expect(continuations(played)).toEqual(['standard', 'standard']);
    expect(statuses(played)).toEqual({
      'Write alpha': 'in_progress',
      'Write beta': 'pending',
    });
  });

  it('P14: an empty answer is asked for once more, and a report after that is one', async () => {
    const played = await play({
      protocol,
      steps: [
        plan(alpha),
        delegate('Write alpha'),
        complete('Write alpha'),
        say('Done.'),
      ],
      workers: { coder: [empty(), report('Here it is.')] },
    });
    expect(eventsOf(played, 'worker-ended')).toMatchObject([{ result: 'done' }]);
    expect(shownText(played)).toContain('Here it is.');
  });

  it('at its last step it is asked to report, and what it reports then counts', async () => {
    const played = await play({
      protocol,
      steps: [
        plan(alpha),
        delegate('Write alpha'),
        complete('Write alpha'),
        say('Done.'),
      ],
      workers: {
        coder: [
          runCommand('echo 1'),
          runCommand('echo 2'),
          firstOf(
            when(({ heard }) => heard.includes('[last step]'), report('Half of it.')),
            runCommand('echo 3'),
          ),
        ],
      },
      settings: { workers: { coder: { maxSteps: 3 } } },
    });
    expect(eventsOf(played, 'worker-ended')).toMatchObject([{ result: 'done' }]);
    expect(lastResults(supervised(played)[2]!)[0]?.text).toContain('Half of it.');
  });
});

describe('what cannot be delegated', () => {
  it.each([
    [
      'a todo without an agentType',
      plan('Plain'),
      'has no agentType: set one with update_todo (coder)',
    ],
    ['a todo that is not there', plan(alpha), 'There is no todo with this id'],
  ])('S4: %s is refused with a sentence', async (_name, planned, sentence) => {
    const played = await play({
      protocol,
      steps: [planned, delegate('Plain'), say('Hm.')],
      workers: { coder: [report()] },
      settings: { maxStagnant: 1 },
    });
    expect(lastAnswer(played)).toContain(sentence);
    expect(eventsOf(played, 'worker-started')).toEqual([]);
  });

  it('M1: an unknown agentType is refused with the workers that there are', async () => {
    const played = await play({
      protocol,
      steps: [plan({ title: 'Fly', agentType: 'astronaut' }), say('Hm.')],
      workers: { coder: [report()], tester: [report()] },
    });
    expect(lastAnswer(played)).toContain('known are coder, tester');
  });
});

describe('the agent that delegates', () => {
  it('S1: reads of workers in its prompt, and a run without workers does not', async () => {
    const steps = [plan({ title: 'Write alpha' }), complete('Write alpha'), say('Done.')];
    const withWorkers = await play({ protocol, steps, workers: { coder: [report()] } });
    const system = (played: Played) => supervised(played)[0]!.system;
    expect(system(withWorkers)).toContain('coder: “reads, writes and edits files');
    expect(system(withWorkers)).not.toContain('explorer');
    const alone = await play({ protocol, steps });
    expect(system(alone)).not.toMatch(/delegate|worker/);
  });

  it('S4: is told by plan and continuation that the next todo goes to its worker', async () => {
    const played = await play({
      protocol,
      steps: [
        plan(alpha),
        say('All done!'),
        whenContinued(delegate('Write alpha')),
        complete('Write alpha'),
        say('Done.'),
      ],
      workers: { coder: [writeFile('alpha.txt', 'a'), report()] },
    });
    expect(continuationText(played, 0)).toContain(
      'It goes to the worker “coder”: call delegate.',
    );
    const plans = supervised(played)
      .flatMap(userTexts)
      .filter((text) => text.includes('[CURRENT PLAN]'));
    expect(plans[0]).toContain('Hand it to its worker with delegate.');
    expect(existsSync(join(played.root, 'alpha.txt'))).toBe(true);
    // I7: nothing that the system said to either of them is shown as an answer.
    expect(shownText(played)).not.toMatch(/CONTINUATION|Go on with/);
  });

  it('G7: work that a worker did is progress of the run', async () => {
    const played = await play({
      protocol,
      steps: [
        plan(...[1, 2, 3, 4, 5].map((n) => ({ title: `Part ${n}`, agentType: 'coder' }))),
        ...[1, 2, 3, 4, 5].flatMap((n) => [
          delegate(`Part ${n}`),
          say(`Part ${n} is with the worker.`),
        ]),
      ],
      workers: { coder: [writeOne(), report()] },
      settings: { maxStagnant: 2 },
    });
    expect(eventsOf(played, 'worker-ended')).toHaveLength(5);
    expect(eventsOf(played, 'continuation').length).toBeGreaterThan(4);
  });
});

describe('S7: a worker’s calls', () => {
  it('need the same permission as the run’s own', async () => {
    const played = await play({
      protocol,
      steps: [
        plan(alpha),
        delegate('Write alpha'),
        complete('Write alpha'),
        say('Done.'),
      ],
      workers: { coder: [runCommand('echo no > no.txt'), report('I could not.')] },
      permissions: { mode: 'allow-list', shellAllow: ['npm test'] },
    });
    expect(existsSync(join(played.root, 'no.txt'))).toBe(false);
    expect(lastResults(asked(played, 'coder')[1]!)[0]?.text).toContain('allow');
  });

  it('cannot write in a read-only run', async () => {
    const played = await play({
      protocol,
      steps: [plan(alpha), delegate('Write alpha'), say('Done.')],
      workers: { coder: [writeFile('alpha.txt', 'a'), report('I could not.')] },
      permissions: { mode: 'read-only', shellAllow: [] },
    });
    expect(existsSync(join(played.root, 'alpha.txt'))).toBe(false);
    expect(lastResults(asked(played, 'coder')[1]!)[0]?.text).toContain('read-only');
  });
});

/** Tries alpha again if its worker failed, then does beta itself. */
function blockedThenBeta() {
  return [
    whenToolFailed(delegate('Write alpha')),
    whenToolFailed(listTodos()),
    writeFile('beta.txt', 'b'),
    complete('Write beta'),
    say('Alpha could not be done.'),
  ];
}

function writeOne() {
  return ifSentFor(
    'Part',
    callTool('shell', { command: 'date +%s%N > part-$RANDOM-$$.txt' }),
  );
}
