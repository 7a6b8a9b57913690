// Loads a file that the build makes for some commands, with the code that an earlier
// start compiled. Node's own cache lacks every function that is compiled at its first
// call: for `run`, half of its start. Without a cache everything is compiled again.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import type { Io } from './io.ts';

type Program = typeof import('./main.ts');

/**
 * By then the first request is on its way. V8 later throws away code that only the start
 * needs.
 */
const keepAfterMs = 5000;
const checksumBytes = 8;

/**
 * Loads the program at `url`. `folder`: where compiled code may be kept under `name`;
 * null: nowhere.
 */
export function startWarm(url: URL, folder: string | null, name = ''): Program {
  const file = fileURLToPath(url);
  const source = readFileSync(file);
  // Bun produces no cache.
  const isKept = folder !== null && process.versions['bun'] === undefined;
  const cacheFile = isKept ? join(folder, `${name}-${process.version}`) : null;
  const code = cacheFile === null ? undefined : readCode(cacheFile, source);
  const script = new Script(source.toString('latin1'), {
    filename: file,
    cachedData: code,
  });
  const program = script.runInThisContext() as (
    module: { exports: Program },
    require: (name: string) => unknown,
    load: (name: string) => Promise<unknown>,
    href: string,
    folder: string,
  ) => void;
  const module = { exports: {} as Program };
  const builtin = (name: string) => process.getBuiltinModule(name);
  // If the script imported by itself, Node would warn about an experiment.
  const load = (name: string) =>
    import(name.startsWith('.') ? new URL(name, url).href : name);
  program(module, builtin, load, url.href, dirname(file));
  const { main } = module.exports;
  if (cacheFile === null || (code !== undefined && script.cachedDataRejected === false))
    return module.exports;

  let isWritten = false;
  const keepCode = (): void => {
    if (!isWritten) writeCode(cacheFile, source, script.createCachedData());
    isWritten = true;
  };
  setTimeout(keepCode, keepAfterMs).unref();
  return { ...module.exports, main: (argv) => main(argv).finally(keepCode) };
}

/** In the file with the quick commands, this replaces renew-programs.ts. */
export async function renewPrograms(io: Io): Promise<void> {
  const allCommands = new URL('../../commands.cjs', import.meta.url);
  // A copy that a host started has no files to renew others from.
  if (existsSync(allCommands)) await startWarm(allCommands, null).renewPrograms(io);
}

/**
 * V8 checks its own version and flags, but notices neither another source of the same
 * length nor damage.
 */
function checksums(source: Buffer, code: Buffer): Buffer {
  const bytes = Buffer.alloc(checksumBytes);
  bytes.writeUInt32LE(crc32(source), 0);
  bytes.writeUInt32LE(crc32(code), 4);
  return bytes;
}

function readCode(cacheFile: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(cacheFile);
    const code = bytes.subarray(checksumBytes);
    return bytes.subarray(0, checksumBytes).equals(checksums(source, code))
      ? code
      : undefined;
  } catch {
    // Safe: there is no cache yet.
    return undefined;
  }
}

function writeCode(cacheFile: string, source: Buffer, code: Buffer): void {
  const temporaryFile = `${cacheFile}.${process.pid}`;
  try {
    writeFileSync(temporaryFile, Buffer.concat([checksums(source, code), code]), {
      mode: 0o600,
    });
    renameSync(temporaryFile, cacheFile);
  } catch {
    // Safe: the next start compiles again.
  }
}
