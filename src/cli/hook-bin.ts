// What hosts start: `hook.js <host> [--tools=PREFIX]`, one JSON object on stdout and exit code 0, whatever happens.
// This is the little that Node compiles anew at each call. All else lies behind it as text and comes out of Node's
// cache of compiled code. No `import` and no top-level await is left in the file: a copy of it has no package.json
// beside it, and Node would read it twice to find out that it is a module.
import { existsSync, writeSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { stateDirectory } from '../store/state-directory.ts';

start().catch(() => {
  // Safe: the file was taken away or damaged while it started. The agent goes on as if we were not there.
  writeSync(1, '{}\n');
  process.exit(0);
});

async function start(): Promise<void> {
  useCompiledCode();
  const { main } = await import('./hook-main-late.ts');
  await main(process.argv.slice(2));
}

/** Beside the programs, so that it goes with them; the folder of the state itself is made private by who writes it. */
function useCompiledCode(): void {
  const state = stateDirectory(process.env);
  if (existsSync(state)) enableCompileCache(join(state, 'bin', 'compiled'));
}
