// Remembers, per file, what it was before `init` and what was added, in the state directory: the way back. A record
// that is lost or damaged is as if it had never been: uninstalling then goes by what it recognises in the file.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../engine/make-folder.ts';
import type { Edit } from './edit.ts';
import { hashText } from './settings-file.ts';

/** Whose edits: a host, for the user or for one project. */
export interface InstallIdentity {
  readonly host: string;
  readonly scope: Scope;
  /** Real path of the project; null: the user's own. */
  readonly project: string | null;
}

export type Scope = 'project' | 'shared' | 'user';

export interface Install extends InstallIdentity {
  readonly version: string;
  /** Only those that changed something: what a person had already is not ours. */
  readonly edits: readonly Edit[];
}

export interface FileRecord {
  readonly path: string;
  /** The file without anything of ours; null: there was none. */
  readonly original: string | null;
  /** Of the text that we wrote last. */
  readonly writtenHash: string;
  /** Folders that we made for it, outermost first. */
  readonly folders: readonly string[];
  readonly installs: readonly Install[];
}

const recordName = 'record.json';
/** Beside the record, under a name that a person would look for. */
const backupName = 'original';

export function isSameInstall(one: InstallIdentity, other: InstallIdentity): boolean {
  return one.host === other.host && one.scope === other.scope && one.project === other.project;
}

export function backupPath(stateDirectory: string, path: string): string {
  return join(folderOf(stateDirectory, path), backupName);
}

export function readRecord(stateDirectory: string, path: string): FileRecord | null {
  return readRecordFolder(folderOf(stateDirectory, path));
}

export function readRecords(stateDirectory: string): FileRecord[] {
  try {
    const root = recordsFolder(stateDirectory);
    return readdirSync(root).flatMap((name) => readRecordFolder(join(root, name)) ?? []);
  } catch {
    // Safe: there is no such folder, so nothing is on record.
    return [];
  }
}

/** The original first: a record must never point to a backup that is not there. */
export function saveRecord(stateDirectory: string, { original, ...record }: FileRecord): void {
  const folder = folderOf(stateDirectory, record.path);
  // What is kept may hold what the person's file holds: keys and tokens.
  makeFolder(folder, 0o700);
  if (original === null) rmSync(join(folder, backupName), { force: true });
  else put(folder, backupName, original);
  put(folder, recordName, `${JSON.stringify({ format: 1, hasOriginal: original !== null, ...record })}\n`);
}

export function dropRecord(stateDirectory: string, path: string): void {
  rmSync(folderOf(stateDirectory, path), { recursive: true, force: true });
}

function put(folder: string, name: string, text: string): void {
  const temporary = join(folder, `${name}.${process.pid}.tmp`);
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, join(folder, name));
}

function readRecordFolder(folder: string): FileRecord | null {
  try {
    const { format, hasOriginal, ...record } = JSON.parse(readFileSync(join(folder, recordName), 'utf8'));
    if (format !== 1 || !Array.isArray(record.installs)) return null;
    return { ...record, original: hasOriginal ? readFileSync(join(folder, backupName), 'utf8') : null };
  } catch {
    // Safe: see above; without a record only what is recognised as ours is taken out.
    return null;
  }
}

function folderOf(stateDirectory: string, path: string): string {
  return join(recordsFolder(stateDirectory), hashText(path).slice(0, 32));
}

function recordsFolder(stateDirectory: string): string {
  return join(stateDirectory, 'installs');
}
