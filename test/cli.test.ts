// The commands, run in process over a real SQLite store that scripted hosts filled: what
// they print, what they change, and what they leave alone.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jsonOption } from '../src/cli/command.ts';
import { commandTable } from '../src/cli/command-table.ts';
import { readArguments } from '../src/cli/program.ts';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from './support/command-bench.ts';
import { hostNames } from './support/host-named.ts';

process.env['TZ'] = 'UTC';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
});

afterEach(() => bench.close());

function linesOf(text: string): string[] {
  return text.split('\n');
}

describe('the command line', () => {
  it('C3: --help lists every command in its group, and every command explains itself with an example', async () => {
    const { code, out } = await bench.run('--help');
    expect(code).toBe(0);
    for (const { name, group, summary, example, hidden } of commandTable.rows) {
      const [first = '', below] = name.split(' ');
      if (hidden) expect(out).not.toContain(name);
      else
        expect(out.slice(out.indexOf(`${group}:`)), name).toMatch(
          new RegExp(`^  ${first} `, 'm'),
        );
      if (below !== undefined)
        expect((await bench.run(first, '--help')).out).toContain(`  ${below}`);
      const help = await bench.run(...name.split(' '), '--help');
      expect(help.code, name).toBe(0);
      expect(help.out, name).toContain(`Usage: untildone ${name}`);
      expect(help.out, name).toContain(`${summary}.`);
      expect(help.out, name).toContain(`\n  ${example}\n`);
      const folder = /^Docs: (.+)$/m.exec(help.out)?.[1] ?? '';
      const pages = [...help.out.matchAll(/docs\/([\w-]+\.md)/g)].map(([, page = '']) =>
        join(folder, page),
      );
      expect(
        pages.filter((page) => !existsSync(page)),
        name,
      ).toEqual([]);
      expect(existsSync(join(folder, 'README.md')), name).toBe(true);
    }
    expect((await bench.run('help', 'plan', 'show')).out).toContain(
      'Usage: untildone plan show',
    );
    expect((await bench.run('plan', '--help')).out).toContain(
      'Usage: untildone plan [options] [command]',
    );
  });

  it('first-use 19: the help of run lists the settings that act there as flags, in a group of their own', async () => {
    const { out } = await bench.run('run', '--help');
    const settings = out.slice(out.indexOf('\nSettings'));
    for (const flag of [
      '--max-cost N',
      '--max-tokens N',
      '--max-minutes N',
      '--max-continuations N',
    ])
      expect(settings).toContain(flag);
    expect(settings).toContain('--[no-]live-view');
    expect(settings, 'acts in OpenCode only').not.toContain('--countdown-seconds');
    expect(settings, 'an option of run').not.toContain('--model');
    expect(settings, 'only a file says that well').not.toMatch(
      /--(?:checks|prices|models) /u,
    );
  });

  it.each([['--version'], ['-V'], ['-v'], ['version']])(
    'first-use 20: %s prints the version',
    async (word) => {
      expect(await bench.run(word)).toEqual({ code: 0, out: '0.0.0-source\n', err: '' });
    },
  );

  it.each([
    [['statu'], "Unknown command 'statu'. Did you mean status?"],
    [['stat'], "Unknown command 'stat'. Did you mean status?"],
    [['rnu', 'x'], "Unknown command 'rnu'. Did you mean run?"],
    [['plan', 'shwo'], "Unknown command 'shwo'. Did you mean show?"],
    [['config', 'inti'], 'Expected 0 arguments but got 1: inti. Did you mean init?'],
    [['xyzzy\u001b[2J'], "Unknown command 'xyzzy'. See untildone --help."],
    [['check-runer'], "Unknown command 'check-runer'. See untildone --help."],
    [['fix the tests'], 'Did you mean: untildone run "fix the tests"\n'],
    [['fix', 'the', 'tests', '--auto'], 'Did you mean: untildone run "fix the tests"\n'],
    [["say `id` $(id) it's"], "Did you mean: untildone run 'say `id` $(id) it'\\''s'\n"],
    [['run', 'fix', 'the', 'tests'], 'Did you mean: untildone run "fix the tests"\n'],
    [['--jsno'], "Unknown option '--jsno'. See untildone --help."],
    [['status', '--al'], "Unknown option '--al'. Did you mean --all?"],
    [['status', '--jsno'], "Unknown option '--jsno'. Did you mean --json?"],
    [['status', '--colour'], "Unknown option '--colour'. See untildone status --help."],
    [['run', '--modle', 'x'], "Unknown option '--modle'. Did you mean --model?"],
    [['init', 'claude'], `Allowed choices are ${hostNames}. Did you mean claude-code?`],
    [['init', 'opncode'], 'Did you mean opencode?'],
    [['init', 'cluade'], 'Did you mean claude-code?'],
    [
      ['status', '--json=yes'],
      "Unknown option '--json=yes'. See untildone status --help.",
    ],
    [['pause', '--reason', '--json'], '--reason needs a value: --reason=TEXT.'],
    [
      ['status', 'a', 'b'],
      "Too many arguments for 'status'. Expected 1 argument but got 2: a, b. See untildone status --help.",
    ],
    [['status', '--limit', '0'], '--limit must be a whole number of at least 1.'],
    [['status', '--limit', '-1'], '--limit must be a whole number of at least 1.'],
    [['why', '--decision', 'last'], '--decision must be a whole number of at least 1.'],
    [
      ['gc', '--older-than', 'soon'],
      '--older-than must be a number with m, h, d or w, such as 30d.',
    ],
    [
      ['plan', 'import', '--session', 'alpha'],
      "Missing required argument 'FILE'. See untildone plan import --help.",
    ],
    [['ledger', 'verify', 'alpha', '--all'], 'Name a session or say --all, not both.'],
    [
      ['run', '', '--model=ollama/x'],
      'Say what is to be done: untildone run "migrate the tests to vitest".',
    ],
    [['run', '  \t', '--model=ollama/x'], 'Say what is to be done'],
    [
      ['run', 'x', '--goal-file', 'g.md'],
      'Say the goal, or name its file with --goal-file, not both.',
    ],
    [['run', '--goal-file', 'nowhere.md'], 'nowhere.md cannot be read (ENOENT).'],
    [['run', 'x', '--model', 'foo'], 'The model "foo" lacks its provider'],
    [
      ['run', 'x', '--model', 'anthropic'],
      '"anthropic" is a provider: name one of its models too, such as anthropic/claude',
    ],
    [
      ['config', '--max-stagnat=100'],
      "Unknown option '--max-stagnat=100'. Did you mean --max-stagnant?",
    ],
    [['completion'], "Missing required argument 'bash|zsh|fish|powershell'."],
    [['completion', 'tcsh'], 'Allowed choices are bash, zsh, fish, powershell.'],
    [['trust', 'lst'], 'Allowed choices are list, revoke. Did you mean list?'],
  ])('wrong usage %j is a sentence and exits 2', async (argv, sentence) => {
    const { code, out, err } = await bench.run(...argv);
    expect(err).toMatch(/^untildone: /u);
    expect(err).toContain(sentence);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });

  it('first-use 20: a group without a command shows its help on standard error and exits 2', async () => {
    const { code, out, err } = await bench.run('plan');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('  export  ');
  });

  it('an option may be repeated, follow the words, and leave out a value that it need not have', () => {
    const options = {
      check: { value: 'CMD', summary: '' },
      resume: { value: 'SESSION', optional: true, summary: '' },
      ...jsonOption,
    } as const;
    const command = {
      takes: '[goal]',
      about: [],
      options,
      run: async () => 0,
    } as const;
    const read = (...argv: string[]) => readArguments(command, argv);
    expect(read('do it', '--check', 'a b', '--check=-c').texts('check')).toEqual([
      'a b',
      '-c',
    ]);
    expect(read('--resume', '--json').text('resume')).toBe('');
    expect(read('--resume', '--json').has('json')).toBe(true);
    expect(read('--resume', 'abc').text('resume')).toBe('abc');
    expect(read('-').positional(0)).toBe('-');
    expect(read('--', '--json').positional(0)).toBe('--json');
    expect(read().text('check')).toBeNull();
    expect(() => read('--check')).toThrow('--check needs a value: --check=CMD.');
  });

  it('something unexpected is one sentence; UNTILDONE_DEBUG adds the stack', async () => {
    const broken = { stdout: { write: () => bang() } };
    const { code, err } = await bench.runWith(broken, '--help');
    expect(code).toBe(1);
    expect(err).toBe(
      'untildone: Something unexpected happened: bang (set UNTILDONE_DEBUG=1 for the stack)\n',
    );
    bench.env['UNTILDONE_DEBUG'] = '1';
    expect((await bench.runWith(broken, '--help')).err).toContain('at bang');
  });

  const needsMore = [
    'run',
    'demo',
    'plan import',
    'init',
    'mcp',
    'hook',
    'doctor',
    'completion',
    'check-runner',
  ];
  const looking = commandTable.rows.filter(({ name }) => !needsMore.includes(name));
  it.each(looking.map(({ name }) => [name]))(
    '%s creates no store where there is none',
    async (name) => {
      const words: Readonly<Record<string, readonly string[]>> = {
        say: ['hello'],
        'plan move': ['alpha', 'run'],
      };
      const extra = words[name] ?? [];
      const { code, out, err } = await bench.run(...name.split(' '), ...extra);
      expect(existsSync(join(bench.home, 'untildone.db'))).toBe(false);
      const says = `${out}${err}`;
      if (/^(?:config|permissions|trust)/u.test(name)) expect(code).toBe(0);
      else
        expect(says).toMatch(
          /no sessions yet|There are no sessions yet\.|Nothing to archive/,
        );
    },
  );
});

function bang(): never {
  throw new Error('bang\nsecond line');
}

describe('status', () => {
  it('C3, C4: shows plan, state, counters against limits, and the last decision with its reason', async () => {
    await addStagnantSession(bench);
    const { code, out } = await bench.run('status');
    expect(code).toBe(0);
    expect(linesOf(out)).toEqual([
      'alpha-0001  “Build the parser” · scripted · build · 5 s ago',
      '  plan     4 todos: 2 claimed, not checked · 1 blocked · 1 open',
      '  state    ended: stagnant',
      '  limits   3/3 without progress, 3/10 since a todo was finished, 4/500 since you last spoke',
      '  last     may stop: stagnant',
      '  because  No progress after 3 continuations.',
      '',
    ]);
  });

  it('C3: one session in detail names the next todo and what it waits for', async () => {
    const host = await bench.host({ sessionId: 'beta-0001', mode: 'told' });
    await host.open();
    await host.says('Clean up');
    await host.plans('Remove dead code');
    await host.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'p' },
    });
    await host.happens({
      type: 'wait-started',
      wait: {
        kind: 'background',
        job: { id: 'j', kind: 'shell', description: 'npm test' },
      },
    });
    await host.stops();
    const { out } = await bench.run('status', 'beta');
    expect(out).toContain('  state      waiting for your answer to a permission request');
    expect(out).toContain('  next       Remove dead code');
    expect(out).toContain('  waits for  1 permission request without an answer');
    expect(out).toContain('  waits for  background shell: npm test');
    expect(out).toContain(`  directory  ${bench.project}`);
  });

  it('C3: says in words that a countdown runs, and that a session is paused, latched or running', async () => {
    const host = await bench.host({ sessionId: 'gamma-0001', mode: 'told' });
    const state = async () =>
      (await bench.run('status')).out.match(/ {2}state +(.*)/)?.[1];
    await host.open();
    expect(await state()).toBe('idle: nothing was asked of it yet');
    await host.says('Clean up');
    await host.plans('Remove dead code');
    expect(await state()).toBe('running: turn 1');
    await host.stops();
    expect(await state()).toBe('counting down: the agent goes on, in 2 s');
    await bench.run('pause', '--reason', 'lunch');
    expect(await state()).toBe('paused by you: lunch');
    await bench.run('resume');
    await bench.run('stop');
    expect(await state()).toBe('stopped by you (untildone stop)');
    await host.happens({ type: 'session-deleted' });
    expect(await state()).toBe('deleted');
  });

  it('lists this directory only, newest first; --all lists all; --limit says that there is more', async () => {
    await addStagnantSession(bench, 'alpha-0001');
    await addStagnantSession(bench, 'alpha-0002');
    const elsewhere = await bench.host({
      sessionId: 'other-0001',
      descriptor: { directory: '/elsewhere' },
    });
    await elsewhere.open();
    const heads = (out: string) => out.match(/^\S+(?= {2}(?:“.*” · )?scripted)/gm);
    expect(heads((await bench.run('status')).out)).toEqual(['alpha-0002', 'alpha-0001']);
    expect(heads((await bench.run('status', '--all')).out)).toEqual([
      'other-0001',
      'alpha-0002',
      'alpha-0001',
    ]);
    expect((await bench.run('status', '--limit', '1')).out).toContain(
      'There are more: --limit 2 shows them.',
    );
    expect((await bench.runWith({ cwd: '/nowhere' }, 'status')).out).toBe(
      'no sessions yet here; --all shows those of other directories\n',
    );
    expect(
      (await bench.runWith({ cwd: join(bench.project, 'src') }, 'status')).out,
    ).toContain('alpha-0002');
  });

  it('--json is one document with the same facts', async () => {
    await addStagnantSession(bench);
    const { sessions, more } = JSON.parse((await bench.run('status', '--json')).out);
    expect(more).toBe(false);
    expect(sessions[0]).toMatchObject({
      id: 'alpha-0001',
      host: 'scripted',
      agent: 'build',
      state: { name: 'settled' },
      plan: { completed: 2, blocked: 1, pending: 1 },
      settled: { outcome: 'stagnant' },
      lastDecision: { sequence: 6, decision: { reason: 'stagnant' } },
    });
    expect(sessions[0].limits[0]).toMatchObject({
      name: 'maxStagnant',
      used: 3,
      limit: 3,
    });
  });
});

describe('naming a session', () => {
  it('a start of the id is enough; an unclear or unknown one gets the candidates and exits 1', async () => {
    await addStagnantSession(bench, 'alpha-0001');
    await addStagnantSession(bench, 'alpha-0002');
    expect((await bench.run('why', 'alpha-0001')).out).toMatch(/^alpha-0001/u);
    const unclear = await bench.run('why', 'alpha');
    expect(unclear).toMatchObject({ code: 1, out: '' });
    expect(unclear.err).toBe(
      'untildone: "alpha" is the start or the end of more than one session: alpha-0002 (“Build the parser”, scripted, 5 s ago), alpha-0001 (“Build the parser”, scripted, 35 s ago). Write more letters.\n',
    );
    const unknown = await bench.run('stop', 'omega');
    expect(unknown).toMatchObject({ code: 1, out: '' });
    expect(unknown.err).toContain(
      'No session has an id that starts or ends with "omega". The most recent ones are alpha-0002',
    );
  });

  it('without a name it is the most recent one of this directory that a human sees', async () => {
    await addStagnantSession(bench, 'alpha-0001');
    const subagent = await bench.host({
      sessionId: 'sub-0001',
      descriptor: { kind: 'subagent' },
    });
    await subagent.open();
    expect((await bench.run('why')).out).toMatch(/^alpha-0001/u);
    const nowhere = await bench.runWith({ cwd: '/nowhere' }, 'why');
    expect(nowhere.err).toContain('There is no session of this directory.');
  });
});

describe('pause, stop and resume', () => {
  it('G4: stop latches, and nothing is continued until resume, which leaves the counters alone', async () => {
    const host = await addStagnantSession(bench);
    await host.says('go on');
    await host.works();
    expect((await host.stops()).decision?.answer).toBe('continue');
    expect(await bench.run('stop')).toEqual({
      code: 0,
      out: 'Session alpha-0001 “Build the parser” is stopped. A message from you or `untildone resume` lifts that.\n',
      err: '',
    });
    expect((await host.stops()).decision).toMatchObject({
      answer: 'let-go',
      reason: 'aborted',
    });
    const resumed = await bench.run('resume');
    expect(resumed.out).toContain(
      'Session alpha-0001 “Build the parser” is resumed. Now: ',
    );
    const next = await host.stops();
    expect(next.decision?.answer).toBe('continue');
    expect(next.state.counters.total).toBe(2);
  });

  it('C3: pause holds through a message of the human, and is recorded with its reason', async () => {
    const host = await addStagnantSession(bench);
    await bench.run('pause', 'alpha', '--reason=lunch');
    await host.says('go on');
    expect((await host.stops()).decision).toMatchObject({
      reason: 'paused-by-human',
      inputs: { reason: 'lunch' },
    });
  });

  it('resume with nothing to lift changes nothing: a countdown goes on', async () => {
    const host = await bench.host({ sessionId: 'told-0001', mode: 'told' });
    await host.open();
    await host.says('Clean up');
    await host.plans('Remove dead code');
    const { state: session } = await host.stops();
    const { out } = await bench.run('resume');
    expect(out).toContain(
      'is neither paused nor stopped; nothing was changed. Now: counting down',
    );
    const store = await bench.store();
    expect(await store.state('told-0001')).toEqual(session);
  });

  it('an agent must not resume itself: a refusal is a sentence, exits 1 and changes nothing', async () => {
    const host = await addStagnantSession(bench);
    await bench.run('stop');
    const refused = await bench.runWith(
      { whyNoHuman: async () => 'Only a human may do this.' },
      'resume',
    );
    expect(refused).toEqual({
      code: 1,
      out: '',
      err: 'untildone: Only a human may do this.\n',
    });
    expect((await host.stops()).decision?.reason).toBe('aborted');
  });

  it('V1: a command runs no checks, and one that was not run has not failed', async () => {
    const host = await bench.host({ sessionId: 'alpha-0001' });
    await host.open();
    await host.says('Work');
    const items = [{ id: 't1', title: 'Checked', checks: ['unit'] }];
    await host.happens({ type: 'todos-created', actor: 'agent', items });
    // A short-lived hook left it in the inbox; the command folds it.
    const claim = {
      type: 'todo-completed',
      actor: 'agent',
      todoId: 't1',
      status: 'completed',
      outcome: 'done',
    } as const;
    await host.runtime.append({
      ...claim,
      id: 'claim',
      sessionId: 'alpha-0001',
      at: bench.clock.now(),
    });
    await bench.run('pause');
    expect((await bench.run('plan', 'show')).out).toContain(
      '[x] Checked  (claimed, to be checked by unit)',
    );
  });

  it('C3: a broken configuration does not keep the human from stopping an agent', async () => {
    await addStagnantSession(bench);
    writeFileSync(join(bench.project, 'untildone.json'), '{ "mode": "loud" }');
    expect((await bench.run('stop')).code).toBe(0);
    expect((await bench.run('status')).out).toContain('; stopped by you since ');
  });
});
