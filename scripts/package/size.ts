// What the package takes on a user's disk, by its parts. It fails above the most that we
// allow ourselves: nobody looks at the size of a package again once it has grown.
// Usage: node scripts/package/size.ts, after a build.
import { execFileSync } from 'node:child_process';

const mostBytes = 6_000_000;

const [{ files, unpackedSize }] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: new URL('../..', import.meta.url),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
) as [{ files: readonly { path: string; size: number }[]; unpackedSize: number }];

/** The folders that say something; a file of dist/ by itself if it is large. */
const parts = /^(?:dist\/(?:types|chunks|plugin|[\w-]+\.c?js\b)|docs|examples)/;
const sizes = new Map<string, number>();
for (const { path, size } of files) {
  const part = parts.exec(path)?.[0] ?? 'the rest';
  sizes.set(part, (sizes.get(part) ?? 0) + size);
}
const kilobytes = (bytes: number) => `${Math.round(bytes / 1000)} kB`.padStart(8);
for (const [part, size] of [...sizes].sort(([, one], [, other]) => other - one))
  if (size > 50_000) console.log(`${kilobytes(size)}  ${part}`);
console.log(
  `${kilobytes(unpackedSize)}  in ${files.length} files, at most ${kilobytes(mostBytes).trim()}`,
);
if (unpackedSize > mostBytes) {
  console.error(
    'The package has grown too large: find what was added, or what is in it twice.',
  );
  process.exitCode = 1;
}
