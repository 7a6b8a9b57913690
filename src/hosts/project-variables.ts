// A project's own settings of its host put variables into the environment of hooks, and anyone may have written those (V10).
// Which of them untildone and the programs that it starts would read, and what is left of the environment without them.
import { userInfo } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { isPassedOn } from '../checks/process.ts';
import type { Environment } from '../engine/policy.ts';
import { scriptSwitch } from '../engine/start-program.ts';
import { holdsProgram } from '../store/state-directory.ts';

const patternOf = (...names: readonly string[]) => new RegExp(`^(?:${names.join('|')})$`, 'u');
/** Of our own settings; and whose files a root user trusts. */
const ownVariable = patternOf('UNTILDONE_\\w+', 'SUDO_UID');
/** Of the loader, the C library, /bin/sh, SQLite, Node and Bun. None of git's reaches the git that we start. */
const runtimeVariable = patternOf(
  'LD_\\w+|DYLD_\\w+|GLIBC_TUNABLES|LOCPATH|GCONV_PATH|MALLOC_\\w+',
  'BASH_ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|PS4',
  'SQLITE_\\w+|OPENSSL_\\w+|SSLKEYLOGFILE|UV_\\w+|ICU_DATA',
  'NODE_(?:OPTIONS|PATH|COMPILE_CACHE\\w*|DISABLE_\\w+|DEBUG\\w*|ICU_DATA|V8_COVERAGE|TLS_\\w+|USE_\\w+)',
  'NODE_(?:CHANNEL_\\w+|UNIQUE_ID|PENDING_\\w+|PRESERVE_\\w+|REDIRECT_WARNINGS|REPL_\\w+|NO_WARNINGS|TEST_\\w+)',
  `BUN_\\w+|${scriptSwitch}`,
);

/** Before any line of ours runs: it can be kept from the programs that we start, and not from us. */
export const actsAtStart = (name: string): boolean => runtimeVariable.test(name);

/** Besides those that the part of a host names. What only a check names is the human's word. */
export const isReadByUs = (name: string): boolean =>
  ownVariable.test(name) || actsAtStart(name) || isPassedOn(name);

type Found = Readonly<{
  /** That the project's settings set. null: they cannot be read, and may set any. */
  strangers: readonly string[] | null;
  /** Read by the part of the host. */
  alsoRead: readonly string[];
  /** The state directory, where the call of the hook names it. */
  home: string | null;
}>;

/** `ignored`: those that were taken out. */
export function withoutStrangers(given: Environment, { strangers, alsoRead, home }: Found) {
  const isRead = (name: string) => isReadByUs(name) || alsoRead.includes(name);
  const said = [...new Set(strangers ?? Object.keys(given))].filter(isRead);
  if (said.length === 0) return { environment: given, ignored: [] };
  const { UNTILDONE_HOME: state } = given;
  // As `init` wrote it: this very program was copied there. Or named by whoever started the host for one run.
  const isOurs = state !== undefined && (state === home || holdsProgram(state));
  const known = knownBySystem();
  const isRight = (name: string) =>
    (name === 'UNTILDONE_HOME' && isOurs) || (name in known && known[name] === given[name]);
  const ignored = said.filter((name) => !isRight(name));
  const kept = Object.entries(given).filter(([name]) => !ignored.includes(name));
  // npm and npx lie beside the Node that runs us.
  const PATH = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
  const right = Object.entries({ ...known, PATH }).filter(([name]) => ignored.includes(name));
  return { environment: Object.fromEntries([...kept, ...right]), ignored };
}

function knownBySystem(): Environment {
  try {
    const { homedir, username } = userInfo();
    return { HOME: homedir, USER: username, LOGNAME: username };
  } catch {
    // Safe: the user of a container may have no name; then these variables are only taken out.
    return {};
  }
}

const mostNamed = 6;

/** For the human. */
export function ignoredSentence(ignored: readonly string[], strangers: readonly string[] | null): string {
  const more = ignored.length - mostNamed;
  const named = [...ignored.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return strangers === null
    ? `The host's settings in this project cannot be read and may set any variable, such as ${named}: those that untildone reads are ignored until the settings are short and plain JSON.`
    : `The host's settings in this project set ${named}: that is ignored. Set it in your own environment.`;
}
