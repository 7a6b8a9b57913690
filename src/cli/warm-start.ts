// Loads one of the files that the build makes for some commands alone, with the code that
// an earlier start compiled. Node's own cache is written before a file runs, so that it
// lacks every function that is compiled when it is first called: for `run` that is half
// of what it does until its first request. It fails open: without what is kept, all is
// compiled anew.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import type { Io } from './io.ts';

type Program = typeof import('./main.ts');

/**
 * By then the first request is on its way. Much later V8 would have thrown code away that
 * only the start needs.
 */
const keepAfterMs = 5000;
const checksumBytes = 8;

/** `folder`: where compiled code may be kept, by this name; null: nowhere. */
export function startWarm(url: URL, folder: string | null, name = ''): Program {
  const file = fileURLToPath(url);
  const source = readFileSync(file);
  // Bun gives nothing that could be kept.
  const isKept = folder !== null && process.versions['bun'] === undefined;
  const kept = isKept ? join(folder, `${name}-${process.version}`) : null;
  const code = kept === null ? undefined : readCode(kept, source);
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
  // Where a script imports by itself, Node prints a warning about an experiment.
  const load = (name: string) =>
    import(name.startsWith('.') ? new URL(name, url).href : name);
  program(module, builtin, load, url.href, dirname(file));
  const { main } = module.exports;
  if (kept === null || (code !== undefined && script.cachedDataRejected === false))
    return module.exports;

  let isWritten = false;
  const keep = (): void => {
    if (!isWritten) writeCode(kept, source, script.createCachedData());
    isWritten = true;
  };
  setTimeout(keep, keepAfterMs).unref();
  return { ...module.exports, main: (argv) => main(argv).finally(keep) };
}

/** In the file with the quick commands this stands for renew-programs.ts. */
export async function renewPrograms(io: Io): Promise<void> {
  const all = new URL('../../commands.cjs', import.meta.url);
  // A copy that a host started has nothing to renew others from.
  if (existsSync(all)) await startWarm(all, null).renewPrograms(io);
}

/**
 * V8 knows its own version and flags, and sees neither another source of the same length
 * nor damage.
 */
function checksums(source: Buffer, code: Buffer): Buffer {
  const bytes = Buffer.alloc(checksumBytes);
  bytes.writeUInt32LE(crc32(source), 0);
  bytes.writeUInt32LE(crc32(code), 4);
  return bytes;
}

function readCode(kept: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(kept);
    const code = bytes.subarray(checksumBytes);
    return bytes.subarray(0, checksumBytes).equals(checksums(source, code))
      ? code
      : undefined;
  } catch {
    // Safe: there is none yet.
    return undefined;
  }
}

function writeCode(kept: string, source: Buffer, code: Buffer): void {
  const own = `${kept}.${process.pid}`;
  try {
    writeFileSync(own, Buffer.concat([checksums(source, code), code]), { mode: 0o600 });
    renameSync(own, kept);
  } catch {
    // Safe: the next start compiles anew.
  }
}
