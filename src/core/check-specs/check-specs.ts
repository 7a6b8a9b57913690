// All checks of a configuration as specs, and which of them a todo gets: by its title, or by what its agent proposes
// and a human allowed (V3). Pure; a name that leads nowhere is a problem with its path, never a check left out.

import type { CheckSpec } from '../check-spec.ts';
import type { CheckSettings } from '../config/check-settings.ts';
import { excerpt } from '../config/excerpt.ts';
import { collectProblems, joinPath, type Problem, type Report } from '../config/problem.ts';
import { expandBraces } from '../glob/brace-expansion.ts';
import { compileNames, matchesNames } from '../glob/glob-pattern.ts';
import { createCommandCheck, readCheck, reportPatterns } from './read-check.ts';

export interface ReadChecks {
  readonly specs: Readonly<Record<string, CheckSpec>>;
  readonly problems: readonly Problem[];
}

/** The ids of what was allowed as argv begin with this; names may not. */
const argvPrefix = '$ ';

export function readCheckSettings(settings: CheckSettings): ReadChecks {
  const { report, problems } = collectProblems();
  const specs: [string, CheckSpec][] = [];
  for (const [name, setting] of Object.entries(settings.checks)) {
    const path = joinPath('checks', name);
    if (name.startsWith(argvPrefix)) report(path, `a name must not begin with "${argvPrefix}"`);
    const spec = readCheck(name, setting, path, report);
    if (spec !== null) specs.push([name, spec]);
  }
  for (const [index, allowed] of settings.allowChecks.entries()) {
    if (typeof allowed === 'string') reportUnknown(settings, [allowed], `allowChecks[${index}]`, report);
    else if (allowed.length === 0) report(`allowChecks[${index}]`, 'must name a program');
    else specs.push([argvId(allowed), createCommandCheck(argvId(allowed), allowed)]);
  }
  for (const [index, name] of settings.goal.entries())
    reportUnknown(settings, [name], `goal[${index}]`, report);
  for (const [index, { title, checks }] of settings.todoChecks.entries()) {
    const path = `todoChecks[${index}]`;
    if (title === undefined) report(path, 'must have a title');
    else if (expandBraces(title) === null)
      report(`${path}.title`, 'stands for too many patterns: use fewer braces');
    reportUnknown(settings, checks ?? [], `${path}.checks`, report);
  }
  reportPatterns(settings.protect, 'protect', report);
  return { specs: Object.fromEntries(specs), problems: problems() };
}

/** By id. What is wrong in the settings is left out: whoever must know asks `readCheckSettings`. */
export function checkSpecs(settings: CheckSettings): Readonly<Record<string, CheckSpec>> {
  return readCheckSettings(settings).specs;
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

/** The id of the check that an agent proposed, by name, as argv or as argv in one line; null: no human allowed it. */
export function allowedProposal(
  settings: CheckSettings,
  proposal: string | readonly string[],
): string | null {
  for (const allowed of settings.allowChecks) {
    const id = typeof allowed === 'string' ? checkId(allowed) : argvId(allowed);
    const named = typeof allowed === 'string' ? ownEntry(settings.checks, id) : undefined;
    if (typeof allowed === 'string' && named === undefined) continue;
    const argv = typeof allowed === 'string' ? named?.command : allowed;
    if (typeof proposal === 'string') {
      if (checkId(proposal) === id || (Array.isArray(argv) && isSameLine(argv, proposal))) return id;
    } else if (Array.isArray(argv) && isSameArgv(argv, proposal)) return id;
  }
  return null;
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

function isSameLine(argv: readonly string[], line: string): boolean {
  return argv.every(isPlainWord) && argv.join(' ') === line.trim();
}

function isSameArgv(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((word, index) => word === right[index]);
}

function fitsTitle(pattern: string, title: string): boolean {
  const patterns = expandBraces(pattern.trim().toLowerCase()) ?? [];
  return patterns.some((one) => matchesNames(compileNames([one]), [title]));
}

function reportUnknown(
  settings: CheckSettings,
  names: readonly string[],
  path: string,
  report: Report,
): void {
  for (const name of names) {
    if (ownEntry(settings.checks, checkId(name)) === undefined)
      report(path, `there is no check named ${excerpt(name)}`);
  }
}

function ownEntry<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
