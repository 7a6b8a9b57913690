// `npm run examples`: runs the programs in examples/ one after the other, after a build.
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installFrameworks } from '../package/install-frameworks.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Its SDK brings a large program, so test/hosts/claude-agent-sdk runs it. */
const elsewhere = 'examples/10-claude-agent-sdk.ts';
/** What it leaves behind the first time is what it shows the second time. */
const twice = 'examples/03-durable-plan.ts';

export const runExamples = globSync('examples/*.ts', { cwd: root })
  .sort()
  .filter((file) => file !== elsewhere)
  .flatMap((file) => (file === twice ? [file, file] : [file]));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  installFrameworks();
  for (const file of runExamples)
    execFileSync(process.execPath, ['--no-warnings', file], {
      cwd: root,
      stdio: 'inherit',
    });
}
