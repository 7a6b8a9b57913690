// What the library costs a program that imports it, from the built package: the files
// that Node loads, the size of a bundle that somebody else makes of it, and its start
// beside a bare Node, with and without a session in memory. It judges nothing;
// test/library-load.test.ts does.
// Usage: npm run bench -- library [RUNS]
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { entries } from '../../scripts/build/entries.ts';
import { installFrameworks } from '../../scripts/package/install-frameworks.ts';
import { filesBelow, loadedModules } from '../../test/support/loaded-modules.ts';
import { printTimes } from './start-times.ts';

const runs = Number(process.argv[2] ?? 21);
const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-library-')));
const project = join(scratch, 'project');
mkdirSync(project);
const place = {
  cwd: project,
  env: {
    PATH: process.env['PATH'],
    HOME: scratch,
    UNTILDONE_HOME: join(scratch, 'state'),
  },
};

const entry = (name: string) => JSON.stringify(join(dist, `${name}.js`));
const imported = `import { openSession } from ${entry('index')};`;
const opened = `${imported}
const session = await openSession({ goal: 'Build it.', store: ':memory:' });
await session.close();`;
const kilobytes = (bytes: number) => `${Math.round(bytes / 1024)} kB`;

function printFiles(name: string, program: string): void {
  const files = filesBelow(dist, loadedModules(program, place));
  const bytes = files.reduce((sum, file) => sum + statSync(join(dist, file)).size, 0);
  console.log(
    `  ${name.padEnd(28)} ${String(files.length).padStart(2)} files, ${kilobytes(bytes).padStart(6)}`,
  );
}

/** As a program that uses this much of it is bundled; packages stay with their user. */
async function printBundle(name: string, contents: string): Promise<void> {
  const stdin = { contents, resolveDir: root };
  const options = {
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'error',
  } as const;
  const { outputFiles } = await build({
    ...options,
    stdin,
    minify: true,
    write: false,
    treeShaking: true,
  });
  const bytes = Buffer.concat(outputFiles.map((file) => file.contents));
  console.log(
    `  ${name.padEnd(28)} ${kilobytes(bytes.length).padStart(6)} minified, ${kilobytes(gzipSync(bytes).length)} with gzip`,
  );
}

installFrameworks();
try {
  console.log('what Node loads of this package (not minified):');
  printFiles('import { openSession }', imported);
  printFiles('a session in memory', opened);
  const others = entries.filter(
    ({ group, output }) => group === 'library' && output !== 'index',
  );
  for (const { output } of others)
    printFiles(`untildone/${output}`, `await import(${entry(output)});`);
  console.log('as a part of somebody’s bundle (esbuild):');
  await printBundle('import { openSession }', `${imported} console.log(openSession);`);
  await printBundle(
    'import { decide }',
    `import { decide } from ${entry('index')}; console.log(decide);`,
  );
  const program = (text: string) => [
    '--no-warnings',
    '--input-type=module',
    '--eval',
    text,
  ];
  const kinds = {
    node: program(''),
    'import { openSession }': program(imported),
    'a session in memory': program(opened),
  };
  printTimes(kinds, runs, place);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
