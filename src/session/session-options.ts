// What `openSession` can be given. Everything has a default; what is wrong is told in one
// sentence with its path, before anything is opened.
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { validateConfig } from '../core/config.ts';
import type { Decision } from '../core/decision.ts';
import { UntildoneError } from '../core/error.ts';
import type { Policy } from '../core/policy.ts';
import { excerpt, problemSentence } from '../core/problem.ts';
import { identifier, type Kind, list, read, section, taken } from '../core/schema.ts';
import type { PartialSettings } from '../core/settings.ts';
import type { OwnTexts } from '../core/texts.ts';
import type { Checker, Clock, Identifiers } from '../engine/host.ts';
import type { Environment } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers, errorCode, systemClock } from '../engine/system.ts';

/** The part of an AbortSignal that we use, so that our types do not need Node's. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
}

/**
 * What `openSession` can be given; what is wrong is told in one sentence, before anything
 * is opened.
 */
export interface SessionOptions {
  /** What is to be done, in the human's words. */
  readonly goal?: string;
  /** Shell lines that must succeed before the work counts as done, such as `npm test`. */
  readonly checks?: readonly string[];
  /** Where the work is. Default: the current directory. */
  readonly directory?: string;
  /** As in untildone.json, and stronger than it. */
  readonly settings?: PartialSettings;
  /**
   * A file of its own, or ':memory:'. Default: the store of this user, which `untildone
   * status` shows.
   */
  readonly store?: Store | string;
  /**
   * A session with this id is taken up again, with its plan; if there is none, it begins.
   * Default: a new id.
   */
  readonly id?: string;
  /**
   * The human's stop: nothing more is asked of the agent, and the outcome is `aborted`.
   */
  readonly signal?: AbortSignalLike;
  /** Called for every decision: continuation, wait or end. */
  readonly onDecision?: (decision: Decision) => void;
  /**
   * Your own words for a continuation; what must stay in them is checked. Default: ours,
   * or those of the settings.
   */
  readonly texts?: OwnTexts;
  /** What the human should know. Default: a warning of the process. */
  readonly onNotice?: (sentence: string) => void;
  /** Instead of the settings and checks in files. */
  readonly policy?: Policy;
  /** Instead of the one that runs commands. */
  readonly checker?: Checker;
  readonly clock?: Clock;
  readonly identifiers?: Identifiers;
  /** Default: that of the process. */
  readonly environment?: Environment;
}

const words: Kind<string> = {
  type: 'text',
  minimum: 1,
  maximum: 1_000_000,
  notBlank: true,
  expected: 'a text that is not blank',
};
const anything = taken((value) => value);
/** What a value must at least have to be what it is taken for. */
const shapes: Readonly<
  Record<string, readonly [expected: string, ...methods: string[]]>
> = {
  signal: ['an AbortSignal', 'addEventListener'],
  checker: ['a checker', 'run'],
  clock: ['a clock', 'now', 'wake'],
  identifiers: ['identifiers', 'next'],
  store: ['a path, ":memory:" or a store', 'step', 'state', 'lease'],
  onDecision: ['a function', 'call'],
  onNotice: ['a function', 'call'],
  texts: ['a function', 'call'],
  environment: ['an object with variables'],
  policy: ['a policy'],
};

const optionTable = section({
  goal: words,
  directory: words,
  id: identifier,
  checks: list(words),
  settings: anything,
  ...Object.fromEntries(Object.keys(shapes).map((name) => [name, anything])),
});

/** @internal Not in the declarations: it has types of Node. */
export type OpenedOptions = Omit<ReturnType<typeof readSessionOptions>, 'goal'> & {
  readonly goal?: string | undefined;
};

/** @internal As above. */
export function readSessionOptions(given: SessionOptions) {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  const known = Object.entries(isObject ? given : {}).filter(
    ([, value]) => value !== undefined,
  );
  const fields = read(optionTable, isObject ? Object.fromEntries(known) : given, 1);
  if (!fields.ok) throw wrong(fields.problems.map(problemSentence).join('; '));
  for (const [name, value] of known) refuseUnlike(name, value);
  if (given.policy !== undefined && !Array.isArray(given.policy.goalChecks))
    throw wrongValue('policy.goalChecks', 'a list', given.policy.goalChecks);
  if (given.policy !== undefined && typeof given.policy.settings !== 'object')
    throw wrongValue('policy.settings', 'an object', given.policy.settings);
  const settings = validateConfig(given.settings ?? {});
  if (!settings.ok)
    throw wrong(
      settings.problems
        .map(({ path, message }) => `${settingPath(path)}: ${message}`)
        .join('; '),
    );
  const { clock = systemClock, onNotice = warn } = given;
  const identifiers = given.identifiers ?? createIdentifiers(clock);
  const environment: Environment = given.environment ?? process.env;
  return {
    ...given,
    checks: given.checks ?? [],
    settings,
    clock,
    onNotice,
    identifiers,
    id: given.id ?? identifiers.next(),
    environment,
    signal: realSignal(given.signal),
    directory: realDirectory(given.directory ?? '.'),
  };
}

const settingPath = (path: string) =>
  `settings${/^(\[|$)/u.test(path) ? '' : '.'}${path}`;
const wrong = (sentence: string) =>
  new UntildoneError('usage', `openSession: ${sentence}`);
const wrongValue = (path: string, expected: string, value: unknown) =>
  wrong(`${path}: must be ${expected}, got ${excerpt(value)}`);

function refuseUnlike(path: string, value: unknown) {
  if (path === 'store' && typeof value === 'string' && value.trim() !== '') return;
  const [expected, ...methods] = Object.hasOwn(shapes, path) ? (shapes[path] ?? []) : [];
  const isThing =
    (typeof value === 'object' && value !== null) || typeof value === 'function';
  const has = (method: string) =>
    typeof (value as Record<string, unknown>)[method] === 'function';
  if (expected !== undefined && !(isThing && methods.every(has)))
    throw wrongValue(path, expected, value);
}

function realDirectory(path: string): string {
  try {
    const real = realpathSync(resolve(path));
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    throw wrong(`directory: ${excerpt(path)} cannot be opened (${errorCode(error)})`);
  }
  throw wrong(`directory: ${excerpt(path)} is not a folder`);
}

/** One of another realm, or one that only looks like it, is followed. */
function realSignal(given: AbortSignalLike = new AbortController().signal): AbortSignal {
  if (given instanceof AbortSignal) return given;
  const own = new AbortController();
  if (given.aborted) own.abort();
  else given.addEventListener('abort', () => own.abort());
  return own.signal;
}

function warn(sentence: string): void {
  process.emitWarning(sentence, 'UntildoneWarning');
}
