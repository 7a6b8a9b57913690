// Reads one check of the configuration as a whole: which kind it is, and that nothing of another kind stands in it.
// Whatever is wrong is reported with its path; no check is made out of a half of one.

import type { CheckSpec, CommandCheck, FileCheck } from '../check-spec.ts';
import type { CheckSetting } from '../config/check-settings.ts';
import { joinPath, type Report } from '../config/problem.ts';
import { createPathSet } from '../glob/path-set.ts';
import { compileExpression } from './expression.ts';

/** A test suite takes minutes; a check that hangs must not hold an agent for an hour. */
const commandSeconds = 600;
/** A file or an address on this machine answers at once or not at all. */
const otherSeconds = 10;

const kinds = ['command', 'file', 'http', 'human'] as const;
type CheckKind = (typeof kinds)[number];

const fieldsByKind: Readonly<Record<CheckKind, readonly (keyof CheckSetting)[]>> = {
  command: ['command', 'directory', 'expectExit', 'expectOutput', 'environment'],
  file: ['file', 'exists', 'absent', 'matches'],
  http: ['http', 'status', 'body', 'anyHost'],
  human: ['human'],
};
const fieldsOfAll: readonly (keyof CheckSetting)[] = ['timeoutSeconds', 'files'];

/** null: something was reported. */
export function readCheck(id: string, setting: CheckSetting, path: string, report: Report): CheckSpec | null {
  const given = kinds.filter((kind) => setting[kind] !== undefined);
  const [kind] = given;
  if (kind === undefined || given.length > 1) {
    report(path, 'must have exactly one of command, file, http, human');
    return null;
  }
  let isRight = true;
  const wrong: Report = (where, message) => {
    isRight = false;
    report(where, message);
  };
  const known = [...fieldsByKind[kind], ...fieldsOfAll];
  for (const field of Object.keys(setting) as (keyof CheckSetting)[]) {
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

type Base = Pick<CheckSpec, 'id' | 'files' | 'timeoutMs'>;

function readKind(
  kind: CheckKind,
  base: Base,
  setting: CheckSetting,
  path: string,
  report: Report,
): CheckSpec {
  switch (kind) {
    case 'command':
      return readCommand(base, setting, path, report);
    case 'file':
      reportPath(setting.file ?? '', joinPath(path, 'file'), report);
      return { ...base, kind, path: setting.file ?? '', expect: readExpectation(setting, path, report) };
    case 'http':
      if (!isWebAddress(setting.http ?? ''))
        report(joinPath(path, 'http'), 'must be an address that begins with http:// or https://');
      return {
        ...base,
        kind,
        url: setting.http ?? '',
        expectStatus: setting.status ?? 200,
        expectBody: setting.body ?? null,
        anyHost: setting.anyHost ?? false,
      };
    case 'human':
      return { ...base, kind, question: setting.human ?? '' };
  }
}

/** A command with nothing said about it but the command. */
export function createCommandCheck(id: string, command: CommandCheck['command']): CommandCheck {
  return {
    id,
    files: [],
    timeoutMs: commandSeconds * 1000,
    kind: 'command',
    command,
    directory: null,
    expectExit: 0,
    expectOutput: null,
    environment: [],
  };
}

function readCommand(base: Base, setting: CheckSetting, path: string, report: Report): CommandCheck {
  const { command = [], directory, environment = [] } = setting;
  if (command.length === 0) report(joinPath(path, 'command'), 'must name a program');
  if (directory !== undefined) reportPath(directory, joinPath(path, 'directory'), report);
  for (const [index, name] of environment.entries()) {
    if (!/^[A-Za-z_]\w*$/u.test(name))
      report(`${joinPath(path, 'environment')}[${index}]`, 'must be the name of an environment variable');
  }
  return {
    ...createCommandCheck(base.id, typeof command === 'string' ? { shell: command } : command),
    ...base,
    directory: directory ?? null,
    expectExit: setting.expectExit ?? 0,
    expectOutput: setting.expectOutput ?? null,
    environment,
  };
}

function readExpectation(setting: CheckSetting, path: string, report: Report): FileCheck['expect'] {
  const { exists, absent, matches } = setting;
  const given = [exists, absent, matches].filter((value) => value !== undefined);
  if (given.length > 1) report(path, 'must have at most one of exists, absent, matches');
  if (matches !== undefined) return { matches };
  return absent === true || exists === false ? 'absent' : 'exists';
}

/** Links are looked at when the check runs; this only refuses what can never be inside. */
function reportPath(given: string, path: string, report: Report): void {
  if (given.startsWith('/') || given.split('/').includes('..'))
    report(path, 'must be a path inside the workspace, relative to it and without ".."');
}

export function reportPatterns(patterns: readonly string[], path: string, report: Report): void {
  for (const [index, pattern] of patterns.entries()) {
    const set = createPathSet([pattern]);
    if (!set.ok) report(`${path}[${index}]`, set.error);
  }
}

function isWebAddress(address: string): boolean {
  return /^https?:\/\//iu.test(address) && URL.canParse(address);
}
