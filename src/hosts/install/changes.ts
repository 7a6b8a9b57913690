// What files become by installing or uninstalling: worked out before anything is written, kept on record with the way back,
// and carried out all or none. A file that nobody edited since goes back byte for byte; else only what is ours is taken out.
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { errorCode, sha256 } from '../../engine/system.ts';
import * as files from './files.ts';
import { Refusal } from './files.ts';
import type { HostInstaller, InstallBasis, InstallLayout, InstallRequest, Scope } from './installer.ts';
import { applyJsonEdits, hasJsonPath, isPlainJson, type JsonEdit, removeJsonEdits } from './json-text.ts';

/** An edit adds; it never takes a person's own value away. `line`: of a plain text file. `whole`: a file that is ours. */
export type Edit = JsonEdit | { readonly kind: 'line' | 'whole'; readonly text: string };

export interface FileTarget {
  readonly path: string;
  readonly format: 'json' | 'lines' | 'whole';
  /** Nobody else writes into it: it goes as soon as nothing of ours is left in it. */
  readonly isOurs?: true;
  /** The host reads plain JSON only and ignores a file with comments as a whole. */
  readonly refusesComments?: true;
  /** Only its owner may read it, should it be made. */
  readonly isPrivate?: true;
  readonly edits: readonly Edit[];
}

/** Whose edits: a host, for the user (`project` null) or for one project, by its real path. */
export interface InstallIdentity {
  readonly host: string;
  readonly scope: Scope;
  readonly project: string | null;
}

interface Install extends InstallIdentity {
  readonly version: string;
  /** Only those that changed something: what a person had already is not ours. */
  readonly edits: readonly Edit[];
}

/** Kept per file in the state directory. One that is lost or damaged is as if it had never been. */
interface FileRecord {
  readonly path: string;
  /** The file without anything of ours; null: there was none. */
  readonly original: string | null;
  /** Of the text that we wrote last. */
  readonly writtenHash: string;
  /** Folders that we made for it, outermost first. */
  readonly folders: readonly string[];
  readonly installs: readonly Install[];
}

export interface FileChange {
  /** As the target names it; `path` is behind links. */
  readonly shownPath: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly isPrivate: boolean;
  readonly recordBefore: FileRecord | null;
  /** Null: nothing of ours is left in the file. */
  readonly recordAfter: FileRecord | null;
  readonly notes: readonly string[];
}

export type PlannedChanges =
  | { readonly ok: true; readonly layout: InstallLayout; readonly changes: readonly FileChange[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Everything that installing or uninstalling a host would change: if one file cannot be changed, none is. */
export function planChanges(
  installer: HostInstaller,
  request: InstallRequest,
  action: 'install' | 'uninstall',
): PlannedChanges {
  const layout = installer.layout(request);
  const { scope, version, stateDirectory } = request;
  const identity = { host: installer.name, scope, project: layout.project, version };
  const plan = action === 'install' ? planInstall : planUninstall;
  const changes: FileChange[] = [];
  const problems = layout.targets.flatMap((target) => {
    try {
      changes.push(plan(target, identity, stateDirectory));
      return [];
    } catch (error) {
      // Safe: a file that cannot be edited is left as it is, and the sentence says why.
      if (error instanceof Refusal) return [`${target.path} ${error.message}.`];
      throw error;
    }
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, layout, changes };
}

type Plan = (target: FileTarget, identity: Omit<Install, 'edits'>, stateDirectory: string) => FileChange;

/** Throws a Refusal. */
export const planInstall: Plan = (target, identity, stateDirectory) => {
  const file = files.readSettingsFile(target.path);
  const record = readRecord(stateDirectory, file.path);
  const { host } = identity;
  const isMine = (install: InstallIdentity) => isSameInstall(install, identity);
  const recorded = file.text === null ? [] : (record?.installs ?? []);
  const earlier = recorded.find(isMine);
  const installs = earlier === undefined ? [...recorded, { ...identity, edits: target.edits }] : recorded;
  // Nobody edited the file: it is made from the original once more, so that installing twice gives the same text.
  const isRebuilt = file.text === null || sha256(file.text) === record?.writtenHash;
  const original = file.text === null ? null : originalOf(file.text, record, target, host);
  const stale = (earlier?.edits ?? []).filter((old) => !target.edits.some((edit) => replaces(edit, old)));
  const start = isRebuilt ? (original ?? '') : removeEdits(file.text, stale, target, host, original);
  // What a person took out of an edited file of another install is not put back. Of whole texts the newest counts.
  const wanted =
    isRebuilt && target.format !== 'whole'
      ? installs.flatMap((install) => (isMine(install) ? target.edits : install.edits))
      : target.edits;
  const { text, kept } = applyEdits(start, wanted, target, host);
  const bare = original ?? '';
  const owned = target.edits.filter((edit) => applyEdits(bare, [edit], target, host).text !== bare);
  const installsAfter = installs
    .map((install) => (isMine(install) ? { ...identity, edits: owned } : install))
    .filter(({ edits }) => edits.length > 0);
  const folders = record?.original === null && file.text !== null ? record.folders : file.missingFolders;
  const after = { path: file.path, original, writtenHash: sha256(text), folders, installs: installsAfter };
  return {
    ...describeChange(target, file, text === '' && file.text === null ? null : text, record),
    recordAfter: installsAfter.length === 0 ? null : after,
    notes: notesOn(target, text, kept),
  };
};

/** The file without anything of ours: on record, or what is left of an edited one, or of one whose record is lost. */
function originalOf(
  text: string,
  record: FileRecord | null,
  target: FileTarget,
  host: string,
): string | null {
  if (sha256(text) === record?.writtenHash) return record.original;
  const edits = record?.installs.flatMap((install) => install.edits) ?? recognised(text, target, host);
  const bare = removeEdits(text, edits, target, host, record?.original);
  // A file that was made for us and holds nothing else is not a person's, whoever rewrote it since.
  return isBare(bare) && isMadeByUs(target, record) ? null : bare;
}

/** Equal, or put in the old one's very place. */
function replaces(edit: Edit, old: Edit): boolean {
  if (isDeepStrictEqual(edit, old)) return true;
  if (edit.kind !== old.kind) return false;
  const isSamePlace = 'path' in edit && 'path' in old && isDeepStrictEqual(edit.path, old.path);
  return edit.kind === 'whole' || (isSamePlace && isMark(edit));
}

/** Throws a Refusal. */
export const planUninstall: Plan = (target, identity, stateDirectory) => {
  const file = files.readSettingsFile(target.path);
  const record = readRecord(stateDirectory, file.path);
  const others = record?.installs.filter((install) => !isSameInstall(install, identity)) ?? [];
  const mine = record?.installs.find((install) => isSameInstall(install, identity));
  const after =
    file.text === null ? null : withoutInstall(file.text, record, mine, others, target, identity.host);
  const isOver = record === null || others.length === 0 || after === null;
  return {
    ...describeChange(target, file, after, record),
    recordAfter: isOver ? null : { ...record, writtenHash: sha256(after), installs: others },
    notes: [],
  };
};

function withoutInstall(
  text: string,
  record: FileRecord | null,
  mine: Install | undefined,
  others: readonly Install[],
  target: FileTarget,
  host: string,
): string | null {
  if (sha256(text) === record?.writtenHash) {
    const left = others.flatMap(({ edits }) => edits);
    return others.length === 0 ? record.original : applyEdits(record.original ?? '', left, target, host).text;
  }
  // Without a record, what we would add is taken out where our own mark shows that it was us who added it.
  const edits = mine?.edits ?? recognised(text, target, host);
  const left = removeEdits(text, edits, target, host, record?.original);
  return isBare(left) && isMadeByUs(target, record) && others.length === 0 ? null : left;
}

function describeChange(
  target: FileTarget,
  { path, text: before }: files.SettingsFile,
  after: string | null,
  recordBefore: FileRecord | null,
) {
  if (after !== before) files.assertWritable(path);
  return { shownPath: target.path, path, before, after, isPrivate: target.isPrivate === true, recordBefore };
}

function isBare(text: string): boolean {
  return /^\uFEFF?\s*(?:\{\s*\})?\s*$/.test(text);
}

function isMadeByUs({ isOurs }: FileTarget, record: FileRecord | null): boolean {
  return isOurs === true || record?.original === null;
}

/** The beginning of every file that is ours as a whole: one of that name that a person wrote is not touched. */
export const wholeFileMark = '// Written by untildone';

/** Throws a Refusal. */
export function applyEdits(
  text: string,
  edits: readonly Edit[],
  { format }: FileTarget,
  host: string,
): { readonly text: string; readonly kept: readonly JsonEdit[] } {
  if (format === 'json') return applyJsonEdits(text, edits as readonly JsonEdit[], host);
  const texts = edits.flatMap((edit) => ('text' in edit ? [edit.text] : []));
  if (format === 'lines') return { text: texts.reduce(withLine, text), kept: [] };
  if (text !== '' && !text.startsWith(wholeFileMark))
    throw new Refusal('is there already, and untildone did not write it');
  // Of several installs in one file the last one counts.
  return { text: texts.at(-1) ?? text, kept: [] };
}

function withLine(text: string, line: string): string {
  if (text.split('\n').some((one) => one.trimEnd() === line)) return text;
  const endOfLine = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' || text.endsWith('\n') ? '' : endOfLine;
  return `${text}${gap}${line}${endOfLine}`;
}

/** @param original what says whether an emptied object was there before us; undefined: nobody knows, and it goes */
function removeEdits(
  text: string,
  edits: readonly Edit[],
  { format }: FileTarget,
  host: string,
  original: string | null | undefined,
): string {
  if (format === 'json') {
    const wasThere = (path: readonly string[]) => typeof original === 'string' && hasJsonPath(original, path);
    return removeJsonEdits(text, edits as readonly JsonEdit[], host, (path) => !wasThere(path));
  }
  if (format === 'whole') return edits.length > 0 && text.startsWith(wholeFileMark) ? '' : text;
  const gone = new Set(edits.flatMap((edit) => ('text' in edit ? [edit.text] : [])));
  const lines = text.split(/(?<=\n)/).filter((line) => !gone.has(line.trimEnd()));
  return lines.join('');
}

/** What we would add, where our own mark in the file shows that it was us who added it; else nothing. */
function recognised(text: string, target: FileTarget, host: string): readonly Edit[] {
  const marks = target.isOurs ? target.edits : target.edits.filter(isMark);
  return removeEdits(text, marks, target, host, text) === text ? [] : target.edits;
}

/** A hook command, a key with our name, our package pinned: signs that no person would have written by chance. */
function isMark(edit: Edit): boolean {
  return edit.kind === 'hook' || edit.kind === 'package' || (edit.kind === 'member' && edit.named === true);
}

function notesOn({ path, refusesComments }: FileTarget, text: string, kept: readonly JsonEdit[]): string[] {
  const notes = kept.flatMap((edit) => {
    if (edit.kind !== 'member') return [];
    const name = edit.path.join('.');
    return [`${path} keeps its own value of "${name}"; ours would be ${JSON.stringify(edit.value)}.`];
  });
  if (!refusesComments || isPlainJson(text)) return notes;
  const ignored = `${path} has comments or trailing commas, and the host ignores such a file as a whole: take them out.`;
  return [...notes, ignored];
}

/** As `diff -u` prints it; null stands for a file that is not there. Empty: nothing changed. */
export function diffTexts(path: string, before: string | null, after: string | null): string[] {
  if (before === after) return [];
  const name = (text: string | null) => (text === null ? '/dev/null' : path);
  const texts = [name(before), name(after), before ?? '', after ?? ''] as const;
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  const patch = createTwoFilesPatch(...texts, undefined, undefined, options);
  const lines = patch.replaceAll('\n\\ No newline', '\\ No newline').split('\n');
  return lines.slice(0, -1).map((line) => line.replace(/\r$/, ''));
}

/** Null: done. Else a sentence, and every file is as it was. */
export function performChanges(changes: readonly FileChange[], stateDirectory: string): string | null {
  for (const [index, change] of changes.entries()) {
    const problem = performOne(change, stateDirectory);
    if (problem === null) continue;
    for (const done of changes.slice(0, index + 1).reverse()) undo(done, stateDirectory);
    return `${change.shownPath} ${problem}. Nothing was changed.`;
  }
  return null;
}

function performOne(change: FileChange, stateDirectory: string): string | null {
  const { path, before, after, recordBefore, recordAfter } = change;
  try {
    // Before the file, so that a crash between the two leaves a record that matches nothing, and uninstalling takes out
    // keys. A record that goes is kept until the file is back as it was.
    if (recordAfter !== null) saveRecord(stateDirectory, path, recordAfter);
  } catch (error) {
    // Safe: the file was not touched yet.
    return `cannot be changed, because its backup cannot be written to ${stateDirectory} (${errorCode(error)})`;
  }
  const problem = after === before ? null : files.replaceFile(change);
  if (problem !== null) return problem;
  if (after === null) removeEmptyFolders(recordBefore?.folders ?? []);
  if (recordAfter === null) saveRecord(stateDirectory, path, null);
  return null;
}

function undo(change: FileChange, stateDirectory: string): void {
  const { path, before, after, recordBefore, recordAfter } = change;
  // Of the one that failed nothing was written; then the text is not `after`, and this does nothing.
  if (after !== before) files.replaceFile({ ...change, before: after, after: before });
  if (before === null) removeEmptyFolders(recordAfter?.folders ?? []);
  try {
    saveRecord(stateDirectory, path, recordBefore);
  } catch {
    // Safe: a record that does not match its file only means that uninstalling goes by what it recognises.
  }
}

/** Outermost first; a folder in which something is left stays. */
function removeEmptyFolders(folders: readonly string[]): void {
  try {
    for (const folder of folders.toReversed()) rmdirSync(folder);
  } catch {
    // Safe: somebody put something into it, or took it away first; those above it stay too.
  }
}

function isSameInstall(one: InstallIdentity, other: InstallIdentity): boolean {
  return one.host === other.host && one.scope === other.scope && one.project === other.project;
}

function recordFolder(stateDirectory: string, path: string): string {
  return join(stateDirectory, 'installs', sha256(path).slice(0, 32));
}

/** Beside the record, under a name that a person would look for. */
export function backupPath(stateDirectory: string, path: string): string {
  return join(recordFolder(stateDirectory, path), 'original');
}

export function readRecord(stateDirectory: string, path: string): FileRecord | null {
  return readRecordFolder(recordFolder(stateDirectory, path));
}

export function readRecords(stateDirectory: string): FileRecord[] {
  const root = join(stateDirectory, 'installs');
  const names = existsSync(root) ? readdirSync(root) : [];
  return names.flatMap((name) => readRecordFolder(join(root, name)) ?? []);
}

/** Every install on this machine that is on record, each once. */
export function recordedInstalls(stateDirectory: string): InstallIdentity[] {
  const all: InstallIdentity[] = readRecords(stateDirectory).flatMap(({ installs }) => installs);
  return all.filter((one, index) => all.findIndex((other) => isSameInstall(one, other)) === index);
}

function readRecordFolder(folder: string): FileRecord | null {
  try {
    const { format, hasOriginal, ...record } = JSON.parse(readFileSync(join(folder, 'record.json'), 'utf8'));
    if (format !== 1 || !Array.isArray(record.installs)) return null;
    return { ...record, original: hasOriginal ? readFileSync(join(folder, 'original'), 'utf8') : null };
  } catch {
    // Safe: without a record only what is recognised as ours is taken out.
    return null;
  }
}

/** Null: it goes. The original first: a record must never point to a backup that is not there. */
function saveRecord(stateDirectory: string, path: string, saved: FileRecord | null): void {
  const folder = recordFolder(stateDirectory, path);
  if (saved === null) {
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  const { original, ...record } = saved;
  if (original === null) rmSync(join(folder, 'original'), { force: true });
  else files.writeOwn(join(folder, 'original'), original);
  const text = JSON.stringify({ format: 1, hasOriginal: original !== null, ...record });
  files.writeOwn(join(folder, 'record.json'), `${text}\n`);
}

/**
 * After the store got a layout that older programs refuse: puts those of this version in the place of every copy, which
 * sessions that run already go on calling, and lets the files of recorded installs name the new ones. What it did, in
 * sentences for people; empty: nothing of another version was installed.
 */
export function renewInstalledPrograms(
  installers: readonly HostInstaller[],
  basis: InstallBasis,
  shipped: string,
): string[] {
  const { stateDirectory, version, home } = basis;
  const bin = join(stateDirectory, 'bin');
  const versions = existsSync(bin) ? readdirSync(bin).filter((name) => /^\d/.test(name)) : [];
  if (versions.every((name) => name === version)) return [];
  const programs = [...new Set(installers.flatMap((installer) => installer.programs))];
  const incomplete = files.whyNotShipped(shipped, programs);
  if (incomplete !== null) return [`The programs that hosts start cannot be renewed. ${incomplete}`];
  for (const folder of new Set([...versions, version])) {
    const copied = programs.filter((name) => folder === version || existsSync(join(bin, folder, name)));
    files.copyPrograms(shipped, copied, join(bin, folder));
  }
  const renewed = recordedInstalls(stateDirectory).flatMap(({ host, scope, project }) => {
    const installer = installers.find(({ name }) => name === host);
    const cwd = project ?? home;
    if (installer === undefined || !existsSync(cwd)) return [];
    const plan = planChanges(installer, { ...basis, cwd, scope }, 'install');
    // Where the host's folders are elsewhere today, what was never installed there is not.
    const changes = plan.ok ? plan.changes.filter(({ recordBefore }) => recordBefore !== null) : [];
    const problem = plan.ok ? performChanges(changes, stateDirectory) : plan.problems.join(' ');
    if (problem !== null) return [`${installer.title} still names the old ones in ${cwd}: ${problem}`];
    const changed = changes.filter(({ before, after }) => before !== after);
    return changed.map(({ shownPath }) => `${shownPath} names them.`);
  });
  const sentence = `The store has a new layout, which older programs refuse: those that hosts start in ${bin} were renewed to ${version}.`;
  return [sentence, ...renewed];
}
