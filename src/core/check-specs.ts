// What a check is: a condition that the system runs to prove a todo or the goal (V1), and how the checks of a
// configuration become one. Pure descriptions; running them is the business of src/checks. A shell line can only come
// from a human: agents propose argv or a name (V3). What is wrong is reported with its path, never left out silently.

import { type Refusal, refuse } from './error.ts';
import { compileNames, createPathSet, expandBraces, matchesNames } from './glob.ts';
import { collectProblems, excerpt, joinPath, type Report } from './problem.ts';
import type { CheckSetting, CheckSettings } from './settings.ts';

interface CheckBase {
  /** Unique within a policy; what todos, evidence and messages name it by. */
  readonly id: string;
  /** Files whose change makes the evidence stale; empty: the whole workspace. */
  readonly files: readonly string[];
  readonly timeoutMs: number;
}

export interface CommandCheck extends CheckBase {
  readonly kind: 'command';
  /** argv, or one shell line that a human wrote. */
  readonly command: readonly string[] | { readonly shell: string };
  /** Relative to the workspace. */
  readonly directory: string | null;
  readonly expectExit: number;
  /** A pattern that the output must match, besides the exit status. */
  readonly expectOutput: string | null;
  /** Names of environment variables that the command gets besides the harmless ones. */
  readonly environment: readonly string[];
}

export interface FileCheck extends CheckBase {
  readonly kind: 'file';
  readonly path: string;
  readonly expect: 'exists' | 'absent' | { readonly matches: string };
}

export interface HttpCheck extends CheckBase {
  readonly kind: 'http';
  readonly url: string;
  readonly expectStatus: number;
  readonly expectBody: string | null;
  /** Only loopback unless the human says otherwise. */
  readonly anyHost: boolean;
}

export interface HumanCheck extends CheckBase {
  readonly kind: 'human';
  readonly question: string;
}

/** The id of the check that the system makes from `protect`. */
export const protectedPathsId = 'protected paths';

/** Paths that must be as they were at the human's message. Made by the system from `protect`. */
export interface ProtectedCheck extends CheckBase {
  readonly kind: 'protected';
  /** Key in the store of what stood there then. */
  readonly baseline: string;
}

export type CheckSpec = CommandCheck | FileCheck | HttpCheck | HumanCheck | ProtectedCheck;

/** What the system saw when it ran a check once. */
export interface CheckResult {
  readonly check: string;
  readonly result: 'passed' | 'failed';
  /** In words for people and models: the command, what was expected, what came. */
  readonly sentence: string;
  readonly exitCode: number | null;
  readonly milliseconds: number;
  /** The end of the output, capped, secrets masked. */
  readonly tail: string;
  /** It was ended because its time was over. */
  readonly timedOut: boolean;
  readonly at: number;
}

/** The ids of what was allowed as argv begin with this; names may not. */
const argvPrefix = '$ ';

/** All checks of a configuration, by id, and what is wrong with it. */
export function readCheckSettings(settings: CheckSettings) {
  const { report, problems } = collectProblems();
  const specs: [string, CheckSpec][] = [];
  const reportUnknown = (names: readonly string[], path: string): void => {
    for (const name of names) {
      if (!Object.hasOwn(settings.checks, checkId(name)))
        report(path, `there is no check named ${excerpt(name)}`);
    }
  };
  for (const [name, setting] of Object.entries(settings.checks)) {
    const path = joinPath('checks', name);
    if (name.startsWith(argvPrefix)) report(path, `a name must not begin with "${argvPrefix}"`);
    const spec = readCheck(name, setting, path, report);
    if (spec !== null) specs.push([name, spec]);
  }
  for (const [index, allowed] of settings.allowChecks.entries()) {
    if (typeof allowed === 'string') reportUnknown([allowed], `allowChecks[${index}]`);
    else if (allowed.length === 0) report(`allowChecks[${index}]`, 'must name a program');
    else specs.push([argvId(allowed), createCommandCheck(argvId(allowed), allowed)]);
  }
  for (const [index, name] of settings.goal.entries()) reportUnknown([name], `goal[${index}]`);
  for (const [index, { title, checks }] of settings.todoChecks.entries()) {
    const path = `todoChecks[${index}]`;
    if (title === undefined) report(path, 'must have a title');
    else if (expandBraces(title) === null)
      report(`${path}.title`, 'stands for too many patterns: use fewer braces');
    reportUnknown(checks ?? [], `${path}.checks`);
  }
  reportPatterns(settings.protect, 'protect', report);
  return { specs: Object.fromEntries(specs), problems: problems() };
}

/** Ids of the checks on the goal, each once. */
export function goalCheckIds(settings: CheckSettings): readonly string[] {
  return [...new Set(settings.goal.map(checkId))];
}

/** Ids of the checks that the human wants for a todo with this title, in the order of the rules. */
export function checksForTitle(settings: CheckSettings, title: string): readonly string[] {
  const wanted = title.trim().toLowerCase();
  const fitting = settings.todoChecks.filter((rule) => fitsTitle(rule.title ?? '', wanted));
  return [...new Set(fitting.flatMap(({ checks }) => (checks ?? []).map(checkId)))];
}

function fitsTitle(pattern: string, title: string): boolean {
  const patterns = expandBraces(pattern.trim().toLowerCase()) ?? [];
  return patterns.some((one) => matchesNames(compileNames([one]), [title]));
}

type Proposal = string | readonly string[];

/** The id of the check that an agent proposed, by name, as argv or as argv in one line; null: no human allowed it. */
export function allowedProposal(settings: CheckSettings, proposal: Proposal): string | null {
  for (const allowed of settings.allowChecks) {
    const isName = typeof allowed === 'string';
    const id = isName ? checkId(allowed) : argvId(allowed);
    if (isName && !Object.hasOwn(settings.checks, id)) continue;
    const argv = isName ? settings.checks[id]?.command : allowed;
    if (typeof proposal === 'string' && checkId(proposal) === id) return id;
    if (Array.isArray(argv) && isSameCommand(argv, proposal)) return id;
  }
  return null;
}

function isSameCommand(argv: readonly string[], proposal: Proposal): boolean {
  if (typeof proposal !== 'string') return argvId(argv) === argvId(proposal);
  return argv.every(isPlainWord) && argv.join(' ') === proposal.trim();
}

/** Names of checks are compared without letter case, as all names in a configuration. */
function checkId(name: string): string {
  return name.trim().toLowerCase();
}

function argvId(argv: readonly string[]): string {
  return argvPrefix + (argv.every(isPlainWord) ? argv.join(' ') : JSON.stringify(argv));
}

/** Only words that no shell would read otherwise: then one line stands for exactly one argv. */
function isPlainWord(word: string): boolean {
  return /^[\w@%+=:,./-]+$/u.test(word);
}

/** A test suite takes minutes; a check that hangs must not hold an agent for an hour. */
const commandSeconds = 600;
/** A file or an address on this machine answers at once or not at all. */
const otherSeconds = 10;

const fieldsByKind = {
  command: ['command', 'directory', 'expectExit', 'expectOutput', 'environment'],
  file: ['file', 'exists', 'absent', 'matches'],
  http: ['http', 'status', 'body', 'anyHost'],
  human: ['human'],
} as const satisfies Readonly<Record<string, readonly (keyof CheckSetting)[]>>;
const kinds = ['command', 'file', 'http', 'human'] as const;

/** One check as a whole: which kind it is, and that nothing of another kind stands in it. null: something was reported. */
function readCheck(id: string, setting: CheckSetting, path: string, report: Report): CheckSpec | null {
  const [kind, ...others] = kinds.filter((one) => setting[one] !== undefined);
  if (kind === undefined || others.length > 0) {
    report(path, 'must have exactly one of command, file, http, human');
    return null;
  }
  let isRight = true;
  const wrong: Report = (where, message) => {
    isRight = false;
    report(where, message);
  };
  const known: readonly string[] = [...fieldsByKind[kind], 'timeoutSeconds', 'files'];
  for (const field of Object.keys(setting)) {
    if (!known.includes(field)) wrong(joinPath(path, field), `has no meaning for a check of kind ${kind}`);
  }
  const files = setting.files ?? [];
  reportPatterns(files, joinPath(path, 'files'), wrong);
  for (const field of ['expectOutput', 'matches', 'body'] as const) {
    const compiled = compileExpression(setting[field] ?? '');
    if (!compiled.ok) wrong(joinPath(path, field), compiled.error);
  }
  const seconds = setting.timeoutSeconds ?? (kind === 'command' ? commandSeconds : otherSeconds);
  const spec = readKind(kind, { id, files, timeoutMs: Math.round(seconds * 1000) }, setting, path, wrong);
  return isRight ? spec : null;
}

function readKind(
  kind: (typeof kinds)[number],
  base: Pick<CheckSpec, 'id' | 'files' | 'timeoutMs'>,
  setting: CheckSetting,
  path: string,
  report: Report,
): CheckSpec {
  switch (kind) {
    case 'command': {
      const { command = [], directory, environment = [], expectExit = 0, expectOutput = null } = setting;
      if (command.length === 0) report(joinPath(path, 'command'), 'must name a program');
      if (directory !== undefined) reportPath(directory, joinPath(path, 'directory'), report);
      for (const [index, name] of environment.entries()) {
        if (!/^[A-Za-z_]\w*$/u.test(name))
          report(`${joinPath(path, 'environment')}[${index}]`, 'must be the name of an environment variable');
      }
      const given = { directory: directory ?? null, expectExit, expectOutput, environment };
      const argv = typeof command === 'string' ? { shell: command } : command;
      return { ...createCommandCheck(base.id, argv), ...base, ...given };
    }
    case 'file': {
      const { file = '', exists, absent, matches } = setting;
      reportPath(file, joinPath(path, 'file'), report);
      if ([exists, absent, matches].filter((value) => value !== undefined).length > 1)
        report(path, 'must have at most one of exists, absent, matches');
      const isAbsent = absent === true || exists === false;
      return {
        ...base,
        kind,
        path: file,
        expect: matches === undefined ? (isAbsent ? 'absent' : 'exists') : { matches },
      };
    }
    case 'http': {
      const { http: url = '', status = 200, body = null, anyHost = false } = setting;
      if (!/^https?:\/\//iu.test(url) || !URL.canParse(url))
        report(joinPath(path, 'http'), 'must be an address that begins with http:// or https://');
      return { ...base, kind, url, expectStatus: status, expectBody: body, anyHost };
    }
    case 'human':
      return { ...base, kind, question: setting.human ?? '' };
  }
}

/** A command with nothing said about it but the command. */
export function createCommandCheck(id: string, command: CommandCheck['command']): CommandCheck {
  const timeoutMs = commandSeconds * 1000;
  const nothing = { directory: null, expectExit: 0, expectOutput: null, environment: [] };
  return { id, files: [], timeoutMs, kind: 'command', command, ...nothing };
}

/** Links are looked at when the check runs; this only refuses what can never be inside. */
function reportPath(given: string, path: string, report: Report): void {
  if (given.startsWith('/') || given.split('/').includes('..'))
    report(path, 'must be a path inside the workspace, relative to it and without ".."');
}

function reportPatterns(patterns: readonly string[], path: string, report: Report): void {
  for (const [index, pattern] of patterns.entries()) {
    const set = createPathSet([pattern]);
    if (!set.ok) report(`${path}[${index}]`, set.error);
  }
}

/**
 * A human's regular expression for outputs, files and answers. ^ and $ stand for the ends of a line. It only compiles:
 * a hopeless expression can run for years, so whoever matches does it in a thread with a limit.
 */
export function compileExpression(source: string): { ok: true; expression: RegExp } | Refusal {
  try {
    return { ok: true, expression: new RegExp(source, 'mu') };
  } catch {
    // Other engines are less strict about escapes such as \-: the lenient form gets a try before refusing.
  }
  try {
    return { ok: true, expression: new RegExp(source, 'm') };
  } catch {
    // Safe: the human is told, and a configuration with a problem applies in no part.
    return refuse('must be a regular expression as JavaScript knows them');
  }
}
