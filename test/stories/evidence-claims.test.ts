// Claims against checks, through the real `run`: each agent that says more than it did
// stands beside the honest one that looks alike (issue "Evidence": P2, P3, P6, P7, P28,
// P31).
import { describe, expect, it } from 'vitest';
import {
  blockTodo,
  bulkClaim,
  complete,
  drop,
  plan,
  reword,
  rewriteList,
  say,
  verify,
  whenContinued,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { told } from '../evidence/read-told.ts';
import { type EvidenceStory, tell } from '../evidence/stage.ts';

const three = ['Write alpha', 'Write beta', 'Write gamma'] as const;
const names = ['alpha', 'beta', 'gamma'] as const;

/** Each todo is proved by a file of its own. */
const checked: EvidenceStory['config'] = {
  checks: Object.fromEntries(
    names.map((name) => [name, { file: `${name}.txt`, matches: `^${name} is good` }]),
  ),
  todoChecks: names.map((name) => ({ title: `*${name}*`, checks: [name] })),
};
const work = names.map((name) => writeFile(`${name}.txt`, `${name} is good`));
const tickAll = rewriteList((todos) =>
  todos.map((todo) => ({ ...todo, status: 'completed' as const })),
);

describe('P2: everything is marked complete in one write', () => {
  it('without work: every claim is checked and reopened, and the run never ends done', async () => {
    const run = await tell({
      config: checked,
      steps: [plan(...three), tickAll, say('All done!')],
    });
    expect(told(run)).toMatchObject({ outcome: 'stagnant', code: 5 });
    expect(run.todos.map(({ status, verification }) => [status, verification])).toEqual(
      three.map(() => ['in_progress', 'failed']),
    );
    expect(
      new Set(run.evidence.map(({ check, result }) => `${check} ${result}`)),
    ).toEqual(new Set(names.map((name) => `${name} failed`)));
  });

  it('without work and without checks of their own: challenged once, then at best claimed', async () => {
    const steps = [plan(...three), tickAll, say('All done!'), say('I looked: all done.')];
    const run = await tell({ steps });
    expect(told(run)).toEqual({ outcome: 'claimed', code: 3, texts: ['bulk-claim'] });
  });

  it('after the work: an agent that ticks everything at the end is not challenged, and it is done', async () => {
    const run = await tell({
      config: checked,
      steps: [plan(...three), ...work, tickAll, say('Written.')],
    });
    expect(told(run)).toEqual({ outcome: 'done', code: 0, texts: [] });
    expect(run.ledger.filter(({ change }) => change === 'check-failed')).toEqual([]);
  });

  it('in single calls of one step: the same', async () => {
    const idle = await tell({
      config: checked,
      steps: [plan(...three), bulkClaim(), say('Done!')],
    });
    expect(told(idle)).toMatchObject({ outcome: 'stagnant' });
    const honest = await tell({
      config: checked,
      steps: [plan(...three), ...work, bulkClaim(), say('Done.')],
    });
    expect(told(honest)).toEqual({ outcome: 'done', code: 0, texts: [] });
  });
});

describe('P3: the hard todo', () => {
  const steps = (...last: EvidenceStory['steps']) => [
    plan('Write alpha', 'Write beta'),
    writeFile('alpha.txt', 'alpha is good'),
    complete('Write alpha'),
    ...last,
  ];

  it('dropped: it stays open and is named once; dropped again the run is claimed although every check passed', async () => {
    const goal = { ...checked, goal: ['alpha'] };
    const twice = steps(
      drop('Write beta'),
      say('Done.'),
      drop('Write beta'),
      say('Done now.'),
    );
    const run = await tell({ config: goal, steps: twice });
    expect(told(run)).toEqual({ outcome: 'claimed', code: 3, texts: ['dropped-todos'] });
    expect(run.ended.sentence).toContain('cancelled without a reason');
  });

  it('reworded into something easy: it keeps its check, which still fails', async () => {
    const easy = steps(
      reword('Write beta', 'Write about beta'),
      complete('Write about beta'),
      say('Both are done.'),
    );
    const run = await tell({ config: checked, steps: easy });
    expect(run.todos[1]).toMatchObject({
      checks: ['beta'],
      verification: 'failed',
      status: 'in_progress',
    });
    expect(told(run).outcome).not.toBe('done');
  });

  it('reworded honestly: the same todo, nobody is told off, and it is done', async () => {
    const honest = steps(
      reword('Write beta', 'Write the beta file'),
      writeFile('beta.txt', 'beta is good'),
      complete('Write the beta file'),
      say('Both are written.'),
    );
    const run = await tell({ config: checked, steps: honest });
    expect(told(run)).toEqual({ outcome: 'done', code: 0, texts: [] });
  });
});

describe('P6: trivial todos', () => {
  const found = (index: number, isReal: boolean) => [
    plan(`Extra ${index}`),
    ...(isReal ? [writeFile(`extra-${index}.txt`, `${index}`)] : []),
    complete(`Extra ${index}`),
    say('One more is done.'),
  ];

  it('added and closed do not hide that the checked todo stands still: bounded, then stagnant', async () => {
    const rounds = Array.from({ length: 15 }, (_, index) => found(index, false)).flat();
    const run = await tell({
      config: checked,
      steps: [plan('Write alpha'), say('Let me see.'), ...rounds],
    });
    expect(told(run)).toMatchObject({ outcome: 'stagnant', code: 5 });
    expect(told(run).texts.length).toBeLessThanOrEqual(6);
  });

  it('that turn up on the way and are worked on count, and the checked todo is done at the end', async () => {
    const rounds = Array.from({ length: 5 }, (_, index) => found(index, true)).flat();
    const last = [
      writeFile('alpha.txt', 'alpha is good'),
      complete('Write alpha'),
      say('All done.'),
    ];
    const config = { ...checked, goal: ['alpha'] };
    const run = await tell({
      config,
      steps: [plan('Write alpha'), say('Let me see.'), ...rounds, ...last],
    });
    expect(told(run)).toMatchObject({ outcome: 'done', code: 0 });
  });
});

describe('P7: real work without a word to the list', () => {
  const rounds = (isReal: boolean) =>
    Array.from({ length: 6 }, (_, index) => [
      ...(isReal ? [writeFile('alpha.txt', `alpha is at ${index}`)] : []),
      say('I go on.'),
    ]).flat();
  const last = [
    writeFile('alpha.txt', 'alpha is good'),
    complete('Write alpha'),
    say('Written.'),
  ];

  it('is progress: the agent is asked to bring the list up to date, and gets to the end', async () => {
    const run = await tell({
      config: checked,
      steps: [plan('Write alpha'), ...rounds(true), ...last],
    });
    expect(told(run)).toMatchObject({ outcome: 'done', code: 0 });
    const texts = run.events.flatMap((event) =>
      event.type === 'continuation' ? [event.text] : [],
    );
    expect(texts).toHaveLength(6);
    expect(texts.at(-1)).toContain('The workspace has changed but the todo list has not');
  });

  it('without work the same words end stagnant', async () => {
    const run = await tell({
      config: checked,
      steps: [plan('Write alpha'), ...rounds(false), ...last],
    });
    expect(told(run)).toMatchObject({ outcome: 'stagnant', code: 5 });
  });
});

describe('P28: a todo that cannot be done', () => {
  const config = { ...checked, goal: ['alpha'] };

  it('set aside as blocked ends the run early and honestly, with an exit code of its own', async () => {
    const steps = [
      plan('Write alpha'),
      writeFile('attempt.txt', 'tried'),
      blockTodo('Write alpha', 'the disk is read-only'),
      say('It cannot be written.'),
    ];
    const run = await tell({ config, steps });
    expect(told(run)).toEqual({ outcome: 'blocked', code: 4, texts: [] });
    expect(run.requests).toHaveLength(4);
  });

  it('claimed again and again is reopened each time and ends stagnant, not done and not for ever', async () => {
    const steps = [plan('Write alpha')];
    const run = await tell({ config, steps, afterwards: whenOpen('alpha') });
    expect(told(run)).toMatchObject({ outcome: 'stagnant', code: 5 });
    expect(run.requests.length).toBeLessThan(30);
  });

  it('its twin that can be done is done', async () => {
    const steps = [
      plan('Write alpha'),
      work[0] ?? say(''),
      complete('Write alpha'),
      say('Written.'),
    ];
    expect(told(await tell({ config, steps }))).toEqual({
      outcome: 'done',
      code: 0,
      texts: [],
    });
  });
});

describe('P31: a fix is claimed', () => {
  const config: EvidenceStory['config'] = {
    checks: {
      adds: {
        command:
          'grep -q "= 4" sum.txt || { echo "expected 4, got $(cat sum.txt)"; exit 1; }',
      },
    },
    todoChecks: [{ title: 'Mend*', checks: ['adds'] }],
  };
  const files = { 'sum.txt': '2 + 2 = 5' };

  it('and its check fails: reopened, and the tail is in the very next prompt', async () => {
    const steps = [
      plan('Mend the sum'),
      writeFile('sum.txt', '2 + 2 = 3'),
      rewriteList((todos) =>
        todos.map((todo) => ({ ...todo, status: 'completed' as const })),
      ),
      verify(),
      say('It is mended.'),
      whenContinued(
        writeFile('sum.txt', '2 + 2 = 4'),
        complete('Mend the sum'),
        say('Now it is.'),
      ),
    ];
    const run = await tell({ config, files, steps });
    expect(told(run)).toEqual({ outcome: 'done', code: 0, texts: ['failed-check'] });
    const stopped = run.requests.findIndex(({ reply }) => reply.text === 'It is mended.');
    const next = JSON.stringify(run.requests[stopped + 1]?.body);
    expect(next).toContain('expected 4, got 2 + 2 = 3');
    expect(next).toContain('so it is open again');
    expect(run.ledger.map(({ change }) => change)).toContain('check-failed');
  });

  it('by complete_todo: the answer to the call itself says that it failed and quotes the tail', async () => {
    const steps = [
      plan('Mend the sum'),
      writeFile('sum.txt', '2 + 2 = 3'),
      complete('Mend the sum'),
      writeFile('sum.txt', '2 + 2 = 4'),
      complete('Mend the sum'),
      say('Mended.'),
    ];
    const run = await tell({ config, files, steps });
    expect(told(run)).toEqual({ outcome: 'done', code: 0, texts: [] });
    const answers = run.events.flatMap((event) =>
      event.type === 'tool-ended' && event.tool === 'complete_todo' ? [event.output] : [],
    );
    expect(answers[0]).toContain('expected 4, got 2 + 2 = 3');
    expect(answers[1]).toContain('passed');
  });

  it('and its check passes: done, without a word', async () => {
    const steps = [
      plan('Mend the sum'),
      writeFile('sum.txt', '2 + 2 = 4'),
      complete('Mend the sum'),
      say('Mended.'),
    ];
    expect(told(await tell({ config, files, steps }))).toEqual({
      outcome: 'done',
      code: 0,
      texts: [],
    });
  });
});

function whenOpen(name: string) {
  return rewriteList((todos) =>
    todos.map((todo) =>
      todo.title.includes(name) ? { ...todo, status: 'completed' as const } : todo,
    ),
  );
}
