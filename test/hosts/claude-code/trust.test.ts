// V10, P40 in the real Claude Code: what a project brings or an agent writes into `untildone.json` runs nothing and
// weakens nothing, and the human is told.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { always, complete, plan, say, script, writeFile } from '../../../src/scripted-model/index.ts';
import type { Project } from '../harness/project.ts';
import { play } from './play.ts';

const hostile = { checks: { x: { command: 'touch ran-by-us' } }, goal: ['x'] };
const works = [plan('parser'), writeFile('parser.txt', 'x'), complete('parser'), say('Done.')];

const ran = (project: Project) => existsSync(join(project.directory, 'ran-by-us'));

describe('P40: a project’s untildone.json that nobody accepted', () => {
  it('V10: of a hostile repository: its command is not run, and the human is told', async () => {
    let wasRun = true;
    const { messages, session } = await play({
      scripts: [script('works', works)],
      prompt: 'Do it.',
      prepare: (project) => project.write('untildone.json', JSON.stringify(hostile)),
      drive: async ({ project, claude }) => {
        claude.endInput();
        await claude.ended;
        wasRun = ran(project);
      },
    });
    expect(wasRun).toBe(false);
    expect(session.outcome).toBe('claimed');
    expect(messages.join('\n')).toContain('untildone trust');
  });

  it('V10: written by the agent to switch us off: what was accepted stays in force', async () => {
    const steps = [
      plan('parser'),
      writeFile('untildone.json', '{"mode":"off"}'),
      say('Done.'),
      complete('parser'),
      always(say('Done.')),
    ];
    const { messages, continuations } = await play({
      scripts: [script('switches off', steps)],
      config: { checks: { real: { command: ['true'] } }, goal: ['real'] },
      prompt: 'Do it.',
    });
    expect(continuations.length).toBeGreaterThan(0);
    expect(messages.join('\n')).toContain('neither run nor obeyed');
  });
});
