// What the built command and the library cost to start, beside a bare `node -e 0`, all in turns within one run: wall time (medians) and
// processor time (means; it swings less where other work runs). It judges nothing.
// Usage: npm run bench:start [-- RUNS]
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from '../../test/support/prefix-share.ts';

const runs = Number(process.argv[2] ?? 21);
const program = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const library = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-start-')));
const project = join(scratch, 'project');
mkdirSync(join(project, '.git'), { recursive: true });
writeFileSync(join(project, 'PLAN.md'), '# Release\n\n- [ ] Write the parser\n- [x] Test it\n');
const env = {
  PATH: process.env['PATH'],
  HOME: join(scratch, 'home'),
  UNTILDONE_HOME: join(scratch, 'state'),
};

function start(words: readonly string[], expected = 0): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, words, {
    cwd: project,
    env,
    input: '',
    encoding: 'utf8',
  });
  if (status !== expected) throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - began;
}

/** Of the processes that were waited for, in milliseconds; Linux counts in hundredths of a second. */
function processorTime(): number {
  const text = readFileSync('/proc/self/stat', 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

const kinds: Readonly<Record<string, readonly string[]>> = {
  'node -e 0': ['-e', '0'],
  "import 'untildone'": ['--input-type=module', '-e', `import ${JSON.stringify(library)}`],
  '--version': [program, '--version'],
  '--help': [program, '--help'],
  status: [program, 'status'],
  'run --help': [program, 'run', '--help'],
  hook: [program, 'hook', 'claude-code'],
  'Tab after "run --"': [program, 'complete', '--', 'run', '--'],
};

/** The file and all that it imports before it runs. */
function loadedWith(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|\} from) ?"(\.[^"]+)"/gm))
    loadedWith(join(dirname(file), path), found);
  return found;
}

try {
  start([program, 'plan', 'import', 'PLAN.md']);
  // The first start of each fills the caches of the system.
  for (const words of Object.values(kinds)) start(words);
  const times = new Map(Object.keys(kinds).map((name) => [name, { wall: [] as number[], processor: 0 }]));
  for (let index = 0; index < runs; index += 1) {
    for (const [name, { wall, ...rest }] of times) {
      const before = processorTime();
      wall.push(start(kinds[name] ?? []));
      times.set(name, { wall, processor: rest.processor + processorTime() - before });
    }
  }
  const bare = times.get('node -e 0');
  console.log(`to the end of the process, ${runs} runs each:`);
  for (const [name, { wall, processor }] of times) {
    const [middle, base] = [median(wall) ?? 0, median(bare?.wall ?? []) ?? 1];
    console.log(
      `  ${name.padEnd(20)} ${middle.toFixed(0).padStart(4)} ms, ${(middle / base).toFixed(2)} of bare Node;` +
        ` processor ${(processor / runs).toFixed(0).padStart(4)} ms, ${(processor / (bare?.processor || 1)).toFixed(2)}`,
    );
  }
  const files = [...loadedWith(library)];
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  console.log(
    `import 'untildone' loads ${files.length} files, ${Math.round(bytes / 1024)} kB, none of the command line`,
  );
  if (files.some((file) => readFileSync(file, 'utf8').includes('// src/cli/'))) process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
