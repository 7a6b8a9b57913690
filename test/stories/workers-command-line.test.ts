// Workers as a human meets them on the command line: `run` has them, `status` lists them,
// `transcript` shows what each of them said and did (S4, C3, I7).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  callTool,
  complete,
  plan,
  react,
  say,
  whenContinued,
} from '../../src/scripted-model/index.ts';
import { openCommandLine } from './command-line.ts';

const hostile = 'Write \u001b]0;owned\u0007alpha\u001b[2J';
const run = ['run', 'Do the work.', '--auto', '--json', '--model', 'openai/story'];

const steps = [
  plan({ title: hostile, agentType: 'coder' }),
  say('All done!'),
  whenContinued(
    react(({ todos }) => callTool('delegate', { todoId: todos[0]?.id ?? '' })),
  ),
  react(({ todos }) => complete(todos[0]?.id ?? '')),
  say('It is written.'),
];

describe('workers on the command line', () => {
  it('S4 C3 I7: a run has them, status lists them, transcript shows theirs and no reminder', async () => {
    // The worker's model tells the same story from its start; without todo tools it can
    // only say so.
    const line = await openCommandLine({ steps });
    const ran = await line.run(...run);
    expect(ran.code).toBe(3);
    const events = ran.out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    const started = events.find(({ type }) => type === 'worker-started');
    const sessionId: string = events[0].sessionId;

    const list = JSON.parse((await line.run('status', '--json')).out);
    expect(list.sessions.map(({ id }: { id: string }) => id)).toEqual([sessionId]);
    const detail = (await line.run('status', sessionId)).out;
    expect(detail).toContain(`${started.workerId.slice(-6)} coder: done “Write alpha”`);

    const own = (await line.run('transcript')).out;
    expect(own).toContain('  │ Do the work.');
    expect(own).toContain('  │ It is written.');
    expect(own).toContain(`${started.workerId.slice(-6)} coder: done “Write alpha”`);
    expect(own).not.toMatch(/TODO CONTINUATION|All done!/);
    expect((await line.run('transcript', '--all')).out).toMatch(
      /held back\n {2}│ All done![\s\S]*TODO CONTINUATION/,
    );

    // Its run may still live, and the lease of a session is its own.
    const taken = await line.run(
      'run',
      '--resume',
      started.workerId,
      '--model',
      'openai/story',
    );
    expect(taken.err).toContain(
      `is a worker's; its run goes on by \`untildone run --resume ${sessionId.slice(-6)}\``,
    );

    const workers = (await line.run('transcript', started.workerId)).out;
    expect(workers).toContain(`worker of ${sessionId.slice(-6)}`);
    expect(workers).toContain('the agent that sent it\n  │ The work: “Write alpha”');
    expect(workers).toContain('  │ I have no todo tool.');
    const escapes = [...own, ...workers, ...detail].filter(
      (character) => character === '\u001b',
    );
    expect(escapes).toEqual([]);

    const json = JSON.parse(
      (await line.run('transcript', started.workerId, '--json')).out,
    );
    expect(json).toMatchObject({
      session: started.workerId,
      parent: sessionId,
      agent: 'coder',
      workers: [],
    });
    expect(json.messages.map(({ kind }: { kind: string }) => kind)).toEqual([
      'human',
      'agent',
    ]);
  });

  it('C1: a worker that is wrong in the configuration is told before anything starts', async () => {
    const line = await openCommandLine({ steps });
    writeFileSync(
      join(line.project, 'untildone.json'),
      JSON.stringify({ workers: { helper: { tools: ['fly'] } } }),
    );
    const { code, err } = await line.run(...run, '--trust');
    expect(code).toBe(2);
    expect(err).toContain('workers.helper.tools: there is no tool "fly"');
    expect(line.model.requests).toHaveLength(0);
  });

  it('a project’s file cannot widen a built-in worker, and the human is told', async () => {
    const line = await openCommandLine({ steps });
    const file = join(line.project, 'untildone.json');
    writeFileSync(file, JSON.stringify({ workers: { explorer: { tools: ['shell'] } } }));
    const { code, err } = await line.run(...run, '--trust');
    expect(code).toBe(3);
    expect(err).toContain(
      'workers.explorer.tools in the project’s untildone.json cannot give it tools',
    );
  });
});
