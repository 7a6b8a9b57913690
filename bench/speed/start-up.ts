// What the built command costs to start, beside a bare `node -e 0`. The benchmark
// `library` does the same for the library.
// Usage: npm run bench -- start [RUNS]
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printTimes, start } from './start-times.ts';

const runs = Number(process.argv[2] ?? 21);
const program = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-start-')));
const project = join(scratch, 'project');
mkdirSync(join(project, '.git'), { recursive: true });
writeFileSync(
  join(project, 'PLAN.md'),
  '# Release\n\n- [ ] Write the parser\n- [x] Test it\n',
);
const env = {
  PATH: process.env['PATH'],
  HOME: join(scratch, 'home'),
  UNTILDONE_HOME: join(scratch, 'state'),
};

const kinds: Readonly<Record<string, readonly string[]>> = {
  'node -e 0': ['-e', '0'],
  '--version': [program, '--version'],
  '--help': [program, '--help'],
  status: [program, 'status'],
  'run --help': [program, 'run', '--help'],
  hook: [program, 'hook', 'claude-code'],
  'Tab after "run --"': [program, 'complete', '--', 'run', '--'],
};

try {
  start([program, 'plan', 'import', 'PLAN.md'], { cwd: project, env });
  printTimes(kinds, runs, { cwd: project, env });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
