import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CommandBench,
  createCommandBench,
} from '../../test/support/command-bench.ts';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
});

afterEach(() => bench.close());

/**
 * Sets the clipboard, clears the screen, paints, breaks the line, and turns the reading
 * direction round.
 */
const evil =
  'x\u001b]52;c;aGk=\u0007\u001b[2J\u001b[31mred\u009b0m\u0085\nINJECTED\r\u202Eesrever\u2066\u0000\u007f';

/** Everything by which text could act on a terminal, but for the end of a line. */
const powers =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

async function addHostileSession(): Promise<void> {
  const host = await bench.host({
    // SQLite finds no start of a text that holds a null character; hosts do not make such
    // ids.
    sessionId: `s${evil.replace('\u0000', '')}`,
    mode: 'told',
    descriptor: { host: evil },
    agent: { name: evil },
    checker: { run: async () => {} },
  });
  await host.open();
  await host.says(evil);
  const [first = '', second = ''] = await host.plans(
    evil,
    `${evil} second`,
    `${evil} third`,
  );
  await host.completes(first, evil);
  await host.happens({
    type: 'todo-updated',
    actor: 'agent',
    todoId: second,
    changes: { status: 'blocked', reason: evil },
  });
  await host.happens({
    type: 'todos-created',
    actor: 'agent',
    items: [
      {
        id: 'c',
        title: 'checked',
        checks: [evil],
        completionCriteria: evil,
        context: evil,
      },
    ],
  });
  await host.completes('c');
  await host.happens({
    type: 'check-finished',
    todoId: 'c',
    check: evil,
    result: 'failed',
    flaky: false,
    tail: evil,
    fingerprint: null,
    final: true,
    writes: null,
  });
  await host.happens({
    type: 'wait-started',
    wait: { kind: 'background', job: { id: evil, kind: 'subagent', description: evil } },
  });
  await host.stops({ toolError: evil });
  await host.happens({ type: 'wait-ended', wait: { kind: 'background', jobId: evil } });
  await host.happens({ type: 'model-paused', reason: evil });
  await host.stops();
}

const commands = [
  ['status', '--all'],
  ['status', 's'],
  ['why', 's'],
  ['why', 's', '--decision', '1'],
  ['plan', 'show', 's'],
  ['plan', 'log', 's'],
  ['ledger', 'verify', '--all'],
  ['pause', 's', '--reason', evil],
  ['stop', 's'],
  ['resume', 's'],
];

describe('security: hostile text', () => {
  it('from todos, hosts and payloads never reaches a terminal raw, in no command', async () => {
    await addHostileSession();
    for (const argv of commands) {
      const { code, out, err } = await bench.run(...argv);
      expect(err, argv.join(' ')).toBe('');
      expect(code, argv.join(' ')).toBe(0);
      expect(out, argv.join(' ')).not.toMatch(powers);
      expect(out, argv.join(' ')).not.toMatch(/^INJECTED/m);
    }
  });

  it('as JSON is one line of escapes that says the same again', async () => {
    await addHostileSession();
    for (const argv of commands) {
      const { out } = await bench.run(...argv, '--json');
      expect(out.slice(0, -1), argv.join(' ')).not.toMatch(powers);
      expect(out.indexOf('\n'), argv.join(' ')).toBe(out.length - 1);
      JSON.parse(out);
    }
    const { todos } = JSON.parse((await bench.run('plan', 'show', 's', '--json')).out);
    expect(todos[0].title).toBe(evil);
  });

  it('in sentences about wrong words is tamed as well', async () => {
    await addHostileSession();
    for (const argv of [
      ['why', evil],
      ['status', `--${evil}`],
      [evil],
      ['plan', 'show', 's', evil],
    ]) {
      const { code, out, err } = await bench.run(...argv);
      expect(code).toBeGreaterThan(0);
      expect(`${out}${err}`).not.toMatch(powers);
    }
  });

  it('in the names of files and places is tamed as well', async () => {
    await addHostileSession();
    const list = await bench.run('plan', 'import', `${evil}.md`);
    expect(list.err).toContain('cannot be opened');
    expect(list.err).not.toMatch(powers);
    expect(list.err.indexOf('\n')).toBe(list.err.length - 1);
    const home = join(bench.project, 'ho\u001b[31mme');
    mkdirSync(join(home, 'untildone.db'), { recursive: true });
    const place = await bench.runWith(
      { env: { ...bench.env, UNTILDONE_HOME: home } },
      'status',
    );
    expect(place.err).toContain('is a directory');
    expect(place.err).not.toMatch(powers);
  });
});

describe('colour', () => {
  it('only on a terminal, and not with NO_COLOR or a dumb one', async () => {
    await addHostileSession();
    const bold = '\u001b[1m';
    expect((await bench.runWith({ isTTY: true }, 'status', '--all')).out).toContain(bold);
    expect((await bench.run('status', '--all')).out).not.toContain(bold);
    for (const off of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const { out } = await bench.runWith(
        { isTTY: true, env: { ...bench.env, ...off } },
        'status',
        '--all',
      );
      expect(out).not.toMatch(powers);
    }
  });
});
