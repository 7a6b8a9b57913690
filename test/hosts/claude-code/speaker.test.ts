// The real Claude Code tells the human from the agent: a stop after the end of a turn
// does not change its outcome, a command in the agent's shell is the agent's, and a
// command of our plugin that a human types is the human's (V12, P52).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  always,
  complete,
  plan,
  runCommand,
  say,
  script,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { continuationsIn } from '../harness/continuations.ts';
import { untildone } from '../harness/untildone.ts';
import { play } from './play.ts';

const dist = fileURLToPath(new URL('../../../dist', import.meta.url));
const call = (words: string) =>
  `"${process.execPath}" "${join(dist, 'bin.js')}" ${words} > said.txt 2>&1; true`;

describe('V12: after the end of a turn', () => {
  it('a stop in another terminal, a typed "stop" and a pause leave outcome, proofs and report as they were', async () => {
    const reports: string[] = [];
    let status = '';
    const played = await play({
      scripts: [
        script('works', [
          plan('parser'),
          writeFile('parser.txt', 'x'),
          complete('parser'),
          always(say('Done.')),
        ]),
      ],
      config: {
        checks: { there: { command: ['test', '-f', 'parser.txt'] } },
        goal: ['there'],
      },
      async drive({ project, claude }) {
        const report = async () => void reports.push(await untildone(project, 'report'));
        claude.say('Do it.');
        await claude.waitForResults(1);
        await report();
        await untildone(project, 'stop');
        await report();
        claude.say('stop');
        await claude.waitForResults(2);
        await report();
        await untildone(project, 'pause');
        await report();
        status = await untildone(project, 'status');
      },
    });
    expect(played.session.outcome).toBe('done');
    expect(reports[0]).toContain('## done: ');
    expect(new Set(reports).size).toBe(1);
    expect(status).toMatch(
      /ended: done; stopped by you since \d\d:\d\d:\d\d \(told to stop\)/u,
    );
  });
});

describe('P52: the agent in its shell', () => {
  it('may not stop another session nor use `say`, and is held as before', async () => {
    let said: string[] = [];
    const steps = [
      plan('parser'),
      runCommand(call('stop "$(cat other-id)"').replace('said', 'other')),
      runCommand(call('say "go home"')),
      say('I am done.'),
      complete('parser'),
      always(say('Done.')),
    ];
    const { continuations, session, sessions } = await play({
      scripts: [script('pretends', steps)],
      prompt: 'Do it.',
      async prepare(project) {
        project.write('PLAN.md', '# Plan\n\n- [ ] another\n');
        await untildone(project, 'plan', 'import', 'PLAN.md');
        const { sessions: all } = JSON.parse(
          await untildone(project, 'status', '--all', '--json'),
        );
        project.write('other-id', all[0].id);
      },
      async drive({ project, claude }) {
        await claude.ended;
        said = ['other.txt', 'said.txt'].map((name) =>
          readFileSync(join(project.directory, name), 'utf8').replaceAll('\n', ' '),
        );
      },
    });
    expect(said[0]).toContain(
      'Claude Code called this, and an agent may only pause its own session',
    );
    expect(said[1]).toContain('Only a human may do this, and Claude Code called it.');
    expect(continuations).toHaveLength(1);
    expect(session.outcome).toBe('claimed');
    for (const one of sessions) expect(one.latch).toBeNull();
  });

  it('V12: /untildone:pause of our plugin that a human types is a pause by the human', async () => {
    const paused = await play({
      scripts: [script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))])],
      installed: false,
      words: ['--plugin-dir', join(dist, 'plugin')],
      config: { maxStagnant: 1 },
      async drive({ claude, model }) {
        claude.say('Do it.');
        await claude.waitForResults(1);
        const before = continuationsIn(model.requests).length;
        claude.say('/untildone:pause lunch');
        await claude.waitForResults(2);
        claude.say('go on');
        await claude.waitForResults(3);
        expect(continuationsIn(model.requests)).toHaveLength(before);
      },
    });
    expect(
      paused.session.events.filter(({ type }) => type === 'human-paused'),
    ).toMatchObject([{ reason: 'lunch' }]);
    expect(paused.session.events.some(({ type }) => type === 'model-paused')).toBe(false);
    expect(paused.session.decisions.at(-1)).toMatchObject({
      reason: 'paused-by-human',
      outcome: 'paused',
    });
  });
});
