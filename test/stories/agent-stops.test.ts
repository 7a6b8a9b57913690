// Our own agent does not speak as the human: if it types `untildone stop` or `pause`, it
// pauses itself (V12, P52).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/engine/system.ts';
import {
  complete,
  firstOf,
  plan,
  runCommand,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { sharedProgram } from '../support/bundled-program.ts';
import { openCommandLine } from './command-line.ts';
import { delegate, ifSentFor } from './delegating.ts';
import { play } from './play.ts';
import { protocols } from './protocols.ts';
import { ending } from './seen.ts';

const program = await sharedProgram();
const protocol = protocols[2]!;
/** Names the state directory, because commands of an agent get no variable that does. */
const untildone = (words: string) =>
  runCommand(
    `UNTILDONE_HOME="$PWD/../state" "${process.execPath}" --no-warnings "${program}" ${words} 2>&1`,
  );

const alpha = { title: 'Write alpha', agentType: 'coder' };

describe('P52: the agent of a run', () => {
  it.each([
    ['stop', 'The agent asked to stop.'],
    ['pause --reason tired', 'The agent asked to stop: tired'],
  ])(
    'P52: types `untildone %s`: it may stop as paused (exit 7), and nothing says that the human stopped it',
    async (words, sentence) => {
      const line = await openCommandLine({
        steps: [
          plan('Write alpha', 'Write beta'),
          untildone(words),
          say('I stop here.'),
          say('Really.'),
        ],
      });
      const ran = await line.run(
        'run',
        'Do the work.',
        '--auto',
        '--model',
        'openai/story',
        '--check',
        'false',
      );
      expect(ran.code).toBe(7);
      expect(ran.out).toContain(sentence);
      expect(ran.out + ran.err).not.toMatch(/stopped by you|stopped the agent/iu);
      const session = await line.session();
      expect(session).toMatchObject({
        latch: null,
        pause: { by: 'model' },
        settled: { outcome: 'paused' },
      });
      // Nothing is asked of the model after the command.
      expect(line.model.requests).toHaveLength(2);
      const status = (await line.run('status')).out;
      expect(status).toContain('paused by the agent');
      expect(status).not.toContain('by you');
    },
  );

  it('P52: types `untildone say`: that is refused, and the agent is held as before', async () => {
    const line = await openCommandLine({
      steps: [
        plan('Write alpha'),
        untildone('say "go home"'),
        writeFile('alpha.txt', 'a'),
        complete('Write alpha'),
        say('Done.'),
      ],
    });
    const ran = await line.run(
      'run',
      'Do the work.',
      '--auto',
      '--json',
      '--model',
      'openai/story',
    );
    expect(ran.code).toBe(3);
    expect(ran.out).toContain(
      'Only a human may do this, and a session of untildone called it.',
    );
  });

  it('P52: has a worker that types `untildone stop`: the run is paused (exit 7)', async () => {
    const played = await play({
      protocol,
      steps: [plan(alpha), delegate('Write alpha'), say('Done.'), say('Really.')],
      workers: { coder: [untildone('stop'), say('I stopped.')] },
    });
    expect(ending(played)).toMatchObject({
      outcome: 'paused',
      reason: 'paused-by-model',
      exitCode: 7,
    });
    expect(played.session).toMatchObject({ latch: null, pause: { by: 'model' } });
  });

  it.each([
    [
      'with the variables of the other',
      'UNTILDONE_SESSION=$V UNTILDONE_AGENT_SESSION=$V',
      'stop $V',
    ],
    ['with no variables', 'env -u UNTILDONE_SESSION', 'stop'],
    [
      'as a host of the other',
      'CLAUDECODE=1 AI_AGENT=claude-code_1_agent CLAUDE_CODE_SESSION_ID=$V',
      'stop $V',
    ],
  ])('cannot pause another run: %s', async (_how, variables, words) => {
    const stops = `V=$(cat ../victim); UNTILDONE_HOME="$PWD/../state"; export UNTILDONE_HOME; ${variables} "${process.execPath}" --no-warnings "${program}" ${words} 2>&1`;
    const line = await openCommandLine({
      steps: [
        firstOf(ifSentFor('slow', runCommand('sleep 30')), runCommand(stops)),
        say('I stop here.'),
        say('Really.'),
      ],
    });
    const begin = (goal: string) =>
      line.start('run', goal, '--auto', '--json', '--model', 'openai/story');
    const victim = begin('The slow work.');
    const { sessionId } = await victim.sees(({ type }) => type === 'tool-started');
    writeFileSync(join(line.project, '..', 'victim'), sessionId);
    const attacker = begin('Stop the other.');
    await attacker.ended;
    const store = await openSqliteStore({ path: line.storePath, clock: systemClock });
    onTestFinished(() => store.close());
    expect(await store.state(sessionId)).toMatchObject({ latch: null, pause: null });
  });
});
