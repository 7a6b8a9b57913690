// Checks that ask for the same under several names are one check (V1): it runs once and
// is shown once. The policy finds it under each of its names; everything else knows it by
// its id.
import type { CheckSpec, CommandCheck } from './check-specs.ts';

/** By name; a check with several names stands under each of them. */
export type Checks = Readonly<Record<string, CheckSpec>>;

/**
 * Each id once. A name that the policy does not know stays as it is: such a check fails
 * when it is to run.
 */
export function checkIds(
  checks: Checks | undefined,
  names: readonly string[],
): readonly string[] {
  return [...new Set(names.map((name) => findCheck(checks, name)?.id ?? name))];
}

/** The check with this name; undefined: the policy does not know it. */
export function findCheck(
  checks: Checks | undefined,
  name: string,
): CheckSpec | undefined {
  return checks !== undefined && Object.hasOwn(checks, name) ? checks[name] : undefined;
}

/** Every name that a human or a file gave to this check, except its id. */
export function otherNames(checks: Checks | undefined, id: string): readonly string[] {
  return Object.keys(checks ?? {}).filter(
    (name) => name !== id && findCheck(checks, name)?.id === id,
  );
}

/** Every check once, whichever names it has. */
export function distinctChecks(checks: Checks | undefined): readonly CheckSpec[] {
  return Object.entries(checks ?? {}).flatMap(([name, spec]) =>
    name === spec.id ? [spec] : [],
  );
}

/**
 * Names whose checks ask for the same share one check, with the longest of their
 * timeouts.
 */
export function uniteChecks(checks: Checks): Checks {
  const united = new Map<string, CheckSpec>();
  for (const [id, spec] of Object.entries(checks).sort(compareNames)) {
    const demand = describeDemand(spec);
    const known = united.get(demand) ?? { ...spec, id };
    united.set(demand, {
      ...known,
      timeoutMs: Math.max(known.timeoutMs, spec.timeoutMs),
    });
  }
  return Object.fromEntries(
    Object.entries(checks).map(([name, spec]) => [
      name,
      united.get(describeDemand(spec)) ?? spec,
    ]),
  );
}

type NamedCheck = readonly [name: string, spec: CheckSpec];

/**
 * The first name in this order becomes the id. A line that a human typed comes first: it
 * says what runs, and it is valid even where no file knows the name. The order in which
 * the names were given does not count, because a stored policy is sorted.
 */
function compareNames(
  [left, leftSpec]: NamedCheck,
  [right, rightSpec]: NamedCheck,
): number {
  const difference = rankName(left, leftSpec) - rankName(right, rightSpec);
  if (difference !== 0) return difference;
  return left < right ? -1 : 1;
}

function rankName(name: string, spec: CheckSpec): number {
  if (!name.startsWith('$ ')) return 1;
  return spec.kind === 'command' && 'shell' in spec.command ? 0 : 2;
}

/**
 * Two checks with equal texts run the same, in the same folder, with the same rights, and
 * are judged by the same rules.
 */
function describeDemand(spec: CheckSpec): string {
  const { id: _, timeoutMs: __, ...demand } = { ...spec, files: sortedOnce(spec.files) };
  const normal =
    demand.kind === 'command' ? { ...demand, ...normaliseCommand(demand) } : demand;
  return JSON.stringify(
    Object.entries(normal).sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}

type CommandFields = Pick<CommandCheck, 'command' | 'directory' | 'environment'>;

function normaliseCommand({
  command,
  directory,
  environment,
}: CommandFields): CommandFields {
  const withoutSlashes = (directory ?? '').replace(/^(?:\.\/+)+|\/+$/gu, '');
  return {
    command: splitPlainLine(command),
    directory: withoutSlashes === '.' ? '' : withoutSlashes,
    environment: [...sortedOnce(environment)],
  };
}

const sortedOnce = (texts: readonly string[]): readonly string[] =>
  [...new Set(texts)].sort();

/**
 * A line that a shell would only split at its blanks asks for the same as the list of its
 * words.
 */
function splitPlainLine(command: CommandCheck['command']): CommandCheck['command'] {
  if (!('shell' in command)) return command;
  const words = command.shell.trim().split(/[ \t]+/u);
  const [program = ''] = words;
  const isPlain =
    words.every(isPlainWord) && !program.includes('=') && !shellBuiltins.has(program);
  return isPlain ? words : { shell: command.shell.trim() };
}

/**
 * No shell reads anything but the word itself in it. A line of such words stands for
 * exactly one argv.
 */
export function isPlainWord(word: string): boolean {
  return /^[\w@%+=:,./-]+$/u.test(word);
}

/** Words that a shell carries out itself instead of starting a program of that name. */
const shellBuiltins: ReadonlySet<string> = new Set(
  [
    '. : alias bg bind break builtin caller case cd chdir command compgen complete continue coproc declare dirs disown',
    'do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if',
    'in jobs kill let local logout mapfile newgrp popd printf pushd pwd read readarray readonly return select set shift',
    'shopt source suspend test then time times trap true type typeset ulimit umask unalias unset until wait while',
  ].flatMap((names) => names.split(' ')),
);
