// Installs and uninstalls: plans all changes first, records them with the way back, and
// makes all of them or none. It puts a file that nobody edited since back byte for byte;
// from an edited file it removes only what is ours.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorCode, sha256 } from '../../engine/system.ts';
import { whyNotPrivate } from '../../store/state-directory.ts';
import * as files from './files.ts';
import type { HostInstaller, InstallBasis, InstallRequest, Scope } from './installer.ts';
import * as json from './json-text.ts';
import * as toml from './toml-text.ts';

/**
 * One addition to a file; it never removes a person's own value. `line`: a line of plain
 * text. `whole`: the whole file is ours.
 */
export type Edit =
  | json.JsonEdit
  | toml.TomlEdit
  | { readonly kind: 'line' | 'whole'; readonly text: string };

/**
 * The first line of a file that is wholly ours, as a comment of its language. A file of
 * that name without this line is not touched.
 */
export const wholeFileComment = (sign: '//' | '#', host: string) =>
  `${sign} Written by untildone (untildone init ${host}); untildone init ${host} --uninstall takes it away.`;
const isWhollyOurs = (text: string) => /^(?:\/\/|#) Written by untildone/u.test(text);

/**
 * Gives the text with the edit; unchanged if the edit, or a person's own value, is there
 * already. Throws a Refusal.
 */
export function applyEdit(text: string, edit: Edit, host: string): string {
  if (edit.kind === 'table') return toml.applyToml(text, edit);
  if ('path' in edit) return json.applyJson(text, edit, host);
  if (edit.kind === 'line') {
    if (text.split('\n').some((line) => line.trimEnd() === edit.text)) return text;
    const endOfLine = json.endOfLineIn(text);
    return `${text}${/[^\n]$/.test(text) ? endOfLine : ''}${edit.text}${endOfLine}`;
  }
  if (text === '' || isWhollyOurs(text)) return edit.text;
  throw new files.Refusal('is there already, and untildone did not write it');
}

function removeEdit(
  text: string,
  edit: Edit,
  host: string,
  mayEmpty: (path: readonly string[]) => boolean,
) {
  if (edit.kind === 'table') return toml.removeToml(text, edit, mayEmpty);
  if ('path' in edit) return json.removeJson(text, edit, host, mayEmpty);
  if (edit.kind === 'whole') return isWhollyOurs(text) ? '' : text;
  const lines = text.split(/(?<=\n)/);
  return lines.filter((line) => line.trimEnd() !== edit.text).join('');
}

const valueIn = (text: string, edit: Edit, path: readonly string[]) =>
  edit.kind === 'table' ? toml.valueAt(text, path) : json.valueAt(text, path);

/** Whether an edit marks its text as ours: no person would have written it by chance. */
const isMark = (edit: Edit) =>
  ['hook', 'package', 'whole'].includes(edit.kind) || 'named' in edit;

function takesPlaceOf(edit: Edit, old: Edit): boolean {
  const [place, oldPlace] = [edit, old].map((one) => [
    one.kind,
    'path' in one ? one.path : null,
  ]);
  return (
    isDeepStrictEqual(edit, old) || (isMark(edit) && isDeepStrictEqual(place, oldPlace))
  );
}

/** A file of a host, and what shall be in it. */
export type FileTarget = Readonly<{
  path: string;
  /** Set: the file is removed when nothing of ours is left in it. */
  isOurs?: true;
  refusesComments?: true;
  isPrivate?: boolean;
  edits: readonly Edit[];
}>;

/** Names an install. `project`: its real path; null: the install is for the user. */
export type InstallIdentity = Readonly<{
  host: string;
  scope: Scope;
  project: string | null;
}>;
type Install = InstallIdentity & { readonly edits: readonly Edit[] };
export type Action = 'install' | 'uninstall';

/**
 * What we remember of a file, in the state directory. A damaged record counts as none.
 */
type FileRecord = Readonly<{
  /** The file without anything of ours; null: there was no file. */
  original: string | null;
  writtenHash: string;
  /** The folders that we made, outermost first. */
  folders: readonly string[];
  installs: readonly Install[];
}>;

/** What an earlier change of the same command will leave. */
type Earlier = Readonly<{
  path: string;
  after: string | null;
  recordAfter: FileRecord | null;
}>;

/**
 * Plans all changes for one host. Touches nothing; `problems`: why a file cannot be
 * changed.
 */
export function planChanges(
  installer: HostInstaller,
  request: InstallRequest,
  action: Action,
  earlier: readonly Earlier[] = [],
) {
  const { scope, stateDirectory } = request;
  const survey = installer.survey(request);
  const { targets, notes = [] } = survey.layout(scope);
  const project = scope === 'user' ? null : survey.project;
  const owner = { host: installer.name, scope, project };
  const plans = targets.map((target) => {
    const plan = () => planChange(target, owner, stateDirectory, action, earlier);
    return files.unlessRefused(plan, (why) => `${target.path} ${why}.`);
  });
  const problems = plans.filter((plan) => typeof plan === 'string');
  const changes = plans.filter((plan) => typeof plan !== 'string');
  if (problems.length > 0) return { ok: false, problems } as const;
  // The notes of a layout are true of an install only.
  const said = action === 'install' ? notes : [];
  return {
    ok: true,
    project,
    changes,
    notes: [said, ...changes.map((one) => one.notes)].flat(),
  } as const;
}

/** A host with the changes that are planned for it. */
export type PlannedHost = Readonly<{ installer: HostInstaller }> &
  Omit<Extract<ReturnType<typeof planChanges>, { ok: true }>, 'ok'>;

/**
 * Changes the files of all hosts or of none; `problems` say why nothing was changed.
 * Programs are copied before files name them. `isDry`: only plans. `left`: installs that
 * are still there elsewhere. `keepsCopies`: an install copied programs before it failed,
 * and they are still there.
 */
export function changeHosts(
  installers: readonly HostInstaller[],
  request: InstallRequest,
  action: Action,
  { shipped, isDry }: Readonly<{ shipped: () => string; isDry: boolean }>,
) {
  const { stateDirectory, version } = request;
  const programs = [...new Set(installers.flatMap((installer) => installer.programs))];
  const folder = files.programsFolder(stateDirectory, version);
  const isInstall = action === 'install';
  const wrong = isInstall
    ? (files.whyNotShipped(shipped(), programs) ?? whyNotPrivate(stateDirectory))
    : null;
  const planned: PlannedHost[] = [];
  const changesSoFar = () => planned.flatMap(({ changes }) => changes);
  const problems = new Set(wrong === null ? [] : [wrong]);
  // Each plan builds on those before it, because hosts share files, such as git's list of
  // files to ignore.
  for (const installer of wrong === null ? installers : []) {
    const plan = planChanges(installer, request, action, changesSoFar());
    if (plan.ok) planned.push({ installer, ...plan });
    else for (const problem of plan.problems) problems.add(problem);
  }
  const done = { planned, programs, folder, left: [], keepsCopies: false };
  if (problems.size > 0 || isDry) return { ...done, problems: [...problems] };
  const isNew = !existsSync(folder);
  let hasCopied = false;
  const failed = (problem: string) => {
    // The folder is removed only if no other install names it, also none that runs at the
    // same time.
    if (isNew && recordedInstalls(stateDirectory).length === 0)
      files.removePrograms(stateDirectory, folder);
    return { ...done, problems: [problem], keepsCopies: hasCopied && existsSync(folder) };
  };
  try {
    if (isInstall) hasCopied = files.copyPrograms(shipped(), programs, folder);
  } catch (error) {
    // Safe: no file of a host was touched yet.
    const why = `The programs cannot be copied to ${stateDirectory} (${errorCode(error)})`;
    return failed(`${why}: set UNTILDONE_HOME to a directory that you can write.`);
  }
  const problem = performChanges(changesSoFar());
  if (problem !== null) return failed(problem);
  const left = isInstall ? [] : recordedInstalls(stateDirectory);
  if (!isInstall && left.length === 0) files.removePrograms(stateDirectory);
  return { ...done, left, problems: [] };
}

export type FileChange = ReturnType<typeof planChange>;
/**
 * Plans the change of one file, with the edits of all installs in it. Throws a Refusal.
 * @param earlier changes of the same command
 */
export function planChange(
  target: FileTarget,
  owner: InstallIdentity,
  stateDirectory: string,
  action: Action,
  earlier: readonly Earlier[] = [],
) {
  const file = files.readSettingsFile(target.path);
  const { path } = file;
  const backup = join(
    recordsFolder(stateDirectory),
    sha256(path).slice(0, 32),
    'original',
  );
  const last = earlier.findLast((change) => change.path === path);
  const before = last ? last.after : file.text;
  const recordBefore = last ? last.recordAfter : readRecord(dirname(backup));
  // If a person deleted the file, its former text is not put back.
  const record = before === null ? null : recordBefore;
  const recorded = record?.installs ?? [];
  const mine = recorded.find((install) => isSameInstall(install, owner));
  const installsWith = (edits: readonly Edit[]): readonly Install[] => {
    const next = { ...owner, edits };
    const all =
      mine === undefined
        ? [...recorded, next]
        : recorded.map((one) => (one === mine ? next : one));
    return all.filter((install) => install.edits.length > 0);
  };
  const apply = (text: string, edit: Edit) => applyEdit(text, edit, owner.host);
  const remove = (text: string, edit: Edit) => {
    const mayEmpty = (place: readonly string[]) =>
      valueIn(record?.original ?? '', edit, place) === undefined;
    return removeEdit(text, edit, owner.host, mayEmpty);
  };
  const editsOf = (installs: readonly Install[]) =>
    installs.flatMap((install) => install.edits);
  const edits = action === 'install' ? target.edits : [];
  const wanted = editsOf(installsWith(edits));
  const isUnedited = before === null || sha256(before) === record?.writtenHash;
  // Only edited files are searched for our edits, because that is slow in large files.
  const current = isUnedited ? '' : before;
  // Without a record, our marks show whether the other edits are ours too.
  const marks = target.isOurs ? target.edits : target.edits.filter(isMark);
  const recognised = marks.reduce(remove, current) === current ? [] : target.edits;
  const rest = (record === null ? recognised : editsOf(recorded)).reduce(remove, current);
  // A file that we made and that holds nothing else is not a person's, whichever program
  // rewrote it.
  const isMadeByUs = target.isOurs || record?.original === null;
  const left = isMadeByUs && /^\s*(\{\s*\})?\s*$/.test(rest) ? null : rest;
  const stale = (mine?.edits ?? recognised).filter(
    (old) => !wanted.some((edit) => takesPlaceOf(edit, old)),
  );
  const original = isUnedited ? (record?.original ?? null) : left;
  // All edits are there already, wherever a person or the host has moved them.
  const isThere =
    action === 'install' &&
    stale.length === 0 &&
    edits.reduce(apply, before ?? '') === before;
  // An unedited file is written anew, so that a second install gives the same text; of
  // whole texts the newest counts. In an edited file, what a person removed of another
  // install stays removed.
  const anew = () => [...wanted, ...edits].reduce(apply, original ?? '');
  const edited = () => edits.reduce(apply, stale.reduce(remove, current));
  const changed = isUnedited ? anew : edited;
  const text = isUnedited && isThere ? before : changed();
  const bare = original ?? '';
  const installs = installsWith(edits.filter((edit) => apply(bare, edit) !== bare));
  const folders = record?.folders ?? file.missingFolders;
  const recordAfter: FileRecord = {
    original,
    writtenHash: sha256(text),
    folders,
    installs,
  };
  const after = installs.length === 0 ? original : text;
  if (after !== before) files.assertWritable(file);
  return {
    /** The path as the target names it; `path` has links resolved. */
    shownPath: target.path,
    path,
    before,
    after,
    /** The copy of the file without us; its record is beside it. */
    backup,
    recordBefore,
    isPrivate: target.isPrivate === true,
    recordAfter: installs.length === 0 ? null : recordAfter,
    notes: action === 'install' ? notesOn(target, text) : [],
  };
}

const isSameInstall = (one: InstallIdentity, other: InstallIdentity) =>
  one.host === other.host && one.scope === other.scope && one.project === other.project;

const tomlMembers = ({ path, value }: toml.TomlEdit) =>
  Object.entries(value).map(([key, one]) => [[...path, key], one] as const);

function notesOn({ path, refusesComments, edits }: FileTarget, text: string): string[] {
  const notes = edits.flatMap((edit) => {
    if (edit.kind !== 'member' && edit.kind !== 'table') return [];
    const values =
      edit.kind === 'member' ? [[edit.path, edit.value] as const] : tomlMembers(edit);
    const kept = values.filter(
      ([place, value]) => !isDeepStrictEqual(valueIn(text, edit, place), value),
    );
    return kept.map(
      ([place, value]) =>
        `${path} keeps its own value of "${place.join('.')}"; ours would be ${JSON.stringify(value)}.`,
    );
  });
  if (!refusesComments || json.parsePlain(text) !== undefined) return notes;
  const ignored = `${path} has comments or trailing commas, and the host ignores such a file as a whole: take them out.`;
  return [...notes, ignored];
}

/** Makes all changes; null: done. Else gives the reason, and every file is as it was. */
export function performChanges(changes: readonly FileChange[]): string | null {
  for (const [index, change] of changes.entries()) {
    const problem = perform(change);
    if (problem === null) continue;
    for (const done of changes.slice(0, index + 1).reverse()) undo(done);
    return `${change.shownPath} ${problem}.`;
  }
  return null;
}

function perform(change: FileChange): string | null {
  const { before, after, backup, recordBefore, recordAfter } = change;
  try {
    // The record is written before the file: after a crash between the two it fits
    // nothing, and uninstalling goes by keys.
    if (recordAfter !== null) saveRecord(change, recordAfter);
  } catch (error) {
    // Safe: the file was not touched yet.
    return `cannot be changed, because its backup cannot be written to ${backup} (${errorCode(error)})`;
  }
  const problem = after === before ? null : files.replaceSettingsFile(change);
  if (problem !== null) return problem;
  if (after === null) files.removeEmptyFolders(recordBefore?.folders ?? []);
  if (recordAfter === null) saveRecord(change, null);
  return null;
}

/**
 * Takes a change back. If the change failed, only its record goes back: the file does not
 * hold what we wanted to write.
 */
function undo(change: FileChange) {
  const { before, after, recordBefore, recordAfter } = change;
  if (after !== before)
    files.replaceSettingsFile({ ...change, before: after, after: before });
  if (before === null) files.removeEmptyFolders(recordAfter?.folders ?? []);
  // If the record cannot be written, uninstalling goes by keys.
  files.askOr(undefined, () => saveRecord(change, recordBefore));
}

const recordsFolder = (stateDirectory: string) => join(stateDirectory, 'installs');

function readRecord(folder: string): FileRecord | null {
  return files.askOr(null, () => {
    const { format, hasOriginal, ...record } = JSON.parse(
      readFileSync(join(folder, 'record.json'), 'utf8'),
    );
    if (format !== 1 || !Array.isArray(record.installs)) return null;
    return {
      ...record,
      original: hasOriginal ? readFileSync(join(folder, 'original'), 'utf8') : null,
    };
  });
}

function saveRecord({ path, backup }: FileChange, record: FileRecord | null) {
  const folder = dirname(backup);
  if (record === null) return rmSync(folder, { recursive: true, force: true });
  const { original, ...rest } = record;
  // The backup is written first: no record may name one that is not there.
  if (original === null) rmSync(backup, { force: true });
  else files.writeOwn(backup, original);
  const text = JSON.stringify({
    format: 1,
    path,
    hasOriginal: original !== null,
    ...rest,
  });
  files.writeOwn(join(folder, 'record.json'), `${text}\n`);
}

/** All installs that have a record. */
export function recordedInstalls(stateDirectory: string): InstallIdentity[] {
  const root = recordsFolder(stateDirectory);
  const names = files.askOr<string[]>([], () => readdirSync(root));
  const all = names.flatMap((name) => readRecord(join(root, name))?.installs ?? []);
  return all.filter(
    (one, index) => all.findIndex((other) => isSameInstall(one, other)) === index,
  );
}

/**
 * Renews the installed programs after the store got a layout that older programs refuse.
 * Gives sentences for people.
 */
export function renewInstalledPrograms(
  installers: HostInstaller[],
  basis: InstallBasis,
  shipped: string,
) {
  const { stateDirectory, version, home } = basis;
  const bin = join(stateDirectory, 'bin');
  const versions = files
    .askOr<string[]>([], () => readdirSync(bin))
    .filter(json.isPinned);
  if (versions.every((name) => name === version)) return [];
  const programs = [...new Set(installers.flatMap((installer) => installer.programs))];
  const incomplete = files.whyNotShipped(shipped, programs);
  if (incomplete !== null)
    return [`The programs that hosts start cannot be renewed. ${incomplete}`];
  // Old copies are renewed too, because running sessions still call them.
  for (const folder of new Set([...versions, version])) {
    const copied = programs.filter(
      (name) => folder === version || existsSync(join(bin, folder, name)),
    );
    files.copyPrograms(shipped, copied, join(bin, folder));
  }
  const renewed = recordedInstalls(stateDirectory).flatMap(({ host, scope, project }) => {
    const installer = installers.find(({ name }) => name === host);
    const cwd = project ?? home;
    if (installer === undefined || !existsSync(cwd)) return [];
    const plan = planChanges(installer, { ...basis, cwd, scope }, 'install');
    // Only files with a record are changed: the host may read other folders today.
    const changes = plan.ok
      ? plan.changes.filter(({ recordBefore }) => recordBefore !== null)
      : [];
    const problem = plan.ok ? performChanges(changes) : plan.problems.join(' ');
    if (problem !== null)
      return [`${installer.title} still names the old ones in ${cwd}: ${problem}`];
    const changed = changes.filter(({ before, after }) => before !== after);
    return changed.map(({ shownPath }) => `${shownPath} names them.`);
  });
  const sentence = `The store has a new layout, which older programs refuse: those that hosts start in ${bin} were renewed to ${version}.`;
  return [sentence, ...renewed];
}
