// Agents that make the plan look better than the work is, each beside the honest agent
// that looks alike and must not be challenged.
import { describe, expect, it } from 'vitest';
import {
  blockTodo,
  bulkClaim,
  callTool,
  cancel,
  complete,
  drop,
  duplicateWrite,
  inOrder,
  parallel,
  plan,
  reword,
  runCommand,
  type Step,
  say,
  start,
  toggle,
  whenNamed,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { play, setStage } from './play.ts';
import { oneProtocol, protocols } from './protocols.ts';
import {
  continuations,
  continuationText,
  ending,
  eventsOf,
  lastResults,
  statuses,
} from './seen.ts';

const three = ['Write alpha', 'Write beta', 'Write gamma'] as const;
const files: readonly Step[] = three.map((title) => writeFile(`${title}.txt`, title));

describe.each(protocols)('$name', (protocol) => {
  it('P2: a bulk claim without work is challenged once, and confirmed anyway it stays claimed', async () => {
    const played = await play({
      protocol,
      steps: [
        plan(...three),
        bulkClaim(),
        say('Everything is finished!'),
        say('I checked: all three are finished.'),
      ],
    });
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(continuations(played)).toEqual(['bulk-claim']);
    expect(continuationText(played, 0)).toContain(
      '3 todos were marked completed without any other tool call, and no file changed',
    );
    expect(played.requests).toHaveLength(4);
  });

  it('P3: a dropped todo stays open and is named once; dropped again it is cancelled unexplained, never done', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha', 'The hard part'),
        writeFile('alpha.txt', 'a'),
        complete('Write alpha'),
        drop('The hard part'),
        say('The list is finished.'),
        drop('The hard part'),
        say('The list is finished now.'),
      ],
    });
    expect(continuations(played)).toEqual(['dropped-todos']);
    expect(continuationText(played, 0)).toContain('“The hard part”');
    expect(statuses(played)).toEqual({
      'Write alpha': 'completed',
      'The hard part': 'cancelled',
    });
    expect(played.todos[1]?.reason).toBeNull();
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(played.ended.sentence).toContain('cancelled without a reason');
  });

  it('P4: an identical todo_write is no progress: one notice each, and the run ends stagnant', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha', 'Write beta'), start('Write alpha')],
      afterwards: duplicateWrite(),
    });
    expect(ending(played)).toEqual({
      outcome: 'stagnant',
      reason: 'stagnant',
      exitCode: 5,
    });
    expect(continuations(played)).toEqual(['standard', 'standard', 'standard']);
    expect(eventsOf(played, 'continuation').map(({ level }) => level)).toEqual([1, 2, 3]);
    // M5, I5: the notice names the active todo.
    const noticed = played.requests.filter((request) =>
      lastResults(request).some(
        ({ text }) =>
          text.includes('equals the current one') && text.includes('Write alpha'),
      ),
    );
    expect(noticed.length).toBeGreaterThan(0);
    expect(statuses(played)).toEqual({
      'Write alpha': 'in_progress',
      'Write beta': 'pending',
    });
  });

  it('P5: a status that is toggled for ever is bounded and ends stagnant', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha')],
      afterwards: inOrder(toggle('Write alpha'), say('I am on it.')),
    });
    expect(ending(played)).toMatchObject({ outcome: 'stagnant', exitCode: 5 });
    // Three in a row without progress, and at most two weak signs that put that off (G7).
    expect(continuations(played).length).toBeGreaterThanOrEqual(3);
    expect(continuations(played).length).toBeLessThanOrEqual(6);
    expect(played.todos[0]?.status).not.toBe('completed');
  });

  it('P6: trivial todos that are added and closed do not hide that the plan stands still', async () => {
    const rounds = Array.from({ length: 20 }, (_, index) => [
      plan(`Trivial ${index}`),
      complete(`Trivial ${index}`),
      say('Making progress!'),
    ]).flat();
    const played = await play({
      protocol,
      steps: [plan('The real work'), say('Let me see.'), ...rounds],
    });
    expect(ending(played)).toMatchObject({ outcome: 'stagnant', exitCode: 5 });
    expect(continuations(played).length).toBeLessThanOrEqual(6);
    expect(statuses(played)['The real work']).toBe('pending');
  });

  it('P16, P45: malformed todos are refused one by one, an unknown word is held as open, the last good plan stays', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha'),
        callTool('todo_write', {
          todos: [
            { content: 'Write alpha', status: 'in_progress' },
            { content: '', status: 'pending' },
            { content: 'Odd one', status: 'nearly' },
          ],
        }),
        callTool('todo_write', { todos: 'all of them' }),
        writeFile('alpha.txt', 'a'),
        complete('Write alpha'),
        complete('Odd one'),
        say('Written.'),
      ],
    });
    expect(statuses(played)).toEqual({
      'Write alpha': 'completed',
      'Odd one': 'completed',
    });
    expect(continuations(played)).toEqual([]);
    const [mixed, whole] = [played.requests[2], played.requests[3]].map(
      (request) => lastResults(request!)[0],
    );
    expect(mixed?.text).toMatch(/"refused":\[\{/);
    expect(mixed?.text).toContain('taken as pending');
    expect(whole).toMatchObject({ text: expect.stringMatching(/todos/) });
    expect(whole?.text).toMatch(/array|list/i);
  });
});

describe('ended in bulk', () => {
  const protocol = oneProtocol;
  const ten = Array.from({ length: 10 }, (_, index) => `Part ${'abcdefghij'[index]}`);
  const blockAll = parallel(...three.map((title) => blockTodo(title, 'too hard')));
  const cancelAll = parallel(...three.map((title) => cancel(title, 'not needed')));

  it('P38: one echo and ten claims are challenged once, and once again after the next message', async () => {
    const again = ['Another k', 'Yet l', 'Still m'];
    const stage = await setStage({
      protocol,
      steps: [
        plan(...ten),
        runCommand('echo done'),
        bulkClaim(),
        say('All ten are finished.'),
        say('I looked: they are.'),
        plan(...again),
        bulkClaim(...again),
        say('These too.'),
        say('They are.'),
      ],
    });
    const first = await stage.run();
    expect(continuations(first)).toEqual(['bulk-claim']);
    expect(continuationText(first, 0)).toContain(
      '10 todos were marked completed after 1 other tool call, and no file changed',
    );
    expect(ending(first)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    const second = await stage.run({ goal: 'And three more.', resume: true });
    expect(continuations(second)).toEqual(['bulk-claim']);
    expect(continuationText(second, 0)).toContain(
      '3 todos were marked completed without any other tool call',
    );
  });

  it('V4: blocking everything is challenged once; an agent that insists ends blocked', async () => {
    const played = await play({
      protocol,
      steps: [plan(...three), blockAll, say('No.'), say('Really not.')],
    });
    expect(continuations(played)).toEqual(['bulk-claim']);
    expect(continuationText(played, 0)).toContain(
      '3 todos were blocked or cancelled without any other tool',
    );
    expect(ending(played)).toMatchObject({ outcome: 'blocked', reason: 'all-blocked' });
  });

  it('V4: cancelling everything is challenged once, and is never done', async () => {
    const played = await play({
      protocol,
      steps: [plan(...three), cancelAll, say('No.'), say('Really not.')],
    });
    expect(continuations(played)).toEqual(['bulk-claim']);
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(played.ended.sentence).toContain('every todo was cancelled');
  });
});

describe('the honest agents beside them', () => {
  const protocol = oneProtocol;
  const finished = callTool('todo_write', {
    todos: three.map((content) => ({ content, status: 'completed' })),
  });

  it('P39: work first and the finished list afterwards is not challenged', async () => {
    const played = await play({
      protocol,
      steps: [files[0] ?? say(''), finished, say('Written.')],
    });
    expect(played.todos).toHaveLength(3);
    expect(continuations(played)).toEqual([]);
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
  });

  it('P39: where the workspace cannot be measured, a call that can write counts as the change', async () => {
    const steps = [runCommand('true'), finished, say('Written.')];
    expect(continuations(await play({ protocol, steps, fingerprint: 'none' }))).toEqual(
      [],
    );
    const read = callTool('list_files', { path: '.' });
    const lazy = await play({
      protocol,
      steps: [read, finished, say('Done.')],
      fingerprint: 'none',
    });
    expect(continuations(lazy)).toEqual(['bulk-claim']);
  });

  it('V4: research without a write is work if there are as many calls as claims', async () => {
    const looks = three.map((title) => runCommand(`echo ${title}`));
    const played = await play({
      protocol,
      steps: [...looks, plan(...three), bulkClaim(), say('Found.')],
    });
    expect(continuations(played)).toEqual([]);
  });

  it('P2: an agent that worked and ticks everything at the end is not challenged', async () => {
    const played = await play({
      protocol,
      steps: [plan(...three), ...files, bulkClaim(), say('Written.')],
    });
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(continuations(played)).toEqual([]);
    expect(played.requests).toHaveLength(6);
  });

  it('P3: a dropped todo that is taken up when it is named ends like any other', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha', 'The hard part'),
        writeFile('alpha.txt', 'a'),
        complete('Write alpha'),
        drop('The hard part'),
        say('The list is finished.'),
        whenNamed('The hard part', writeFile('hard.txt', 'h'), complete('The hard part')),
        say('Done.'),
      ],
    });
    expect(continuations(played)).toEqual(['dropped-todos']);
    expect(statuses(played)).toEqual({
      'Write alpha': 'completed',
      'The hard part': 'completed',
    });
  });

  it('P3: a reworded todo is the same todo and nobody is told off for it', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write the parser', 'Write the tests'),
        reword('Write the parser', 'Write the parser for numbers'),
        writeFile('parser.txt', 'p'),
        complete('Write the parser for numbers'),
        writeFile('tests.txt', 't'),
        complete('Write the tests'),
        say('Both are written.'),
      ],
    });
    expect(continuations(played)).toEqual([]);
    expect(statuses(played)).toEqual({
      'Write the parser for numbers': 'completed',
      'Write the tests': 'completed',
    });
  });

  it('P4: one duplicate on the way does not cost an honest agent anything', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha'),
        start('Write alpha'),
        writeFile('alpha.txt', 'a'),
        complete('Write alpha'),
        duplicateWrite(),
        say('Written.'),
      ],
    });
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(continuations(played)).toEqual([]);
  });

  it('P6: todos that turn up on the way and are worked on count', async () => {
    const rounds = Array.from({ length: 6 }, (_, index) => [
      plan(`Found ${index}`),
      writeFile(`found-${index}.txt`, `${index}`),
      complete(`Found ${index}`),
      say('One more found and done.'),
    ]).flat();
    const played = await play({
      protocol,
      steps: [
        plan('The real work'),
        say('Let me see.'),
        ...rounds,
        writeFile('real.txt', 'r'),
        complete('The real work'),
        say('Done.'),
      ],
    });
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(played.todos.every(({ status }) => status === 'completed')).toBe(true);
  });
});
