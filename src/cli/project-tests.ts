// Finds out how a project is tested, from the files in its folder, and writes that into
// its untildone.json. It runs nothing. The project's files only choose among commands
// that are written here; none of their words becomes part of a command.
import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { validateConfig, withoutGrants } from '../core/config.ts';
import { parseJsonText } from '../core/json-text.ts';
import { isPlainWord } from '../core/same-checks.ts';
import { defaultSettings } from '../core/settings.ts';
import { configFileName } from '../engine/policy.ts';
import { readTextFile } from '../engine/text-file.ts';
import {
  askOr,
  packageFolder,
  Refusal,
  readSettingsFile,
  replaceSettingsFile,
  unlessRefused,
} from '../hosts/install/files.ts';
import {
  applyJson,
  type Json,
  type JsonEdit,
  valueAt,
} from '../hosts/install/json-text.ts';
import { recordOf } from '../hosts/untrusted.ts';

/**
 * `script`: what the project's own file says that the command does. It is a foreign text.
 */
export type FoundTest = Readonly<{
  name: string;
  command: string;
  file: string;
  script?: string;
}>;

/** A larger file was not written by people. */
const mostBytes = 1_048_576;

/** The script that npm writes into a new package.json always fails. */
const placeholder = /no test specified/;

/**
 * The manager whose lock file exists; the first one counts. `run NAME` is used because
 * `bun test` does not run the script of that name.
 */
const packageManagers = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
] as const;

/**
 * Only the first of each name counts: a wrapper in the project comes before the program
 * on PATH.
 */
const byFile: readonly (readonly [file: RegExp, name: string, command: string])[] = [
  [/^Cargo\.toml$/, 'cargo', 'cargo test'],
  [/^go\.mod$/, 'go', 'go test ./...'],
  [/^mix\.exs$/, 'mix', 'mix test'],
  [/^gradlew$/, 'gradle', './gradlew test'],
  [/^build\.gradle(\.kts)?$/, 'gradle', 'gradle test'],
  [/^mvnw$/, 'maven', './mvnw test'],
  [/^pom\.xml$/, 'maven', 'mvn test'],
  [/\.(slnx?|[cf]sproj)$/, 'dotnet', 'dotnet test'],
  [/^tox\.ini$/, 'tox', 'tox'],
  [/^\.rspec$/, 'rspec', 'bundle exec rspec'],
  [/^Package\.swift$/, 'swift', 'swift test'],
];

/** Finds the commands that test this project, the likeliest first. */
export function findTests(folder: string): readonly FoundTest[] {
  const files = askOr<string[]>([], () => readdirSync(folder));
  const textOf = (file: string): string => {
    if (!files.includes(file)) return '';
    const read = readTextFile(join(folder, file), mostBytes);
    return read.ok ? read.text : '';
  };
  const others = byFile.flatMap(([pattern, name, command]) => {
    const file = files.find((one) => pattern.test(one));
    return file === undefined ? [] : [{ name, command, file }];
  });
  const all = [
    ...scriptTests(files, textOf),
    ...makeTests(textOf),
    ...pythonTests(files, textOf),
    ...denoTests(files, textOf),
    ...others,
  ];
  return all.filter(
    ({ name }, index) => all.findIndex((one) => one.name === name) === index,
  );
}

type TextOf = (file: string) => string;

function scriptTests(files: readonly string[], textOf: TextOf): FoundTest[] {
  const file = 'package.json';
  const [, manager = 'npm'] =
    packageManagers.find(([lock]) => files.includes(lock)) ?? [];
  const scripts = recordOf(valueAt(textOf(file), ['scripts']));
  const foundScripts = ['test', 'check', 'lint'].flatMap((word): FoundTest[] => {
    const script = scripts[word];
    if (typeof script !== 'string' || script.trim() === '' || placeholder.test(script))
      return [];
    const command =
      word === 'test' && manager !== 'bun' ? `${manager} test` : `${manager} run ${word}`;
    return [{ name: word === 'test' ? 'tests' : word, command, file, script }];
  });
  const isBun = manager === 'bun' && !foundScripts.some(({ name }) => name === 'tests');
  return isBun
    ? [
        { name: 'tests', command: 'bun test', file: 'the lock file of Bun' },
        ...foundScripts,
      ]
    : foundScripts;
}

function makeTests(textOf: TextOf): FoundTest[] {
  const file = ['GNUmakefile', 'makefile', 'Makefile'].find(
    (name) => textOf(name) !== '',
  );
  if (file === undefined) return [];
  const text = textOf(file);
  return ['test', 'check'].flatMap((target) => {
    const isThere = new RegExp(`^${target}[ \\t]*:(?!=)`, 'm').test(text);
    return isThere ? [{ name: `make-${target}`, command: `make ${target}`, file }] : [];
  });
}

function pythonTests(files: readonly string[], textOf: TextOf): FoundTest[] {
  const file = [
    ...['pytest.ini', 'conftest.py'].filter((name) => files.includes(name)),
    ...['pyproject.toml', 'setup.cfg'].filter((name) => /\bpytest\b/.test(textOf(name))),
  ][0];
  if (file === undefined) return [];
  return [{ name: 'pytest', command: pytestCommand(files), file }];
}

function pytestCommand(files: readonly string[]): string {
  if (files.includes('uv.lock')) return 'uv run pytest';
  return files.includes('poetry.lock') ? 'poetry run pytest' : 'pytest';
}

function denoTests(files: readonly string[], textOf: TextOf): FoundTest[] {
  const file = ['deno.json', 'deno.jsonc'].find((name) => files.includes(name));
  if (file === undefined) return [];
  const task = valueAt(textOf(file), ['tasks', 'test']);
  return [
    { name: 'deno', command: task === undefined ? 'deno test' : 'deno task test', file },
  ];
}

/**
 * Puts commands into the project's file as goal checks. `asked`: what the file then asks
 * a human to accept.
 * @param isNew the file is wanted here even without a check, with the settings that
 * people change most
 */
export function addChecks(
  folder: string,
  commands: readonly string[],
  { isNew, isDry }: Readonly<{ isNew: boolean; isDry: boolean }>,
) {
  const { mode, maxStagnant, maxContinuations, ceiling } = defaultSettings;
  const schema = schemaAddress(folder);
  const settings = {
    ...(schema && { $schema: schema }),
    mode,
    maxStagnant,
    maxContinuations,
    ceiling,
  };
  const refused = (problem: string) => ({ ok: false, problem }) as const;
  const plan = unlessRefused(
    () => planChecks(folder, commands, isNew ? settings : {}),
    refused,
  );
  const path = join(folder, configFileName);
  if ('problem' in plan) return refused(`${path} ${plan.problem}; no check was added.`);
  const { before, after } = plan;
  const read = parseJsonText(after);
  const config = read.ok ? validateConfig(read.value) : read;
  if (!config.ok)
    return refused(
      `${path} is wrong, so no check was added: \`untildone config\` says where.`,
    );
  if (before !== null && commands.length === 0)
    return refused(`${path} is there already and was left as it is.`);
  const problem = isDry || after === before ? null : replaceSettingsFile(plan);
  if (problem !== null) return refused(`${path} ${problem}.`);
  return { ok: true, ...plan, asked: withoutGrants(config.config).config } as const;
}

/**
 * Plans how the project's file changes. `after` equals `before` if every command is a
 * goal check already.
 */
export function planChecks(
  folder: string,
  commands: readonly string[],
  other: Readonly<Record<string, Json>>,
) {
  const path = join(realpathSync(folder), configFileName);
  // A link may lead to a file outside the project.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Refusal('is a link, and is left as it is');
  const { text: before } = readSettingsFile(path);
  const members = Object.entries(before === null ? other : {});
  const initialEdits: JsonEdit[] = members.map(([name, value]) => ({
    kind: 'member',
    path: [name],
    value,
  }));
  const apply = (text: string, edit: JsonEdit) => applyJson(text, edit, '');
  const foundTests = findTests(folder);
  const after = commands.reduce(
    (text, command) => {
      const checks = recordOf(valueAt(text, ['checks']));
      const existingName = Object.entries(checks).find(
        ([, check]) => formatCommand(recordOf(check)['command']) === command,
      )?.[0];
      const wantedName =
        foundTests.find((one) => one.command === command)?.name ?? nameOf(command);
      const name = existingName ?? freeName(wantedName, (one) => one in checks);
      const edits: JsonEdit[] = [
        { kind: 'member', path: ['checks', name], value: { command } },
        { kind: 'entry', path: ['goal'], value: name },
      ];
      return edits.reduce(apply, text);
    },
    initialEdits.reduce(apply, before ?? ''),
  );
  return { path, before, after: after === '' ? '{}\n' : after };
}

/**
 * A command that is a list, as the line that people type, if a shell would read that line
 * as the same words.
 */
function formatCommand(command: unknown): unknown {
  const isPlain =
    Array.isArray(command) &&
    command.every((word) => typeof word === 'string' && isPlainWord(word));
  return isPlain ? command.join(' ') : command;
}

function nameOf(command: string): string {
  const words = command.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return words.slice(0, 40).replace(/^-|-$/g, '') || 'check';
}

function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted;
  for (let number = 2; isTaken(name); number += 1) name = `${wanted}-${number}`;
  return name;
}

/**
 * Where editors find what each setting means: in the project's own node_modules, or else
 * in this copy, by a path of this machine. Null: this copy is temporary (a cache of npx)
 * or has no schema.
 */
export function schemaAddress(folder: string): string | null {
  const within = 'node_modules/untildone/dist/schema.json';
  const isThere = (path: string) =>
    lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (isThere(join(folder, within))) return `./${within}`;
  const ownSchema = packageFolder('dist', 'schema.json');
  return !isThere(ownSchema) || ownSchema.includes('_npx')
    ? null
    : pathToFileURL(ownSchema).href;
}
