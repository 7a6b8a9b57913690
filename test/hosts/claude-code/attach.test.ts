// `untildone attach` beside the real Claude Code: what its hooks tell, while the turn
// runs.
import { expect, it } from 'vitest';
import {
  complete,
  plan,
  runCommand,
  say,
  script,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { attach } from '../harness/attach.ts';
import { createGate } from '../harness/gate.ts';
import { readRecord } from '../harness/record.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { play } from './play.ts';

const gate = createGate('attached');

it('C3: attach shows the plan, the calls and the continuation of Claude Code as they come', async () => {
  const story = script('story', [
    plan('parser', 'docs'),
    // A session is on record from its first stop attempt on; until then its hooks only
    // append.
    say('I am done.'),
    runCommand(gate.command),
    writeFile('parser.txt', 'x'),
    complete('parser'),
    say('I am done.'),
    writeFile('docs.txt', 'x'),
    complete('docs'),
    say('Both are written.'),
  ]);
  const { continuations } = await play({
    scripts: [story],
    async drive({ claude, project }) {
      claude.say('Please do it.');
      await waitUntil(
        'a session is on record',
        async () => (await readRecord(project)).length > 0,
      );
      const terminal = attach(project, project.directory);
      await terminal.sees('claude-code');
      await terminal.sees('[ ] docs');
      gate.open(project);
      // Claude Code tells of calls when they have ended.
      await terminal.sees('· Bash');
      await terminal.sees(/✋ Stop refused: .*todos? open/u);
      await claude.waitForResults(1);
      await terminal.sees('ended: ');
      expect(terminal.screen()).toContain('[x] docs');
      terminal.type('q');
      expect(await terminal.ended()).toBe(0);
    },
  });
  expect(continuations).toHaveLength(2);
});
