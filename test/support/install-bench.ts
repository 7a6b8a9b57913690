// For tests: a fresh home and a fresh project, `init` and `doctor` over them with
// stand-ins for the programs, and a picture of every file, to see what changed. It
// touches nothing outside its own temporary directory.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { createDoctor } from '../../src/cli/commands/doctor.ts';
import { createInit } from '../../src/cli/commands/init.ts';
import type { Io } from '../../src/cli/io.ts';
import { reportFailure } from '../../src/cli/print.ts';
import { readArguments } from '../../src/cli/program.ts';
import { createSimulatedClock } from '../../src/simulated/simulated-clock.ts';

export interface InstallBench {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly state: string;
  readonly env: Record<string, string | undefined>;
  init(...argv: string[]): Promise<Result>;
  /** As somebody at a terminal who answers the one question that is asked. */
  initAnswering(answer: string, ...argv: string[]): Promise<Result>;
  doctor(...argv: string[]): Promise<Result>;
  /** Runs as if in another folder. */
  initIn(cwd: string, ...argv: string[]): Promise<Result>;
  /** Writes a file below the root, with its folders. */
  write(path: string, text: string): string;
  read(path: string): string;
  /**
   * Every file of home and project with its content and mode; the state directory and
   * git's own files are left out.
   */
  picture(): Record<string, string>;
  /** Puts a program of this name on PATH that prints `text`. */
  addProgram(name: string, text: string): void;
  close(): void;
}

export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export function createInstallBench(options: {
  git: boolean;
  name?: string;
}): InstallBench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-install-')));
  const home = join(root, 'home');
  const project = join(root, options.name ?? 'project');
  const state = join(home, '.local', 'state', 'untildone');
  const shipped = join(root, 'dist');
  const programs = join(root, 'programs');
  for (const folder of [home, project, shipped, programs])
    mkdirSync(folder, { recursive: true });
  // As the real ones do, so that `doctor` finds them working: one makes a store, the
  // other answers a client.
  const makesStore =
    "const { mkdirSync, writeFileSync } = require('node:fs'); const home = process.env.UNTILDONE_HOME; if (home) { mkdirSync(home, { recursive: true }); writeFileSync(home + '/untildone.db', ''); }";
  writeFileSync(
    join(shipped, 'hook.js'),
    `${makesStore}\nconsole.log(JSON.stringify({ argv: process.argv.slice(2) }));\n`,
  );
  writeFileSync(
    join(shipped, 'host-commands.js'),
    'console.log(JSON.stringify({ serverInfo: {} }));\n',
  );
  writeFileSync(
    join(shipped, 'server.js'),
    "export default { id: 'untildone', server: async (input, options) => ({ loaded: [input, options] }) };\n",
  );
  writeFileSync(
    join(shipped, 'pi-extension.js'),
    'export default async (pi) => void pi.loaded();\n',
  );
  const env: Record<string, string | undefined> = {
    HOME: home,
    PATH: [programs, '/usr/bin', '/bin'].join(delimiter),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  if (options.git) execFileSync('git', ['init', '--quiet', project], { env });

  async function run(
    command: ReturnType<typeof createInit>,
    cwd: string,
    argv: readonly string[],
    isTTY = false,
  ): Promise<Result> {
    let out = '';
    let err = '';
    const io: Io = {
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      env,
      cwd,
      isTTY,
      clock: createSimulatedClock(),
      whyNoHuman: async () => null,
      agentAbove: async () => null,
      agentSessions: async () => [],
    };
    try {
      return { code: await command.run(readArguments(command, argv), io), out, err };
    } catch (error) {
      const code = reportFailure(error, io);
      return { code, out, err };
    }
  }

  return {
    root,
    home,
    project,
    state,
    env,
    init: (...argv) =>
      run(
        createInit(() => shipped),
        project,
        argv,
      ),
    async initAnswering(answer, ...argv) {
      const { stdin } = process;
      const terminal = Object.assign(new PassThrough(), { isTTY: true });
      Object.defineProperty(process, 'stdin', { value: terminal, configurable: true });
      terminal.write(`${answer}\n`);
      const init = createInit(() => shipped);
      try {
        return await run(init, project, argv, true);
      } finally {
        Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
      }
    },
    initIn: (cwd, ...argv) =>
      run(
        createInit(() => shipped),
        cwd,
        argv,
      ),
    doctor: (...argv) =>
      run(
        createDoctor(() => shipped),
        project,
        argv,
      ),
    write(path, text) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    picture: () =>
      Object.fromEntries([home, project].flatMap((folder) => pictureOf(folder, root))),
    addProgram(name, text) {
      writeFileSync(join(programs, name), `#!/bin/sh\necho '${text}'\n`);
      chmodSync(join(programs, name), 0o755);
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

function pictureOf(folder: string, root: string): [string, string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap(
    (entry): [string, string][] => {
      const path = join(entry.parentPath, entry.name);
      const shown = relative(root, path);
      const isGits = /\/\.git\//.test(path) && !path.endsWith('info/exclude');
      if (isGits || shown.startsWith(join('home', '.local'))) return [];
      if (entry.isDirectory()) return [[`${shown}/`, '']];
      return [
        [
          shown,
          `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'utf8')}`,
        ],
      ];
    },
  );
}
