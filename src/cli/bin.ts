#!/usr/bin/env node
// What `untildone` starts: it looks at the Node it runs on, and only then imports the
// program. It must parse on every Node that knows modules: old syntax, no top-level
// await, no import at the top.

/** The build writes it in; a run from source has no published version. */
declare const UNTILDONE_VERSION: string | undefined;
declare const FILE_OF_COMMAND:
  | { readonly [word: string]: readonly [file: string, kept: string] }
  | undefined;

const parts = process.versions.node.split('.').map(Number);
const major = parts[0] || 0;
const minor = parts[1] || 0;

if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(
    `untildone needs Node 22.13 or newer, and this is ${process.versions.node}: install a newer one (npm install --global node@24) and try again.\n`,
  );
  process.exitCode = 2;
} else if (
  process.argv.length === 3 &&
  /^(?:--version|-V|-v|version)$/.test(process.argv[2] || '')
) {
  // Answered here, because it must cost no more than Node itself.
  process.stdout.write(
    `${typeof UNTILDONE_VERSION === 'string' ? UNTILDONE_VERSION : '0.0.0-source'}\n`,
  );
} else {
  // The build puts all commands into one file, and the most frequent ones into another:
  // one file loads faster than many.
  const files = typeof FILE_OF_COMMAND === 'undefined' ? null : FILE_OF_COMMAND;
  const word = process.argv[2] || '--help';
  // Any other word is a mistake, so its compiled code is not kept.
  const fileAndCache =
    files &&
    ((Object.hasOwn(files, word) && files[word]) || (['./commands.cjs', ''] as const));
  import('../store/state-directory.ts')
    .then(({ useCompiledCode }) => useCompiledCode(process.env))
    // Safe: the cache only makes the start faster.
    .catch(() => null)
    .then((folder) =>
      fileAndCache
        ? import('./warm-start.ts').then(({ startWarm }) =>
            startWarm(
              new URL(fileAndCache[0], import.meta.url),
              fileAndCache[1] ? folder : null,
              fileAndCache[1],
            ),
          )
        : import('./main.ts'),
    )
    .then(({ main }: { main(argv: string[]): Promise<number> }) =>
      main(process.argv.slice(2)),
    )
    .then((exitCode: number) => {
      process.exitCode = exitCode;
    });
}
