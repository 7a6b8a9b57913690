// What must not get lost or mixed up in the real Claude Code: fifty updates in one step,
// a host that is killed and resumed, two sessions side by side in one project.
import { describe, expect, it } from 'vitest';
import {
  always,
  callTool,
  complete,
  parallel,
  plan,
  runCommand,
  say,
  script,
  untilAllDone,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { toldTexts } from '../harness/continuations.ts';
import { createGate } from '../harness/gate.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { startClaude } from './claude.ts';
import { inProject, look, play, prepareProject } from './play.ts';

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

describe('the record', () => {
  it('V8: is exact after fifty updates in one step, whose hooks come in any order', async () => {
    const update = (taskId: number, status: string) =>
      callTool('TaskUpdate', { taskId: String(taskId), status });
    const many = script('many', [
      plan(...numbers(50).map((number) => `Todo ${number}`)),
      runCommand('echo work > work.txt'),
      parallel(
        ...numbers(50).map((number) =>
          update(number, number % 2 === 0 ? 'completed' : 'in_progress'),
        ),
      ),
      say('Half of it is done.'),
      parallel(...numbers(25).map((number) => update(2 * number - 1, 'completed'))),
      always(say('I am done.')),
    ]);
    const played = await play({ prompt: 'Do it.', scripts: [many] });
    expect(played.continuations).toHaveLength(1);
    expect(played.continuations[0]).toContain('25/50 completed, 25 remaining');
    const titles = played.session.todos.map(({ title }) => title).sort();
    expect(titles).toEqual(
      numbers(50)
        .map((number) => `Todo ${number}`)
        .sort(),
    );
    expect(
      played.session.todos.filter(({ status }) => status === 'completed'),
    ).toHaveLength(50);
    expect(played.session.outcome).toBe('claimed');
  });

  it('V5: survives kill -9 of the host: resumed, the agent is given its plan again and finishes it', async () => {
    const held = createGate('held');
    const titles = ['alpha', 'beta', 'gamma'];
    const perTodo = (title: string) => [
      writeFile(`${title}.txt`, title),
      complete(title),
      say('I am done.'),
    ];
    const story = script('story', [
      plan(...titles),
      writeFile('alpha.txt', 'alpha'),
      complete('alpha'),
      runCommand(held.command),
      say('I am back and I am done.'),
      untilAllDone(perTodo),
    ]);
    await inProject([story], async (project, model) => {
      await prepareProject(project, {});
      const killed = startClaude(project, model, { prompt: 'Do it.' });
      await waitUntil('the long command runs', () =>
        JSON.stringify(killed.lines).includes('.open-held'),
      );
      killed.crash();
      expect((await killed.ended).signal).toBe('SIGKILL');
      killed.end();
      held.open(project);
      const id = killed.lines.find(({ subtype }) => subtype === 'init')?.session_id ?? '';
      const before = model.requests.length;
      const resumed = startClaude(project, model, {
        prompt: 'continue',
        words: ['--resume', id],
      });
      const { code } = await resumed.ended.finally(() => resumed.end());
      const played = await look(project, model, resumed, code);
      expect(toldTexts(model.requests.slice(before))[0]).toContain(
        '1 of 3 todos settled, 2 open',
      );
      expect(
        played.sessions.map((session) => session.id),
        'it is the same session',
      ).toEqual([id]);
      expect(played.session.todos.map(({ title, status }) => [title, status])).toEqual(
        titles.map((title) => [title, 'completed']),
      );
      expect(played.continuations.length).toBeGreaterThanOrEqual(1);
      expect(played.files).toEqual(titles.map((title) => `${title}.txt`));
      expect(played.session.outcome).toBe('claimed');
    });
  });
});
