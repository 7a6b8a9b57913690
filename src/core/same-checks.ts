// Checks that ask for the same under several names are one check (V1): it runs once and is told once. Each of its names
// finds it in the policy, and its id is what everything after the policy goes by.
import type { CheckSpec } from './check-specs.ts';

/** By name; a check with several names stands under each of them. */
export type Checks = Readonly<Record<string, CheckSpec>>;

/** A name that the policy does not know stays as it is: it fails when it is asked for. */
export function checkIds(checks: Checks | undefined, names: readonly string[]): readonly string[] {
  return [...new Set(names.map((name) => findCheck(checks, name)?.id ?? name))];
}

export function findCheck(checks: Checks | undefined, name: string): CheckSpec | undefined {
  return checks !== undefined && Object.hasOwn(checks, name) ? checks[name] : undefined;
}

/** Every name that a human or a file gave to this check, its id aside. */
export function otherNames(checks: Checks | undefined, id: string): readonly string[] {
  return Object.keys(checks ?? {}).filter((name) => name !== id && findCheck(checks, name)?.id === id);
}

/** Each check once. */
export function distinctChecks(checks: Checks | undefined): readonly CheckSpec[] {
  return Object.entries(checks ?? {}).flatMap(([name, spec]) => (name === spec.id ? [spec] : []));
}

/** Names whose checks ask for the same get one check between them, with the longest of their timeouts. */
export function uniteChecks(checks: Checks): Checks {
  const united = new Map<string, CheckSpec>();
  for (const [id, spec] of Object.entries(checks).sort(compareNames)) {
    const demand = describeDemand(spec);
    const known = united.get(demand) ?? { ...spec, id };
    united.set(demand, { ...known, timeoutMs: Math.max(known.timeoutMs, spec.timeoutMs) });
  }
  return Object.fromEntries(
    Object.entries(checks).map(([name, spec]) => [name, united.get(describeDemand(spec)) ?? spec]),
  );
}

type Entry = readonly [name: string, spec: CheckSpec];

/**
 * The id is the line that a human typed, where there is one: it says what runs, and holds where no file knows the name.
 * The order in which the names were given does not count, because a stored policy is sorted.
 */
function compareNames([left, one]: Entry, [right, other]: Entry): number {
  return rankName(left, one) - rankName(right, other) || (left < right ? -1 : 1);
}

function rankName(name: string, spec: CheckSpec): number {
  if (!name.startsWith('$ ')) return 1;
  return spec.kind === 'command' && 'shell' in spec.command ? 0 : 2;
}

/** Equal texts: the checks run the same, in the same place, with the same rights, and are judged alike. */
function describeDemand(spec: CheckSpec): string {
  const { id: _, timeoutMs: __, ...demand } = { ...spec, files: sorted(spec.files) };
  const plain =
    demand.kind !== 'command'
      ? demand
      : {
          ...demand,
          command: wordsOf(demand.command),
          directory: (demand.directory ?? '').replace(/^(?:\.\/+)+|\/+$/gu, '').replace(/^\.$/u, ''),
          environment: sorted(demand.environment),
        };
  return JSON.stringify(Object.entries(plain).sort(([left], [right]) => (left < right ? -1 : 1)));
}

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort();

type Command = Extract<CheckSpec, { kind: 'command' }>['command'];

/** A line that a shell would only split at its blanks is the same as its words. */
function wordsOf(command: Command): Command {
  if (!('shell' in command)) return command;
  const words = command.shell.trim().split(/[ \t]+/u);
  const [program = ''] = words;
  const isPlain = words.every(isPlainWord) && !program.includes('=') && !shellWords.has(program);
  return isPlain ? words : { shell: command.shell.trim() };
}

/** No shell would read it otherwise: then one line stands for exactly one argv. */
export function isPlainWord(word: string): boolean {
  return /^[\w@%+=:,./-]+$/u.test(word);
}

/** What a shell does itself instead of starting the program of that name. */
const shellWords: ReadonlySet<string> = new Set(
  [
    '. : alias bg bind break builtin caller case cd chdir command compgen complete continue coproc declare dirs disown',
    'do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if',
    'in jobs kill let local logout mapfile newgrp popd printf pushd pwd read readarray readonly return select set shift',
    'shopt source suspend test then time times trap true type typeset ulimit umask unalias unset until wait while',
  ].flatMap((names) => names.split(' ')),
);
