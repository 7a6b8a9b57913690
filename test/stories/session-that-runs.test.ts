// A command that names no session takes the one that runs here, not one that ended later
// (C3). Real processes; the choice at a terminal is played in test/view/attach.test.ts.
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import { firstOf, plan, runCommand, say } from '../../src/scripted-model/index.ts';
import { openCommandLine, type Running } from './command-line.ts';
import { ifSentFor } from './delegating.ts';

const startsShell = (event: AgentEvent) =>
  event.type === 'tool-started' && event.tool === 'shell';
const goal = (words: string) => [
  'run',
  words,
  '--auto',
  '--json',
  '--model',
  'openai/story',
];
const steps = [
  firstOf(ifSentFor('slow', plan('Write one')), say('Nothing to do.')),
  runCommand('sleep 30'),
  say('Written.'),
];

async function idOf(running: Running): Promise<string> {
  return (await running.sees(({ type }) => type === 'run-started')).sessionId;
}

/** A session that works, and one that began later and has ended. */
async function beginBoth() {
  const line = await openCommandLine({ steps });
  const running = line.start(...goal('The slow work.'));
  await running.sees(startsShell);
  const ended = line.start(...goal('The quick work.'));
  await ended.ended;
  return { line, running, id: await idOf(running), endedId: await idOf(ended) };
}

describe('a command without a session', () => {
  it('C3: pause, resume and stop take the one that runs, although another ended after it began', async () => {
    const { line, running, id, endedId } = await beginBoth();
    const short = id.slice(-6);
    expect((await line.run('pause')).out).toContain(
      `Session ${short} “The slow work.” is paused.`,
    );
    expect((await line.runOnTerminal('resume')).out).toContain(
      `Session ${short} “The slow work.” is resumed. Its run goes on.`,
    );
    const stopped = await line.run('stop');
    expect(stopped.out).toContain(`Session ${short} “The slow work.” is stopped.`);
    expect(stopped.out).not.toContain('nothing runs here');
    expect(await running.ended).toBe(130);

    const none = await line.run('stop', '--json');
    expect(JSON.parse(none.out).session).toBe(id);
    const again = await line.run('stop');
    expect(again).toMatchObject({ code: 0 });
    expect(again.out).toContain(
      `${short} “The slow work.” has ended (aborted); nothing runs here.`,
    );
    expect((await line.run('stop', endedId)).out).not.toContain('nothing runs here');
  });

  it('C3: attach shows the one that runs, and says so if none does', async () => {
    const { line, running, id, endedId } = await beginBoth();
    const watching = line.start('attach', '--json');
    await watching.sees(({ sessionId }) => sessionId === id);
    await line.run('stop', id);
    expect(await watching.ended).toBe(0);
    expect(watching.events().filter(({ sessionId }) => sessionId === endedId)).toEqual(
      [],
    );
    await running.ended;
    const late = await line.run('attach');
    expect(late).toMatchObject({ code: 0 });
    expect(late.out).toContain(
      `${id.slice(-6)} “The slow work.” has ended (aborted); nothing runs here.`,
    );
  });

  it('C3: say speaks to the one that runs', async () => {
    const { line, running, id } = await beginBoth();
    const said = await line.runOnTerminal('say', 'stop');
    expect(said.out).toContain(`Said to session ${id.slice(-6)} “The slow work.”`);
    expect(await running.ended).toBe(130);
  });

  it('C3: if several run, they are listed without a terminal, and nothing changes', async () => {
    const line = await openCommandLine({ steps });
    const both = [
      line.start(...goal('The slow work.')),
      line.start(...goal('Other slow work.')),
    ];
    const ids: string[] = [];
    for (const running of both) {
      await running.sees(startsShell);
      ids.push((await idOf(running)).slice(-6));
    }
    for (const [command, words] of [
      ['stop', ['stop']],
      ['pause', ['pause']],
      ['attach', ['attach', '--plain']],
    ] as const) {
      const refused = await line.run(...words);
      expect(refused).toMatchObject({ code: 2, out: '' });
      expect(refused.err).toContain('2 sessions run here: ');
      for (const id of ids) expect(refused.err).toContain(id);
      expect(refused.err).toMatch(
        new RegExp(`Name one of them: \`untildone ${command} (${ids.join('|')})\``, 'u'),
      );
    }
    const [first = '', second = ''] = ids;
    expect((await line.run('stop', first)).code).toBe(0);
    expect(await both[0]?.ended).toBe(130);
    expect((await line.run('stop')).out).toContain(
      `Session ${second} “Other slow work.” is stopped.`,
    );
    expect(await both[1]?.ended).toBe(130);
  });
});
