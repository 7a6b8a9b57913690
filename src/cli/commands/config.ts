// `untildone config`: the settings that hold in this directory, where each comes from, and what is wrong with them
// (C1). It only reads. `untildone config init`: a small untildone.json to start from, with a check; one that is there is
// only added to.
import type { Origin } from '../../core/config.ts';
import { UntildoneError } from '../../core/error.ts';
import { problemSentence } from '../../core/problem.ts';
import { defaultSettings, type Settings } from '../../core/settings.ts';
import { type PolicyResult, policyProblemSentence } from '../../engine/policy.ts';
import { pendingSentence } from '../../engine/trust.ts';
import { schemaAddress } from '../../hosts/install/project-tests.ts';
import { readAgentPolicyFor } from '../agent-policy.ts';
import { type Command, jsonOption } from '../command.ts';
import type { Io } from '../io.ts';
import { complain, createPaint, printJson, printLines, shown } from '../print.ts';
import { setUpChecks } from '../project-trust.ts';
import { checkOption, checksOf } from './init.ts';

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
      throw new UntildoneError('invalid-config', problemText(result.problems.map(policyProblemSentence)));
    if (!given.has('json')) printLines(io, lines(result, io));
    for (const warning of result.warnings) complain(io, `warning: ${problemSentence(warning)}`);
    const { pending } = result.project;
    if (pending !== null) complain(io, `warning: ${pendingSentence(pending)}`);
    return 0;
  },
};

export const configInit: Command = {
  about: [
    'Looks how this project is tested, and writes that with the settings that people change most into untildone.json.\nEditors explain them by `$schema`. A file that is there keeps all it has, and only gets the checks.',
  ],
  options: checkOption,
  async run(given, io) {
    const { mode, maxStagnant, maxContinuations, ceiling } = defaultSettings;
    const schema = schemaAddress(io.cwd);
    const fresh = {
      ...(schema === null ? {} : { $schema: schema }),
      ...{ mode, maxStagnant, maxContinuations, ceiling },
    };
    const command = 'untildone config init';
    const code = await setUpChecks(io, { commands: checksOf(given), command, fresh, isDry: false });
    if (code === 0) printLines(io, ['`untildone config` shows which settings apply now.']);
    return code;
  },
};

function problemText(sentences: readonly string[]): string {
  const places = sentences.length === 1 ? '' : ` in ${sentences.length} places`;
  return [`The configuration is wrong${places}:`, ...sentences.map((sentence) => `  ${sentence}`)].join('\n');
}

function toJson(result: PolicyResult) {
  const { ok, files, warnings } = result;
  if (!result.ok) return { ok, files, warnings, problems: result.problems };
  const { policy, origins, project } = result;
  return { ok, files, warnings, settings: policy.settings, origins, pending: project.pending };
}

function lines({ policy, origins, files }: Extract<PolicyResult, { ok: true }>, io: Io): string[] {
  const paint = createPaint(io);
  const rows = Object.entries(origins).map(
    ([path, origin]) => [path, valueAt(policy.settings, path), origin] as const,
  );
  const width = Math.max(...rows.map(([path]) => path.length));
  const read = files.map(({ origin, path }) => `  ${origin.padEnd(8)} ${shown(path, 300)}`);
  return [
    'Files:',
    ...(read.length === 0 ? ['  none: the defaults hold where nothing else is said'] : read),
    '',
    'Settings:',
    ...rows.map(([path, value, origin]) => {
      const line = `  ${shown(path, 200).padEnd(width)}  ${value}  (${from(origin)})`;
      return origin === 'default' ? paint('dim', line) : line;
    }),
  ];
}

function from(origin: Origin): string {
  return origin === 'user' || origin === 'project' ? `${origin} file` : origin;
}

/** `agents.build.mode`, `agents["my agent"].mode`: the paths that merging gives. */
function valueAt(settings: Settings, path: string): string {
  const keys = path.match(/\["(?:[^"\\]|\\.)*"\]|[^.[\]]+/gu) ?? [];
  let value: unknown = settings;
  for (const key of keys) {
    const name = key.startsWith('[') ? (JSON.parse(key.slice(1, -1)) as string) : key;
    value = (value as Record<string, unknown> | undefined)?.[name];
  }
  return shown(Array.isArray(value) ? listText(value) : JSON.stringify(value), 100);
}

function listText(values: readonly unknown[]): string {
  const some = values.slice(0, 5).map((value) => JSON.stringify(value));
  return values.length > 5 ? `[${some.join(', ')}, and ${values.length - 5} more]` : `[${some.join(', ')}]`;
}
