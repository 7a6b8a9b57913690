// A project's own settings of its host put variables into the environment of hooks, and
// anyone may have written those settings (V10). This file knows which variables untildone
// and the programs that it starts read, and takes those that the project set out of the
// environment.
import { userInfo } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { isPassedOn } from '../checks/process.ts';
import type { Environment } from '../engine/policy.ts';
import { scriptSwitch } from '../engine/start-program.ts';
import { holdsProgram } from '../store/state-directory.ts';
import type { AskedHost } from './asked-call.ts';

const patternOf = (...names: readonly string[]) =>
  new RegExp(`^(?:${names.join('|')})$`, 'u');
/** Our own settings, and the variable that names the user whose files root trusts. */
const ownVariable = patternOf('UNTILDONE_\\w+', 'SUDO_UID');
/**
 * Read by the loader, the C library, /bin/sh, SQLite, Node and Bun. Variables of git are
 * not here: the git that we start gets none of them.
 */
const runtimeVariable = patternOf(
  'LD_\\w+|DYLD_\\w+|GLIBC_TUNABLES|LOCPATH|GCONV_PATH|MALLOC_\\w+',
  'BASH_ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|PS4',
  'SQLITE_\\w+|OPENSSL_\\w+|SSLKEYLOGFILE|UV_\\w+|ICU_DATA',
  'NODE_(?:OPTIONS|PATH|COMPILE_CACHE\\w*|DISABLE_\\w+|DEBUG\\w*|ICU_DATA|V8_COVERAGE|TLS_\\w+|USE_\\w+)',
  'NODE_(?:CHANNEL_\\w+|UNIQUE_ID|PENDING_\\w+|PRESERVE_\\w+|REDIRECT_WARNINGS|REPL_\\w+|NO_WARNINGS|TEST_\\w+)',
  `BUN_\\w+|${scriptSwitch}`,
);

/**
 * Whether a variable takes effect before any line of ours runs: we can keep it from the
 * programs that we start, but from ourselves only if `startVariables` clears it.
 */
export const isReadAtStart = (name: string): boolean => runtimeVariable.test(name);

/**
 * With one of these, Node runs other code first, takes our code from elsewhere, or ends at
 * once. An empty value has no effect.
 */
const cleared: Readonly<Record<string, string>> = {
  NODE_OPTIONS: '',
  NODE_CHANNEL_FD: '',
  NODE_COMPILE_CACHE: '',
  NODE_V8_COVERAGE: '',
  OPENSSL_CONF: '',
};

/** Whether a variable takes effect in our hooks although `init` clears some. */
export const isReadTooEarly = (name: string): boolean =>
  isReadAtStart(name) && !Object.hasOwn(cleared, name);

/**
 * The variables that a host's hook lines and our server set, if a project can set
 * variables in that host. A command line of Windows cannot set any.
 */
export const startVariables = ({
  projectVariables,
}: Pick<AskedHost, 'projectVariables'>) =>
  projectVariables === undefined || process.platform === 'win32' ? {} : cleared;

/**
 * Whether untildone reads a variable; each adapter names more. A variable that only a
 * check names is not among them: the human asked for it.
 */
export const isReadByUs = (name: string): boolean =>
  ownVariable.test(name) || isReadAtStart(name) || isPassedOn(name);

type VariableSources = Readonly<{
  /**
   * Names that the project's settings set. null: the settings cannot be read, and may set
   * any.
   */
  strangers: readonly string[] | null;
  /** Names that the host's adapter reads. */
  alsoRead: readonly string[];
  /** The state directory that the command line of the hook names; null: it names none. */
  home: string | null;
}>;

/**
 * The environment without what a project set and we read; `ignored` are the names that
 * were taken out.
 */
export function withoutStrangers(
  environment: Environment,
  { strangers, alsoRead, home }: VariableSources,
) {
  const isRead = (name: string) => isReadByUs(name) || alsoRead.includes(name);
  const isCleared = (name: string) =>
    environment[name] === '' && Object.hasOwn(cleared, name);
  const all = () => Object.keys(environment).filter((name) => !isCleared(name));
  const suspects = [...new Set(strangers ?? all())].filter(isRead);
  if (suspects.length === 0) return { environment, ignored: [] };
  const { UNTILDONE_HOME: state } = environment;
  // Either `init` wrote this path, since our program was copied there, or the command
  // line of the hook names it.
  const isOurHome = state !== undefined && (state === home || holdsProgram(state));
  const userVariables = readUserVariables();
  const isHarmless = (name: string) =>
    (name === 'UNTILDONE_HOME' && isOurHome) ||
    (name in userVariables && userVariables[name] === environment[name]);
  const ignored = suspects.filter((name) => !isHarmless(name));
  const kept = Object.entries(environment).filter(([name]) => !ignored.includes(name));
  // npm and npx lie beside the Node that runs us.
  const PATH = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(
    delimiter,
  );
  const replaced = Object.entries({ ...userVariables, PATH }).filter(([name]) =>
    ignored.includes(name),
  );
  return { environment: Object.fromEntries([...kept, ...replaced]), ignored };
}

/**
 * The variables that name the user, as the system knows them: the environment has no say.
 */
function readUserVariables(): Environment {
  try {
    const { homedir, username } = userInfo();
    return { HOME: homedir, USER: username, LOGNAME: username };
  } catch {
    // Safe: the user of a container may have no name; then these variables are taken out
    // and not replaced.
    return {};
  }
}

const mostNamed = 6;

/** Tells the human which variables were ignored, and what to do. */
export function ignoredSentence(
  ignored: readonly string[],
  strangers: readonly string[] | null,
): string {
  const more = ignored.length - mostNamed;
  const named = [
    ...ignored.slice(0, mostNamed),
    ...(more > 0 ? [`${more} more`] : []),
  ].join(', ');
  return strangers === null
    ? `The host's settings in this project cannot be read and may set any variable, such as ${named}: those that untildone reads are ignored until the files of the settings are short and valid.`
    : `The host's settings in this project set ${named}: that is ignored. Set it in your own environment.`;
}
