// What a check is: a condition that the system runs to prove a todo or the goal (V1).
// Only a human can give a shell line; an agent proposes a list of arguments or a name
// (V3).
import { refuse } from './error.ts';
import { compileNames, createPathSet, expandBraces, matchesNames } from './glob.ts';
import { collectProblems, excerpt, joinPath, type Report } from './problem.ts';
import { isPlainWord } from './same-checks.ts';
import {
  described,
  either,
  flag,
  type Infer,
  integer,
  line,
  list,
  number,
  section,
} from './schema.ts';
import type { CheckSettings } from './settings.ts';

/** A program with its arguments. */
export const argv = list(line(4000), 200);
const pattern = line(1000);

/**
 * The setting of one check: exactly one of `command`, `file`, `http` and `human`, as
 * readCheck() demands.
 */
export const check = {
  ...section({
    command: described(
      either(argv, line(4000)),
      'Program and arguments as a list, run without a shell; a text is a line for /bin/sh.',
    ),
    directory: described(
      line(1000),
      'Folder of the workspace in which the command runs.',
    ),
    expectExit: described(integer(0, 255), 'Exit status of a pass; not given: 0.'),
    expectOutput: described(
      pattern,
      'Regular expression that the output of the command must match too.',
    ),
    environment: described(
      list(line(200), 100),
      'Further environment variables that the command gets; harmless ones it always gets.',
    ),
    file: described(line(1000), 'Path of a file or folder, relative to the workspace.'),
    exists: described(flag, 'The file must exist; this is the default.'),
    absent: described(flag, 'There must be no such file or folder.'),
    matches: described(
      pattern,
      'Regular expression that the text of the file must match.',
    ),
    http: described(
      line(2000),
      'Address that is asked with GET; redirects are not followed.',
    ),
    status: described(
      integer(100, 599),
      'Status of the answer of a pass; not given: 200.',
    ),
    body: described(
      pattern,
      'Regular expression that the body of the answer must match.',
    ),
    anyHost: described(flag, 'Allows addresses of other machines than this one.'),
    human: described(line(1000), 'Question that a human answers with untildone approve.'),
    timeoutSeconds: described(
      number(0.1, 86_400),
      'Seconds after which the check is stopped and counts as failed.',
    ),
    files: described(
      list(line(1000), 200),
      'Patterns of the files whose change makes a result stale; none: the whole workspace.',
    ),
  }),
  isOneValue: true,
};

/** The setting that gives checks to todos with certain titles. */
export const todoCheck = section({
  title: described(
    line(1000),
    'Pattern with * and ? for titles; letter case does not count.',
  ),
  checks: described(list(line(100), 100), 'Names of the checks that prove such a todo.'),
});

/** A check as a configuration file has it. */
export type CheckSetting = Infer<typeof check>;

/**
 * A check that readCheck() made from the setting `checks`. The summaries above say what
 * each field means.
 */
type SettingCheck = NonNullable<ReturnType<typeof readCheck>>;
type CheckOf<Kind extends string> = Readonly<Extract<SettingCheck, { kind: Kind }>>;
/** A check that runs a command. */
export type CommandCheck = CheckOf<'command'>;
/** A check that looks at a file. */
export type FileCheck = CheckOf<'file'>;
/** A check that asks an address. */
export type HttpCheck = CheckOf<'http'>;
/** A check that a human answers. */
export type HumanCheck = CheckOf<'human'>;
/**
 * A check that the paths of `protect` are as they were at the human's message; `baseline`
 * is a key in the store.
 */
export type ProtectedCheck = Pick<HumanCheck, 'id' | 'files' | 'timeoutMs'> &
  Readonly<{ kind: 'protected'; baseline: string }>;
/** A check of any kind, as the policy holds it. */
export type CheckSpec = Readonly<SettingCheck> | ProtectedCheck;

/** The id of the check that protected paths did not change. */
export const protectedPathsId = 'protected paths';

/**
 * The id of a check without its marks, for people: `--check "npm test"` has the id `$ npm
 * test`, and the id of a long line ends in a hash.
 */
export function bareCheck(check: string): string {
  return check.replace(/^\$ /u, '').replace(/ #[\da-f]{8}$/u, '');
}

/** The result of one run of a check. */
export type CheckResult = Readonly<{
  check: string;
  result: 'passed' | 'failed';
  sentence: string;
  exitCode: number | null;
  milliseconds: number;
  /** The end of the output, cut to a limit, with secrets masked. */
  tail: string;
  timedOut: boolean;
  at: number;
}>;

/** The ids of allowed argument lists begin with this, so names may not. */
const argvPrefix = '$ ';

/** The checks that the settings define, by name, or every problem that they have. */
export function readCheckSettings(settings: CheckSettings) {
  const { report, problems } = collectProblems();
  const specs: Record<string, CheckSpec> = {};
  const reportUnknown = (name: string, path: string): void => {
    if (!Object.hasOwn(settings.checks, checkId(name)))
      report(path, `there is no check named ${excerpt(name)}`);
  };
  for (const [name, setting] of Object.entries(settings.checks)) {
    const path = joinPath('checks', name);
    if (name.startsWith(argvPrefix))
      report(path, `a name must not begin with "${argvPrefix}"`);
    const spec = readCheck(name, setting, path, report);
    if (spec !== null) specs[name] = spec;
  }
  for (const [index, allowed] of settings.allowChecks.entries()) {
    if (typeof allowed === 'string') reportUnknown(allowed, `allowChecks[${index}]`);
    else if (allowed.length === 0) report(`allowChecks[${index}]`, 'must name a program');
    else specs[argvId(allowed)] = createCommandCheck(argvId(allowed), allowed);
  }
  for (const [index, name] of settings.goal.entries())
    reportUnknown(name, `goal[${index}]`);
  for (const [index, { title, checks = [] }] of settings.todoChecks.entries()) {
    const path = `todoChecks[${index}]`;
    if (title === undefined) report(path, 'must have a title');
    else if (expandBraces(title) === null)
      report(`${path}.title`, 'expands to too many patterns: use fewer braces');
    for (const name of checks) reportUnknown(name, `${path}.checks`);
  }
  reportPatterns(settings.protect, 'protect', report);
  // With a single problem the configuration applies in no part.
  return { specs: problems().length === 0 ? specs : {}, problems: problems() };
}

/** The ids of the checks on the goal, each once. */
export function goalCheckIds(settings: CheckSettings): readonly string[] {
  return [...new Set(settings.goal.map(checkId))];
}

/** The ids of the checks that the human wants for a todo with this title. */
export function checksForTitle(
  settings: CheckSettings,
  title: string,
): readonly string[] {
  const lowerTitle = title.trim().toLowerCase();
  const fitting = settings.todoChecks.filter(({ title: pattern = '' }) =>
    expandBraces(pattern.trim().toLowerCase())?.some((one) =>
      matchesNames(compileNames([one]), [lowerTitle]),
    ),
  );
  return [...new Set(fitting.flatMap(({ checks }) => (checks ?? []).map(checkId)))];
}

type Proposal = string | readonly string[];

/**
 * The id of the check that an agent proposes by name, as arguments, or as arguments in
 * one line. Null: no human allowed it.
 */
export function allowedProposal(
  settings: CheckSettings,
  proposal: Proposal,
): string | null {
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

function checkId(name: string): string {
  return name.trim().toLowerCase();
}

function argvId(argv: readonly string[]): string {
  return argvPrefix + (argv.every(isPlainWord) ? argv.join(' ') : JSON.stringify(argv));
}

/** A test suite takes minutes; one that hangs must not hold an agent for an hour. */
const commandSeconds = 600;
/** A file or an address on this machine answers at once or not at all. */
const otherSeconds = 10;

const fieldsByKind = {
  command: ['command', 'directory', 'expectExit', 'expectOutput', 'environment'],
  file: ['file', 'exists', 'absent', 'matches'],
  http: ['http', 'status', 'body', 'anyHost'],
  human: ['human'],
} as const satisfies Readonly<Record<string, readonly (keyof CheckSetting)[]>>;
const kinds = Object.keys(fieldsByKind) as (keyof typeof fieldsByKind)[];

/** Reads one check; null: it is of no kind. */
function readCheck(id: string, setting: CheckSetting, path: string, report: Report) {
  const [kind, ...others] = kinds.filter((one) => setting[one] !== undefined);
  if (kind === undefined || others.length > 0) {
    report(path, 'must have exactly one of command, file, http, human');
    return null;
  }
  const fields: readonly string[] = [...fieldsByKind[kind], 'timeoutSeconds', 'files'];
  for (const field of Object.keys(setting)) {
    if (!fields.includes(field))
      report(joinPath(path, field), `has no meaning for a check of kind ${kind}`);
  }
  const {
    files = [],
    timeoutSeconds = kind === 'command' ? commandSeconds : otherSeconds,
  } = setting;
  reportPatterns(files, joinPath(path, 'files'), report);
  for (const field of ['expectOutput', 'matches', 'body'] as const) {
    const compiled = compileExpression(setting[field] ?? '');
    if (!compiled.ok) report(joinPath(path, field), compiled.error);
  }
  const base = { id, files, timeoutMs: Math.round(timeoutSeconds * 1000) };
  switch (kind) {
    case 'command': {
      const { command = [], directory = null, environment = [] } = setting;
      const { expectExit = 0, expectOutput = null } = setting;
      if (command.length === 0) report(joinPath(path, 'command'), 'must name a program');
      if (directory !== null) reportPath(directory, joinPath(path, 'directory'), report);
      for (const [index, name] of environment.entries()) {
        if (!/^[A-Za-z_]\w*$/u.test(name))
          report(
            `${joinPath(path, 'environment')}[${index}]`,
            'must be the name of an environment variable',
          );
      }
      const argv = typeof command === 'string' ? { shell: command } : command;
      return {
        ...base,
        kind,
        command: argv,
        directory,
        expectExit,
        expectOutput,
        environment,
      };
    }
    case 'file': {
      const { file = '', exists, absent, matches } = setting;
      reportPath(file, joinPath(path, 'file'), report);
      if ([exists, absent, matches].filter((value) => value !== undefined).length > 1)
        report(path, 'must have at most one of exists, absent, matches');
      const presence: 'absent' | 'exists' =
        absent === true || exists === false ? 'absent' : 'exists';
      return {
        ...base,
        kind,
        path: file,
        expect: matches === undefined ? presence : { matches },
      };
    }
    case 'http': {
      const { http: url = '', status = 200, body = null, anyHost = false } = setting;
      if (!/^https?:\/\//iu.test(url) || !URL.canParse(url))
        report(
          joinPath(path, 'http'),
          'must be an address that begins with http:// or https://',
        );
      return { ...base, kind, url, expectStatus: status, expectBody: body, anyHost };
    }
    case 'human':
      return { ...base, kind, question: setting.human ?? '' };
  }
}

/** A check that runs a command and has only defaults otherwise. */
export function createCommandCheck(
  id: string,
  command: CommandCheck['command'],
): CommandCheck {
  const timeoutMs = commandSeconds * 1000;
  const nothing = { directory: null, expectExit: 0, expectOutput: null, environment: [] };
  return { id, files: [], timeoutMs, kind: 'command', command, ...nothing };
}

/** Refuses a path outside the workspace. Links are judged when the check runs. */
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
 * Compiles an expression of a human. With the flag m, ^ and $ are the ends of a line.
 * Matching can take years, so it belongs in a thread with a time limit.
 */
export function compileExpression(source: string, flags = 'm') {
  let reason = '';
  // The second try is the lenient form, which allows escapes such as \-.
  for (const mode of ['u', '']) {
    try {
      return { ok: true, expression: new RegExp(source, flags + mode) } as const;
    } catch (error) {
      // Safe: the author of the expression is told, and nothing is matched.
      reason = (error as Error).message;
    }
  }
  return { ...refuse('must be a regular expression as JavaScript knows them'), reason };
}
