// The real `opencode serve` where something would pass off open work as finished: a
// repository that brings commands and switches us off, an agent that edits the project's
// file, a server left running, a clock that is set.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  always,
  complete,
  plan,
  runCommand,
  say,
  script,
  whenTold,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { createGate } from '../harness/gate.ts';
import { processesOf } from '../harness/processes-of.ts';
import { quitter } from '../harness/stories/story.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { openConversation } from './conversation.ts';
import { ourPlugin } from './opencode.ts';
import { runOpencode } from './run.ts';
import { hasty, type Stage, startStage } from './stage.ts';

const hostile = JSON.stringify({
  mode: 'off',
  checks: { x: { command: 'touch ran-by-us' } },
  goal: ['x'],
});
const failure = 'EXPECTED-FILE-IS-MISSING';
const program = `if(!require('fs').existsSync('parser.txt')){console.log('${failure}');process.exit(1)}`;
const checks = { parser: { command: [process.execPath, '-e', program] } };
const server = createGate('server');

/** Sets the clock of the host, in milliseconds beside the right time. */
const setClock = (milliseconds: number) => runCommand(`echo ${milliseconds} > .clock`);

const scripts = [
  quitter('quitter', 'alpha', 'beta'),
  script('editor', [
    plan('parser'),
    writeFile('untildone.json', hostile),
    complete('parser'),
    say('Done.'),
    whenTold(failure, writeFile('parser.txt', 'x')),
    say('Now it is done.'),
    whenTold('typo', writeFile('readme.txt', 'x')),
    always(say('The typo is mended.')),
  ]),
  script('server', [
    plan('parser', 'docs'),
    runCommand(`(${server.command}) >/dev/null 2>&1 &`),
    complete('docs'),
    say('The server runs.'),
    complete('parser'),
    say('The server runs, and all is done.'),
    whenTold(failure, writeFile('parser.txt', 'x')),
    complete('parser'),
    always(say('Now it is done.')),
  ]),
  script('clock', [
    plan('alpha', 'beta', 'gamma'),
    setClock(-2000),
    complete('alpha'),
    say('Everything is done.'),
    complete('beta'),
    always(say('Everything is done.')),
  ]),
];

let stage: Stage;
beforeAll(async () => {
  stage = await startStage(scripts);
}, 60_000);
afterAll(() => stage.close());

function toastsIn(directory: string): readonly string[] {
  return stage.serve.events
    .filter((event) => event.type === 'tui.toast.show' && event.directory === directory)
    .map(({ properties }) => String(properties['message']));
}

/**
 * Waits until the human was told so often that the file asks for more than they accepted.
 */
function toldOfFile(directory: string, count: number): Promise<void> {
  const isThat = (toast: string) =>
    toast.includes('are ignored until you do') && toast.includes('untildone trust');
  return waitUntil(
    `${count} toasts`,
    () => toastsIn(directory).filter(isThat).length >= count,
  );
}

describe('V10, P40: a project’s untildone.json that nobody accepted', () => {
  it('of a hostile repository: its command is not run, it switches nothing off, and the human is told', async () => {
    const directory = stage.folder({ config: null });
    writeFileSync(join(directory, 'untildone.json'), hostile);
    const conversation = await openConversation(stage.serve, directory);
    await conversation.say('[script:quitter] Do it.');
    await toldOfFile(directory, 1);
    expect(stage.continuations(conversation.id), 'at the prompt').toHaveLength(0);
    const kept = await stage.record.settled(conversation.id);
    expect(stage.continuations(conversation.id)).toHaveLength(1);
    expect(kept.session.settled?.outcome).toBe('claimed');
    await toldOfFile(directory, 2);
    expect(existsSync(join(directory, 'ran-by-us'))).toBe(false);
  });

  it('under `opencode run`: the same, told on the error output', async () => {
    const directory = stage.folder({ config: null });
    writeFileSync(join(directory, 'untildone.json'), hostile);
    const prompt = '[script:quitter] Do it.';
    const run = await runOpencode(stage.project, stage.model, { directory, prompt });
    expect(stage.continuations(run.id)).toHaveLength(1);
    expect(
      run.printed.split('are ignored until you do'),
      'at the prompt and at the stop',
    ).toHaveLength(3);
    expect(existsSync(join(directory, 'ran-by-us'))).toBe(false);
  });

  it('edited by the agent: what was accepted is run and holds it, now and at the next message', async () => {
    const conversation = await stage.open({
      config: { ...hasty, checks, goal: ['parser'] },
    });
    await conversation.say('[script:editor] Do it.');
    const first = await stage.record.settled(conversation.id);
    expect(stage.continuations(conversation.id)).toHaveLength(1);
    expect(stage.continuations(conversation.id)[0]).toContain(failure);
    expect(first.session.settled?.outcome).toBe('done');
    // At the stop whose check fails, and at the last one.
    await toldOfFile(conversation.directory, 2);
    await conversation.say('Thanks, now mend a typo.');
    await conversation.waitForTurns(3);
    const second = await stage.record.settled(conversation.id);
    expect(second.session.settled?.outcome).toBe('done');
    // At the next message, and at its stop.
    await toldOfFile(conversation.directory, 4);
    expect(existsSync(join(conversation.directory, 'ran-by-us'))).toBe(false);
  });
});

describe('P37: a server that the agent leaves running', () => {
  it('open todos are continued, checks run, the outcome is told, and nobody waits for it', async () => {
    const todoChecks = [{ title: 'parser', checks: ['parser'] }];
    const conversation = await stage.open({ config: { ...hasty, checks, todoChecks } });
    await conversation.say('[script:server] Do it.');
    const kept = await stage.record.settled(conversation.id);
    const continuations = stage.continuations(conversation.id);
    expect(continuations).toHaveLength(2);
    expect(continuations[0]).toContain('parser');
    expect(continuations[1]).toContain(failure);
    expect(kept.session.settled?.outcome).toBe('claimed');
    expect(kept.todos).toMatchObject([
      { verification: 'passed' },
      { verification: 'claimed' },
    ]);
    const told = () =>
      toastsIn(conversation.directory).some((toast) =>
        toast.includes("the agent's word"),
      );
    await waitUntil('the outcome is told', told);
    expect(processesOf(stage.project.home).join('\n'), 'it still runs').toContain(
      '.open-server',
    );
    server.open(conversation);
  });
});

describe('P42: a clock that is set back by seconds', () => {
  it('in the turn and in the countdown: no todo, no completion and no continuation is lost, and "stop" holds', async () => {
    const plugins = [
      fileURLToPath(new URL('clock-plugin.ts', import.meta.url)),
      ourPlugin,
    ];
    const conversation = await stage.open({
      plugins,
      config: { countdownSeconds: 1, minIntervalSeconds: 0 },
    });
    await conversation.say('[script:clock] Do it.');
    await conversation.waitForTurns(1);
    writeFileSync(join(conversation.directory, '.clock'), '-4000');
    const kept = await stage.record.settled(conversation.id);
    const todos = [
      { status: 'completed' },
      { status: 'completed' },
      { status: 'pending' },
    ];
    expect(kept.todos).toMatchObject(todos);
    expect(kept.session.settled?.outcome).toBe('stagnant');
    // Beta, then three that move nothing. The host itself asks its model again until its
    // clock is where it was.
    expect(stage.continuations(conversation.id)).toHaveLength(4);
    const asked = stage.requests(conversation.id);
    const answered = await conversation.messages();
    expect(answered.at(-1)?.info.time.created, 'set it was').toBeLessThan(
      asked.at(-1)!.at - 3000,
    );
    await conversation.say('stop');
    const stopped = await stage.record.decided(conversation.id, 'aborted');
    expect(stopped.session.latch).not.toBeNull();
    expect(stage.continuations(conversation.id)).toHaveLength(4);
  });
});
