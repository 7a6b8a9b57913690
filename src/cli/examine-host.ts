// Examines a host for `doctor`: whether the program is installed, and whether what `init`
// wrote is there, complete and working. A host's own checks come from its installer. It
// changes nothing.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isExecutable } from '../checks/process.ts';
import type { AskedHost } from '../hosts/asked-call.ts';
import { applyEdit, type Edit, type FileTarget } from '../hosts/install/changes.ts';
import { isCopied, readSettingsFile, unlessRefused } from '../hosts/install/files.ts';
import * as install from '../hosts/install/installer.ts';
import { brokenRow, initCommand, noteRow, okRow } from '../hosts/install/installer.ts';
import { isReadAtStart, isReadByUs, isReadTooEarly } from '../hosts/project-variables.ts';
import { stateDirectory } from '../store/state-directory.ts';

/** Picks from each row the first finding that applies. */
export function tellFirst(rows: install.Examination): install.Finding[] {
  return rows.flatMap((row) => row.find((one) => !!one) || []);
}

export type HostReport = Readonly<ReturnType<typeof examineHost>>;
/**
 * Examines one host.
 * @param asked how its hooks are read; null: it has none
 */
export function examineHost(
  installer: install.HostInstaller,
  asked: AskedHost | null,
  basis: install.InstallBasis,
  shipped: string,
) {
  const { name: host, title, pieces, knownVersions, oldestVersion, howToGet } = installer;
  const program = install.findProgram(installer.program, basis.env);
  const versionText =
    program === null ? null : install.outputOf(program, ['--version'], basis.env);
  const hostVersion = /\d+\.\d+\.\d+(?:[\w.-]*\w)?/.exec(versionText ?? '')?.[0] ?? null;
  const survey = installer.survey(basis);
  const { plugin } = survey;
  const scopes = install.allScopes.filter((scope) => survey.installed(scope).length > 0);
  const isInstalled = scopes.length > 0 || plugin !== null;
  const missingLevel = isInstalled ? brokenRow : noteRow;
  const unknown = `${title} was not found on PATH (no program "${installer.program}").`;
  const installedAt = `${title} ${hostVersion} at ${program}`;
  const isTooOld =
    oldestVersion &&
    (hostVersion ?? '').localeCompare(oldestVersion, 'en', { numeric: true }) < 0;
  // If a plugin is installed twice, only one acts; two hooks count each stop twice.
  const twiceLevel = pieces === 'plugin' ? noteRow : brokenRow;
  const twiceSentence = `Installed twice: by init, and as a plugin (${plugin}).`;
  const rows: install.Examination = [
    [
      !program && missingLevel('host', unknown, howToGet),
      !hostVersion &&
        noteRow('host', `${title} is at ${program}, but does not say its version.`),
      isTooOld &&
        missingLevel(
          'host',
          `${installedAt} is too old: untildone needs ${oldestVersion} or newer.`,
          howToGet,
        ),
      knownVersions.includes(hostVersion ?? '') &&
        okRow('host', `${installedAt}, known to work.`),
      noteRow(
        'host',
        `${installedAt}; tested with ${knownVersions.join(', ')}, so watch the first runs.`,
      ),
    ],
    [
      !isInstalled &&
        noteRow(pieces, `Nothing is installed in ${title} here.`, initCommand(host)),
    ],
    [
      plugin &&
        scopes.length > 0 &&
        twiceLevel('plugin', twiceSentence, installer.howToRemovePlugin),
      plugin && okRow('plugin', `Installed as a plugin of ${title} (${plugin}).`),
    ],
    ...scopes.map((scope) =>
      examineScope(installer, survey, scope, { wanted: basis.version, shipped }),
    ),
    ...(isInstalled ? survey.examine(scopes) : []),
    ...(isInstalled && asked !== null
      ? [examineVariables(title, asked, survey, basis)]
      : []),
  ];
  const firstFindings = tellFirst(rows);
  // A call would add nothing to a finding that something is broken.
  const isWhole = isInstalled && !firstFindings.some(({ level }) => level === 'broken');
  const proofs = isWhole ? survey.proofs(scopes, program) : [];
  const findings = [
    ...firstFindings,
    ...proofs.flatMap((proof) => runProof(proof, basis, host)),
  ];
  return { host, title, program, hostVersion, scopes, isInstalled, findings };
}

/** Time for the cold start of a host on a busy machine; a longer one hangs. */
const proofMs = 20_000;

function runProof(
  { name, call, folder, input, isProved, proved, failed }: install.Proof,
  { env }: install.InstallBasis,
  host: string,
): install.Finding[] {
  const scratch = mkdtempSync(join(tmpdir(), 'untildone-doctor-'));
  const state = join(scratch, 'state');
  try {
    const [program = '', ...words] = call;
    const answer = spawnSync(program, words, {
      cwd: folder ?? scratch,
      env: { ...env, UNTILDONE_HOME: state },
      input: input(scratch),
      encoding: 'utf8',
      timeout: proofMs,
      // A process that ignores a polite signal would keep us waiting for ever.
      killSignal: 'SIGKILL',
    });
    const isLate =
      answer.error !== undefined &&
      'code' in answer.error &&
      answer.error.code === 'ETIMEDOUT';
    if (isLate)
      return [
        noteRow(name, `${basename(program)} did not answer within ${proofMs / 1000} s.`),
      ];
    const isRight = isProved(answer.stdout ?? '', state);
    if (isRight === null) return [];
    return [isRight ? okRow(name, proved) : brokenRow(name, failed, initCommand(host))];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function examineScope(
  { name, pieces }: install.HostInstaller,
  survey: install.HostSurvey,
  scope: install.Scope,
  { wanted, shipped }: Readonly<{ wanted: string; shipped: string }>,
): install.Row {
  const piece = pieces.replace(/s$/, '');
  const programs = survey.installed(scope);
  const where = `Installed ${install.scopeNames[scope]}`;
  const mend = initCommand(name, scope);
  const otherVersion = programs.find(({ version }) => version !== wanted)?.version;
  const brokenFile = (why: string) =>
    brokenRow(`${piece}-file`, `${where}, but the ${why}`, mend);
  const damaged = `${piece} is not the one of this version: `;
  const { targets, summary } = survey.layout(scope);
  const [first, ...more] = targets.flatMap((target) => findMissingEdits(target, name));
  const lacking = more.length === 0 ? first : `${first} and ${more.length} more`;
  return [
    ...programs.flatMap(({ node, file, version }) => [
      node &&
        !isExecutable(node) &&
        brokenFile(`Node that runs the ${piece} is gone: ${node}`),
      file && !existsSync(file) && brokenFile(`${piece} itself is gone: ${file}`),
      file &&
        version === wanted &&
        !isCopied(shipped, file) &&
        brokenFile(damaged + file),
    ]),
    otherVersion &&
      noteRow(
        `${piece}-version`,
        `${where} by untildone ${otherVersion}; this is ${wanted}.`,
        mend,
      ),
    lacking &&
      brokenRow(pieces, `${where}, but not complete: ${lacking} is missing.`, mend),
    okRow(pieces, `${where}: ${summary}, complete.`),
  ];
}

/**
 * Names the variables that the project's own settings of the host set and that our hooks
 * ignore (V10).
 */
function examineVariables(
  title: string,
  { projectVariables, variables }: AskedHost,
  survey: install.HostSurvey,
  { env, cwd }: install.InstallBasis,
): install.Row {
  if (projectVariables === undefined) return [];
  const foundVariables = [...new Set([cwd, survey.project])].map((folder) =>
    projectVariables(folder, env),
  );
  const unreadable = `The settings of ${title} in this project cannot be read and may set any variable: untildone's hooks ignore every variable that they would read.`;
  // If the state directory is not in its default place, `init` writes UNTILDONE_HOME into
  // a local file of the project.
  const usual = join(stateDirectory({ ...env, UNTILDONE_HOME: undefined }), '/');
  const programs = install.allScopes.flatMap((scope) => survey.installed(scope));
  const isMoved = programs.some(
    ({ file }) => file !== undefined && !file.startsWith(usual),
  );
  const isIgnored = (name: string) =>
    (isReadByUs(name) || variables.includes(name)) &&
    !(isMoved && name === 'UNTILDONE_HOME');
  const names = [...new Set(foundVariables.flatMap((listed) => listed ?? []))].filter(
    isIgnored,
  );
  // A committed hook, and that of a plugin, is started as the host finds its program.
  const isPlain =
    programs.some(({ file }) => file === undefined) || survey.plugin !== null;
  const atStart = names.filter(isPlain ? isReadAtStart : isReadTooEarly);
  const ignored = `The settings of ${title} in this project set ${names.join(', ')}: untildone's hooks ignore that.`;
  const early = `${atStart.join(', ')} can still change what a hook does: it takes effect when the hook starts.`;
  return [
    foundVariables.includes(null) &&
      noteRow('variables', unreadable, 'make them short and plain'),
    atStart.length > 0 &&
      noteRow(
        'variables',
        `${ignored} ${early}`,
        `take ${atStart.join(', ')} out of them`,
      ),
    names.length > 0 && noteRow('variables', ignored),
  ];
}

function findMissingEdits({ path, edits }: FileTarget, host: string): string[] {
  const listMissing = () => {
    const text = readSettingsFile(path).text ?? '';
    const lacking = edits.filter((edit) => applyEdit(text, edit, host) !== text);
    return lacking.map((edit) => `${nameOf(edit)} in ${path}`);
  };
  return unlessRefused(listMissing, (why) => [`${path} ${why}`]);
}

function nameOf(edit: Edit): string {
  if ('text' in edit) return edit.kind === 'whole' ? 'its own text' : `"${edit.text}"`;
  return edit.kind === 'entry' ? JSON.stringify(edit.value) : `"${edit.path.join('.')}"`;
}
