// `npm start`: builds without a word, unless that fails, and plays the demo.
import { spawnSync } from 'node:child_process';

const at = (path: string) => new URL(path, import.meta.url);

process.stdout.write('Building, which takes a moment ...\n');
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [at('build.ts').pathname],
  {
    encoding: 'utf8',
  },
);
if (status === 0) {
  process.argv.splice(2, 0, 'demo');
  await import(at('../../dist/bin.js').href);
} else {
  process.stderr.write(`${stdout}${stderr}`);
  process.exitCode = 1;
}
