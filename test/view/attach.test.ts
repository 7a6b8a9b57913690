// `untildone attach` on sessions of hosts: a told one in its countdown, an asked one
// whose hooks only append, a question of our own agent; in a real terminal, and as NDJSON
// where there is none.
import { describe, expect, it, onTestFinished } from 'vitest';
import { defaultSettings } from '../../src/core/settings.ts';
import type { Store } from '../../src/engine/store.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import { runCommand, say } from '../../src/scripted-model/index.ts';
import {
  createScriptedHost,
  type ScriptedHost,
} from '../../src/simulated/scripted-host.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { type CommandLine, openCommandLine } from '../stories/command-line.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const clean = { echo: true, lines: true, cursor: true };

interface Elsewhere {
  readonly line: CommandLine;
  readonly store: Store;
  readonly host: ScriptedHost;
  readonly todos: readonly string[];
  open(): Terminal;
}

/** A session of a host, in the store of this command line. */
async function elsewhere(mode: 'asked' | 'told', name: string): Promise<Elsewhere> {
  const line = await openCommandLine({ steps: [say('x')] });
  // Makes the store.
  await line.run('run', 'x', '--auto', '--model', 'openai/story');
  const store = await openSqliteStore({ path: line.storePath, clock: systemClock });
  onTestFinished(() => store.close());
  const host = createScriptedHost({
    mode,
    store,
    clock: systemClock,
    identifiers: createIdentifiers(systemClock),
    hash: sha256,
    policy: () => ({
      settings: { ...defaultSettings, countdownSeconds: 60 },
      goalChecks: [],
    }),
    sessionId: 'host-session-1',
    descriptor: { host: name, directory: line.project },
  });
  await host.open();
  await host.says('Do the work.');
  const todos = await host.plans('Write alpha', 'Write beta');
  return { line, store, host, todos, open: () => terminalOf(line) };
}

function terminalOf(line: CommandLine): Terminal {
  const environment = { ...line.environment, LC_ALL: 'C.UTF-8' };
  const terminal = openTerminal({ directory: line.project, environment });
  onTestFinished(() => terminal.close());
  return terminal;
}

const sessionOf = ({ store }: Elsewhere) => store.state('host-session-1');

describe('untildone attach and hosts', () => {
  it('C3: any key stops the countdown of a told host, r lifts that, and the session is the host’s all the while', async () => {
    const there = await elsewhere('told', 'opencode');
    await there.host.works();
    await there.host.stops();
    const terminal = there.open();
    terminal.run(...there.line.words('attach'));
    await terminal.sees(/\d+ s press any key to stop/u);
    expect(terminal.screen()).toContain('opencode');
    terminal.press('Space');
    await terminal.sees('stopped by you (a key in untildone attach)');
    expect((await sessionOf(there))?.latch).not.toBeNull();
    terminal.type('r');
    await terminal.gone('stopped by you (');
    expect((await sessionOf(there))?.latch).toBeNull();
    terminal.type('q');
    expect(await terminal.ended()).toBe(0);
    expect(await terminal.modes()).toEqual(clean);
    expect(there.host.injected).toEqual([]);
  });

  it('C3: shows what the hooks of an asked host appended, and what the plan has become', async () => {
    const there = await elsewhere('asked', 'claude-code');
    const terminal = there.open();
    terminal.run(...there.line.words('attach', 'host-session'));
    await terminal.sees('[ ] Write beta');
    const { sessionId } = there.host;
    const event = { id: 'inbox-1', sessionId, at: Date.now() } as const;
    await there.store.append([
      { ...event, type: 'tool-started', tool: 'Bash', access: 'write' },
    ]);

    await terminal.sees(/\S Bash/u);
    await there.host.completes(there.todos[0] ?? '');
    await terminal.sees('plan [▒▒▒▒░░░░] 1/2, 1 only claimed');
    await there.host.stops();
    await terminal.sees('✋ Stop refused: 1 of 2 todos open → next: Write beta');
    terminal.press('C-c');
    expect(await terminal.ended()).toBe(0);
  });

  it('V12: beneath an agent p is the pause of that agent, and r is refused with a sentence', async () => {
    const there = await elsewhere('asked', 'claude-code');
    there.line.set({ CLAUDECODE: '1' });
    const terminal = there.open();
    terminal.run(...there.line.words('attach'));
    await terminal.sees('p pause');
    terminal.type('p');
    await terminal.sees('paused by the agent');
    terminal.type('r');
    await terminal.sees('Only a human may do this');
    expect((await sessionOf(there))?.pause).toMatchObject({ by: 'model' });
  });

  it('S7: a question of our own agent is answered from another terminal', async () => {
    const line = await openCommandLine({
      steps: [runCommand('echo yes > made.txt'), say('Done.')],
    });
    const terminal = terminalOf(line);
    terminal.run(...line.words('run', 'Do the work.', '--model', 'openai/story'));
    await terminal.sees('[y] once');
    const other = terminalOf(line);
    other.run(...line.words('attach'));
    await other.sees('[y] once');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    other.type('y');
    await terminal.gone('[y] once');
    expect(await terminal.ended()).toBe(3);
    expect(terminal.scrollback()).toContain('allowed once (answered elsewhere)');
  });

  it('C3: asks which one if several run, and ends when the process of that one is killed', async () => {
    const line = await openCommandLine({ steps: [runCommand('sleep 30'), say('Done.')] });
    const begin = (goal: string) =>
      line.start('run', goal, '--auto', '--json', '--model', 'openai/story');
    const first = begin('Write the parser.');
    const second = begin('Write the docs.');
    for (const running of [first, second])
      await running.sees(({ type }) => type === 'tool-started');
    const terminal = terminalOf(line);
    terminal.run(...line.words('attach'));
    await terminal.sees('Which one? [a number from 1 to 2; Enter: none]');
    const number =
      /([12]) {2}\w{6} {2}“Write the parser\.” · untildone/u.exec(
        terminal.screen(),
      )?.[1] ?? '';
    terminal.type('7');
    terminal.press('Enter');
    await terminal.sees('"7" was not understood; answer a number from 1 to 2.');
    terminal.type(number);
    terminal.press('Enter');
    await terminal.sees('running: turn 1');
    await terminal.sees('“Write the parser.”');
    first.child.kill('SIGKILL');
    await terminal.sees(
      /its process is gone \(killed\?\): untildone run --resume \w{6}/u,
      5000,
    );
    expect(await terminal.ended()).toBe(8);
    expect(await terminal.modes()).toEqual(clean);

    await begin('Write the tests.').sees(({ type }) => type === 'tool-started');
    terminal.run(...line.words('stop'));
    await terminal.sees('Which one?');
    terminal.press('Enter');
    await terminal.sees('No session was chosen; nothing was done.');
    expect(await terminal.ended()).toBe(2);
  });

  it('C3: without a terminal it prints NDJSON, or lines, until the turn has settled', async () => {
    const there = await elsewhere('asked', 'claude-code');
    const json = there.line.start('attach', '--json');
    const plain = there.line.start('attach');
    await json.sees(({ type }) => type === 'plan-changed');
    for (const todo of there.todos) {
      await there.host.works();
      await there.host.completes(todo);
    }
    await there.host.stops();
    expect(await json.ended).toBe(0);
    expect(await plain.ended).toBe(0);
    const last = json.events().at(-1) as { type: string; state?: string };
    expect(last).toMatchObject({ type: 'session-state', state: 'settled' });
    expect(plain.out()).toContain('[x] Write beta');
    expect(plain.out()).toContain('ended: claimed');
  });

  it('C3: a view that breaks leaves lines, and Ctrl-C works in them', async () => {
    const line = await openCommandLine({ steps: [] });
    const terminal = terminalOf(line);
    const program = new URL('breaking-run.ts', import.meta.url).pathname;
    terminal.run(process.execPath, '--no-warnings', program);
    await terminal.sees('The live view broke (planted); the run goes on, in lines.');
    await terminal.sees('step 30 of 30');
    expect(await terminal.ended()).toBe(0);
    for (let step = 1; step <= 30; step += 1)
      expect(terminal.scrollback()).toContain(`• step ${step} of 30`);
    expect(await terminal.modes()).toEqual(clean);
    terminal.run(process.execPath, '--no-warnings', program);
    await terminal.sees('the run goes on, in lines.');
    terminal.press('C-c');
    expect(await terminal.ended()).toBe(130);
    expect(await terminal.modes()).toEqual(clean);
  });
});
