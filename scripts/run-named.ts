// `npm run SCRIPT -- NAME …` starts a program of named-programs.ts, from anywhere in the
// repository. Without a name it lists what there is.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { closestName } from '../src/core/problem.ts';
import { type NamedProgram, namedPrograms } from './named-programs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** How a script is typed, and one line for each of its programs. */
function listOf(
  script: string,
  programs: Readonly<Record<string, NamedProgram>>,
): string {
  const rows = Object.entries(programs).map(
    ([name, { takes, about }]) => [[name, takes ?? ''].join(' ').trim(), about] as const,
  );
  const width = Math.max(...rows.map(([typed]) => typed.length));
  const lines = rows.map(([typed, about]) => `  ${typed.padEnd(width)}  ${about}`);
  return [`npm run ${script} -- NAME …`, ...lines, ''].join('\n');
}

/** Exit code of what Node ran. */
function runNode(given: readonly string[]): number {
  const node = ['--no-warnings', ...given];
  return spawnSync(process.execPath, node, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

function start({ first, runs }: NamedProgram, given: readonly string[]): number {
  const failed = first === undefined ? 0 : runNode([first]);
  return failed || runNode([...runs, ...given]);
}

const [script = '', name, ...given] = process.argv.slice(2);
const programs = namedPrograms[script];
if (programs === undefined)
  throw new Error(`named-programs.ts has no table "${script}".`);
const program =
  name !== undefined && Object.hasOwn(programs, name) ? programs[name] : undefined;
if (program !== undefined) {
  process.exitCode = start(program, given);
} else if (name === undefined) {
  process.stdout.write(listOf(script, programs));
} else {
  const closest = closestName(name, Object.keys(programs));
  const meant = closest === null ? '' : ` Did you mean ${closest}?`;
  process.stderr.write(`There is no "${name}".${meant}\n\n${listOf(script, programs)}`);
  process.exitCode = 2;
}
