// `untildone config`: shows the settings of this directory, where each comes from, and
// what is wrong with them (C1). It only reads. `untildone config init`: writes a small
// untildone.json with a check; it only adds to an existing file.
import type { Origin } from '../../core/config.ts';
import { UntildoneError } from '../../core/error.ts';
import { problemSentence } from '../../core/problem.ts';
import type { Settings } from '../../core/settings.ts';
import { type PolicyResult, policyProblemSentence } from '../../engine/policy.ts';
import { pendingSentence } from '../../engine/trust.ts';
import { readAgentPolicyFor } from '../agent-policy.ts';
import { type Command, jsonOption } from '../command.ts';
import type { Io } from '../io.ts';
import {
  createPaint,
  escapeForTerminal,
  formatFields,
  printComplaint,
  printJson,
  printLines,
} from '../print.ts';
import { setUpChecks } from '../project-trust.ts';
import { checkOptions, checksOf } from './init.ts';

export const config: Command = {
  about: [
    'Flags beat the environment, that beats the project file, that beats the user file, that beats the defaults.\nSetting flags (--max-continuations=20) are taken here too, to see what they would do.',
  ],
  options: jsonOption,
  takesSettings: 'everywhere',
  async run(given, io) {
    const result = readAgentPolicyFor(io, io.cwd, given.settings);
    if (given.has('json')) printJson(io, toJson(result));
    if (!result.ok)
      throw new UntildoneError(
        'invalid-config',
        problemText(result.problems.map(policyProblemSentence)),
      );
    if (!given.has('json')) printLines(io, settingLines(result, io));
    for (const warning of result.warnings)
      printComplaint(io, `warning: ${problemSentence(warning)}`);
    const { pending } = result.project;
    if (pending !== null) printComplaint(io, `warning: ${pendingSentence(pending)}`);
    return 0;
  },
};

export const configInit: Command = {
  about: [
    'Looks how this project is tested, and writes that with the settings that people change most into untildone.json.\nEditors explain them by `$schema`. A file that is there keeps all it has, and only gets the checks. Each\ncheck runs once, for at most a minute, and you see whether it passes.',
  ],
  options: checkOptions,
  async run(given, io) {
    const request = { commands: checksOf(given), command: 'untildone config init' };
    const code = await setUpChecks(io, {
      ...request,
      isNew: true,
      isDry: false,
      isTried: !given.has('no-try'),
    });
    if (code === 0)
      printLines(io, ['`untildone config` shows which settings apply now.']);
    return code;
  },
};

function problemText(sentences: readonly string[]): string {
  const places = sentences.length === 1 ? '' : ` in ${sentences.length} places`;
  return [
    `The configuration is wrong${places}:`,
    ...sentences.map((sentence) => `  ${sentence}`),
  ].join('\n');
}

function toJson(result: PolicyResult) {
  const { ok, files, warnings } = result;
  if (!result.ok) return { ok, files, warnings, problems: result.problems };
  const { policy, origins, project } = result;
  return {
    ok,
    files,
    warnings,
    settings: policy.settings,
    origins,
    pending: project.pending,
  };
}

function settingLines(
  { policy, origins, files }: Extract<PolicyResult, { ok: true }>,
  io: Io,
): string[] {
  const paint = createPaint(io);
  const originsByPath = Object.entries(origins);
  const describeOrigin = (origin: Origin) =>
    /user|project/u.test(origin) ? `${origin} file` : origin;
  const settings = originsByPath.map(
    ([path, origin]) =>
      [
        escapeForTerminal(path, 200),
        `${valueAt(policy.settings, path)}  (${describeOrigin(origin)})`,
      ] as const,
  );
  return [
    'Files:',
    ...(files.length === 0 ? ['  none, so the defaults apply'] : []),
    ...formatFields(
      files.map(({ origin, path }) => [origin, escapeForTerminal(path, 300)]),
    ),
    '',
    'Settings:',
    ...formatFields(settings).map((line, index) =>
      originsByPath[index]?.[1] === 'default' ? paint('dim', line) : line,
    ),
  ];
}

/**
 * The setting at a path as merging names it: `agents.build.mode`, `agents["my
 * agent"].mode`.
 */
function valueAt(settings: Settings, path: string): string {
  const keys = path.match(/\["(?:[^"\\]|\\.)*"\]|[^.[\]]+/gu) ?? [];
  const names = keys.map((key): string =>
    key.startsWith('[') ? JSON.parse(key.slice(1, -1)) : key,
  );
  const value = names.reduce<unknown>(
    (at, name) => (at as Record<string, unknown> | null)?.[name],
    settings,
  );
  const isLong = Array.isArray(value) && value.length > 5;
  const some = JSON.stringify(isLong ? value.slice(0, 5) : value);
  return escapeForTerminal(
    isLong ? some.replace(/\]$/u, `, and ${value.length - 5} more]`) : some,
    100,
  );
}
