// The built program as people meet it: its help at the widths of terminals, completion in
// a real shell, goals from standard input, and what waits for another program.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundle, groups } from '../scripts/build/bundle.ts';
import { quickCommands } from '../scripts/build/entries.ts';
import { commandTable } from '../src/cli/command-table.ts';
import { hosts } from '../src/hosts/hosts.ts';
import { copyPrograms } from '../src/hosts/install/files.ts';
import {
  type ScriptedModel,
  say,
  script,
  startScriptedModel,
} from '../src/scripted-model/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-command-line-')));
const program = join(scratch, 'package/dist/bin.js');
const project = join(scratch, 'project');
let model: ScriptedModel;
// Each test starts programs, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });

beforeAll(async () => {
  mkdirSync(join(project, '.git'), { recursive: true });
  for (const group of groups) await bundle(group, join(scratch, 'package/dist'));
  for (const name of ['package.json', 'docs'])
    symlinkSync(join(root, name), join(scratch, 'package', name));
  mkdirSync(join(scratch, 'bin'));
  writeFileSync(
    join(scratch, 'bin/untildone'),
    `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`,
    {
      mode: 0o755,
    },
  );
  model = await startScriptedModel({ scripts: [script('hello', [say('Hello.')])] });
}, 60_000);

afterAll(async () => {
  await model.close();
  rmSync(scratch, { recursive: true, force: true });
});

function environment() {
  return {
    PATH: `${join(scratch, 'bin')}:${process.env['PATH']}`,
    HOME: join(scratch, 'home'),
    UNTILDONE_HOME: join(scratch, 'state'),
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'sk-command-line-0123456789',
    TERM: 'xterm-256color',
  };
}

/** The scripted model answers from this process, so that nothing may hold it up. */
async function shell(
  line: string,
  input: 'ignore' | 'pipe' = 'ignore',
  until: string | null = null,
) {
  const child = spawn('bash', ['-c', line], {
    cwd: project,
    env: environment(),
    stdio: [input, 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (part) => {
    stdout += part;
    if (until !== null && stdout.includes(until)) child.stdin?.end();
  });
  child.stderr?.setEncoding('utf8').on('data', (part) => {
    stderr += part;
  });
  const status = await new Promise<number | null>((resolve) =>
    child.on('close', resolve),
  );
  return { status, stdout, stderr };
}

/** As somebody at a terminal of this width sees it. */
async function onTerminal(columns: number, command: string): Promise<string[]> {
  const { stdout } = await shell(
    `script -qec 'stty cols ${columns}; ${command}' /dev/null </dev/null`,
  );
  return stdout.replaceAll('\r', '').split('\n');
}

const plain = stripVTControlCharacters;

const hostNames = hosts.map(({ name }) => name);

describe('first-use 18: help fits the terminal', () => {
  const names = commandTable.rows.filter(({ hidden }) => !hidden).map(({ name }) => name);

  it.each([60, 80, 200])(
    'at %i columns no line is wider, no word is broken, and what follows hangs below its column',
    async (columns) => {
      for (const name of ['', 'run', 'config', 'approve', 'plan', 'completion']) {
        const lines = (await onTerminal(columns, `untildone ${name} --help`)).map(plain);
        const wide = lines.filter(
          (line) => line.length > columns && !line.startsWith('Docs: '),
        );
        expect(wide, name).toEqual([]);
        const text = lines.join(' ').replaceAll(/\s+/gu, ' ');
        const wider = (await onTerminal(400, `untildone ${name} --help`))
          .map(plain)
          .join(' ')
          .replaceAll(/\s+/gu, ' ');
        expect(text, name).toBe(wider);
      }
      const options = (await onTerminal(columns, 'untildone run --help')).map(plain);
      const check = options.findIndex((line) => line.startsWith('  --check CMD'));
      const column = options[check]?.indexOf('A shell line') ?? 0;
      expect(column).toBeGreaterThan(10);
      if (columns < 200)
        expect(options[check + 1]).toMatch(new RegExp(`^ {${column}}\\S`, 'u'));
    },
  );

  it('headings are bold on a terminal, and nothing is in a pipe', async () => {
    expect((await onTerminal(80, 'untildone --help')).join('\n')).toContain(
      '\u001b[1mSet up:\u001b[22m',
    );
    expect((await shell('untildone --help')).stdout).not.toContain('\u001b');
  });

  it('lists the groups in order, and every command in its own', async () => {
    const help = (await shell('untildone --help')).stdout;
    const places = [
      ...new Set(commandTable.rows.map(({ group }) => help.indexOf(`\n${group}:\n`))),
    ];
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(Math.min(...places)).toBeGreaterThan(0);
    for (const name of names)
      expect(help, name).toMatch(new RegExp(`^ {2}${name.split(' ')[0]} `, 'mu'));
  });
});

describe('first-use 19: completion', () => {
  const answers = async (line: string): Promise<string[]> =>
    (await shell(`untildone complete -- ${line}`)).stdout
      .split('\n')
      .filter((row) => row !== '' && !row.startsWith(':'))
      .map((row) => row.split('\t')[0] ?? '');

  it('knows commands, those below them, options, settings and words', async () => {
    expect(await answers('st')).toEqual(['status', 'stop']);
    expect(await answers('plan ""')).toEqual(['show', 'log', 'import', 'export', 'move']);
    expect(await answers('status --')).toEqual([
      '--all',
      '--limit',
      '--exit-code',
      '--json',
      '--help',
    ]);
    expect(await answers('run --max-c')).toEqual(['--max-continuations', '--max-cost']);
    expect(await answers('plan move 8e34db ""')).toEqual([...hostNames, 'run']);
    expect(await answers('init ""')).toEqual(hostNames);
    expect(await answers('run --mode ""')).toEqual(['off', 'observe', 'enforce']);
    expect(await answers('check')).toEqual([]);
  });

  it('leaves the names of files to the shell', async () => {
    for (const line of ['run --plan ""', 'plan import ""'])
      expect((await shell(`untildone complete -- ${line}`)).stdout, line).toBe(':0\n');
  });

  it.each(['bash', 'zsh', 'fish', 'powershell'])(
    'has a script for %s that asks the program',
    async (name) => {
      const { status, stdout } = await shell(`untildone completion ${name}`);
      expect(status).toBe(0);
      expect(stdout).toMatch(/untildone complete '?--/u);
    },
  );

  it('bash completes a command by it', async () => {
    const ask = [
      'source <(untildone completion bash)',
      // As `. ~/.bashrc` does.
      'source <(untildone completion bash)',
      'COMP_WORDS=(untildone trans); COMP_CWORD=1; COMP_LINE="untildone trans"; COMP_POINT=15',
      '$(complete -p untildone | sed "s/.*-F \\([^ ]*\\).*/\\1/")',
      'printf "%s\\n" "$COMPREPLY"',
    ].join('\n');
    const { stdout: out, stderr } = await shell(ask);
    expect(out.trim()).toMatch(/^transcript\b/u);
    expect(stderr).not.toContain('readonly');
  });
});

describe('first-use 21: a goal from elsewhere', () => {
  const goalOf = ({ stdout }: { stdout: string }) => /» goal: (.*)/u.exec(stdout)?.[1];

  it.each([
    ['echo "say hello" | untildone run - --model openai/hello'],
    ['echo "say hello" | untildone run --model openai/hello'],
    [
      'echo "say hello" > goal.txt; untildone run --goal-file goal.txt --model openai/hello </dev/null',
    ],
    ['echo "say hello" > goal.txt; untildone run --model openai/hello < goal.txt'],
  ])('%s', async (line) => {
    const ended = await shell(line);
    expect(goalOf(ended), ended.stderr).toBe('say hello');
    expect(ended.status).toBe(3);
  });

  it('what is piped beside a goal, or nothing, changes nothing', async () => {
    expect(
      goalOf(await shell('echo other | untildone run "say hello" --model openai/hello')),
    ).toBe('say hello');
    for (const line of [
      'untildone run --model openai/hello </dev/null',
      ': | untildone run --model openai/hello',
    ]) {
      const { status, stderr } = await shell(line);
      expect(stderr).toContain('Say what is to be done');
      expect(status).toBe(2);
    }
  });

  it('a pipe that stays open and says nothing is not waited for', async () => {
    const { status, stderr } = await shell(
      'exec untildone run --model openai/hello',
      'pipe',
    );
    expect(stderr).toContain('Say what is to be done');
    expect(status).toBe(2);
  });

  it('what is no text or too long is refused with a sentence', async () => {
    expect(
      await shell('head -c 9 /dev/zero | untildone run - --model openai/hello'),
    ).toMatchObject({
      status: 2,
      stderr: 'untildone: What came on standard input is no text.\n',
    });
    const long = await shell(
      'head -c 300000 /dev/zero | tr "\\0" x | untildone run - --model openai/hello',
    );
    expect(long.stderr).toContain('is longer than 200 kB');
    expect(long.status).toBe(2);
  });
});

describe('first-use 30: what other programs start', () => {
  it.each([
    ['mcp', 'Waiting for a client that speaks MCP'],
    ['hook claude-code', 'Waiting for one hook call'],
  ])('%s typed at a terminal says what it waits for', async (command, sentence) => {
    const { stdout } = await shell(
      `script -qec 'untildone ${command}' /dev/null`,
      'pipe',
      sentence,
    );
    expect(stdout).toContain(sentence);
  });

  it.each([
    ['hook'],
    ['hook nobody --no-such-option=1 a b c'],
    ['hook claude-code --timeout'],
    ['hook -- --'],
  ])('%s answers {} and exits with 0, and says nothing', async (command) => {
    expect(await shell(`echo '{}' | untildone ${command}`)).toEqual({
      status: 0,
      stdout: '{}\n',
      stderr: '',
    });
  });

  it.each(['--version', '-V', '-v', 'version'])('%s prints the version', async (word) => {
    expect((await shell(`untildone ${word}`)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/u);
  });
});

describe('commands that are asked for often', () => {
  it.each(quickCommands.words)(
    '%s is in the quick file, and works there',
    async (name) => {
      const { status, stdout, stderr } = await shell(`untildone ${name} --help`);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain(`Usage: untildone ${name}`);
    },
  );

  it('status answers from it, which has no more than it needs; other commands are in the file of all', async () => {
    expect((await shell('untildone status --json')).stdout).toMatch(/^\{"sessions":\[/u);
    expect((await shell('untildone plan show --help')).status).toBe(0);
    expect(statSync(join(scratch, 'package/dist', quickCommands.file)).size).toBeLessThan(
      420_000,
    );
  });

  it.each(['run', 'demo', 'doctor', 'config', 'mcp'])(
    '%s shows its help in every way',
    async (name) => {
      for (const line of [`untildone ${name} --help`, `untildone help ${name}`])
        expect((await shell(line)).stdout).toContain(`Usage: untildone ${name}`);
      expect((await shell(`untildone complete -- ${name} --`)).stdout).toContain('--');
    },
  );

  it.each([
    ['of models', 'anthropic-beta', 'commands.cjs'],
    ['of MCP', 'notifications/tools/list_changed', 'plugin/programs/mcp-package.js'],
    ['that draws', 'react.fragment', 'live-view.js'],
  ])('the code %s is installed once', (_, words, only) => {
    const files = readdirSync(join(scratch, 'package/dist'), {
      recursive: true,
      encoding: 'utf8',
    });
    const holds = (file: string) =>
      readFileSync(join(scratch, 'package/dist', file), 'utf8').includes(words);
    expect(files.filter((file) => /\.c?js$/u.test(file)).filter(holds)).toEqual([only]);
  });

  it('Must hold 3: run draws its view on a terminal, from a file that is loaded late', async () => {
    const lines = await onTerminal(80, 'untildone run "Say hello." --model openai/hello');
    const shown = lines.join('\n');
    expect(shown).toContain('Hello.');
    expect(shown).not.toContain('could not be opened');
    // Only the view hides the cursor.
    expect(shown).toContain('\u001b[?25l');
  });
});

describe('what hosts start', () => {
  const copied = join(scratch, 'copied');
  const programs = join(scratch, 'package/dist/plugin/programs');
  const start = `"${process.execPath}" "${join(copied, 'host-commands.js')}"`;

  it('works from a copy: commands, the MCP server and the plugins', async () => {
    copyPrograms(programs, ['host-commands.js', 'server.js', 'pi-extension.js'], copied);
    expect((await shell(`${start} status --json`)).stdout).toMatch(/^\{"sessions":\[/u);
    const clientInfo = { name: 'test client', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    expect((await shell(`echo '${call}' | ${start} mcp`)).stdout).toContain(
      '"serverInfo":{"name":"untildone"',
    );
    for (const name of ['server.js', 'pi-extension.js'])
      expect(await import(join(copied, name)), name).toHaveProperty('default');
  });
});

describe('Must hold 3: what a start compiled is kept for the next', () => {
  const folder = join(scratch, 'state/bin/compiled');
  const kept = join(folder, `quick-${process.version}`);
  const status = async () => {
    const { status, stdout, stderr } = await shell('untildone status --json');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^\{"sessions":\[/u);
  };

  beforeAll(() => mkdirSync(join(scratch, 'state'), { recursive: true, mode: 0o700 }));

  it('for its owner alone, and is not written again while it is good', async () => {
    await status();
    const { mode, ino } = statSync(kept);
    expect(mode & 0o777).toBe(0o600);
    await status();
    expect(statSync(kept).ino).toBe(ino);
  });

  it('V10: damaged code, or that of another file, is not believed but replaced', async () => {
    await status();
    const good = readFileSync(kept);
    for (const place of [0, good.length >> 1]) {
      const bytes = Buffer.from(good);
      bytes.fill(0x5a, place, place + 4);
      writeFileSync(kept, bytes);
      await status();
      expect(readFileSync(kept).equals(bytes)).toBe(false);
    }
  });

  it('V10: not where others can write, and not in the project', async () => {
    for (const [home, mode] of [
      ['others', 0o777],
      ['project/.untildone', 0o700],
    ] as const) {
      mkdirSync(join(scratch, home), { mode });
      chmodSync(join(scratch, home), mode);
      await shell(`UNTILDONE_HOME='${join(scratch, home)}' untildone status`);
      expect(existsSync(join(scratch, home, 'bin')), home).toBe(false);
    }
  });

  it('and a run draws its view without a warning of Node', async () => {
    const run = 'untildone run \\"say hello\\" --model openai/hello';
    const { stdout } = await shell(`script -qec "${run}" /dev/null`);
    expect(stdout).toContain('outcome: claimed');
    expect(stdout).not.toContain('Warning');
  });

  it('and is done without where it cannot be kept', async () => {
    rmSync(join(scratch, 'state/bin'), { recursive: true, force: true });
    writeFileSync(join(scratch, 'state/bin'), 'no folder');
    await status();
    rmSync(join(scratch, 'state/bin'));
  });
});
