// What only Qwen Code has: a cap that tool calls do not lift, settings that it rewrites,
// variables from .env files, and plan mode.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { always, plan, say, script } from '../../../src/scripted-model/index.ts';
import type { RealHost } from '../harness/real-host.ts';
import { openBench } from '../harness/real-host-stage.ts';
import { quitter, titles } from '../harness/stories/story.ts';
import { qwenCode } from './real-host.ts';

const { play } = openBench(qwenCode);
const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);
const settingsOf = (directory: string) =>
  readFileSync(join(directory, '.qwen', 'settings.json'), 'utf8');

it('P30: at a cap that a variable lowers, the last continuation is announced, and the turn ends as exhausted', async () => {
  const played = await play({
    scripts: [quitter('quitter', ...titles, 'delta')],
    environment: { QWEN_CODE_STOP_HOOK_BLOCK_CAP: '3' },
  });
  expect(played.continuations, 'one less than the cap').toHaveLength(2);
  expect(played.session).toMatchObject({ outcome: 'exhausted', reason: 'host-cap' });
  expect(played.messages?.join('\n')).toMatch(/once more[\s\S]*exhausted/);
});

it('C1: the host offers our tools and its own, and leaves the settings as init wrote them', async () => {
  const texts: string[] = [];
  const look = ({ project: { directory } }: { project: { directory: string } }) =>
    void texts.push(settingsOf(directory));
  const played = await play({
    scripts: [stubborn],
    prepare: look,
    async drive(stage) {
      await stage.say('Do it.');
      look(stage);
    },
  });
  const names = [
    'todo_write',
    'mcp__untildone__todo_pause',
    'mcp__untildone__todo_verify',
  ];
  expect(played.requests[0]?.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(names),
  );
  expect(played.continuations[0]).toContain('mcp__untildone__todo_pause');
  expect(texts[1]).toBe(texts[0]);
});

it('V10: what .env files and settings of the project say of us is left aside, and the human is told', async () => {
  const played = await play({
    scripts: [stubborn],
    prepare({ project }) {
      project.write('.env', 'UNTILDONE_MODE=off\n');
      project.editJson<{ env: object }>(
        join(project.directory, '.qwen', 'settings.json'),
        (settings) => {
          settings.env = { UNTILDONE_ENABLED: 'false' };
        },
      );
    },
  });
  expect(played.continuations).toHaveLength(3);
  expect(played.messages?.join('\n')).toMatch(
    /set UNTILDONE_\w+, UNTILDONE_\w+: that is ignored/,
  );
});

it('P26: in plan mode nobody is sent on', async () => {
  const turn: RealHost['turn'] = (message) => ({
    words: qwenCode.turn(message).words.map((word) => (word === 'yolo' ? 'plan' : word)),
  });
  const played = await openBench({ ...qwenCode, turn }).play({ scripts: [stubborn] });
  expect(played.continuations).toHaveLength(0);
});
