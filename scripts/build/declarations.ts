// The declarations that users get. Those of two entries name types of packages that only
// test/frameworks installs, so they are kept in declarations/ and copied, and a build
// needs no framework. `npm run chores -- declarations` writes them; the tests of the
// frameworks compare.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFrameworks } from '../package/install-frameworks.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const kept = join(import.meta.dirname, 'declarations');
/** Below `kept`, and below the folder of all declarations. */
export const keptDeclarations = [
  'frameworks/langchain/index.d.ts',
  'frameworks/openai-agents/index.d.ts',
];

function compile(project: string, folder: string): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const words = ['-p', join(root, project), '--outDir', folder];
  execFileSync(process.execPath, [compiler, ...words], { stdio: 'inherit' });
}

export function writeDeclarations(folder: string): void {
  compile('tsconfig.build.json', folder);
  for (const file of keptDeclarations) cpSync(join(kept, file), join(folder, file));
}

/** Calls `take` with the folder of what the compiler says now, until it returns. */
export function compileKeptDeclarations(take: (folder: string) => void): void {
  installFrameworks();
  const folder = mkdtempSync(join(tmpdir(), 'untildone-types-'));
  try {
    compile('scripts/build/declarations/tsconfig.json', folder);
    take(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  compileKeptDeclarations((folder) => {
    for (const file of keptDeclarations) cpSync(join(folder, file), join(kept, file));
  });
