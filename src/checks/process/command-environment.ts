// The environment that commands get: a short list of names, so that keys and tokens of the human's shell do
// not reach programs that a model chose. It cannot hide them from a program that looks for them: one of the
// same user can read the environment of our own process in /proc, and the human's files.

const passedOn = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE'],
  ...['XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'NO_PROXY', 'no_proxy'],
];
/** Passed on unless they carry a name and a password. */
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];

/** Nothing may wait for a key press or paint: there is no terminal. */
const fixed = { TERM: 'dumb', NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };

/** Marks every process beneath a session of ours, so that an agent cannot approve itself. */
export const sessionVariable = 'UNTILDONE_SESSION';
/** Marks the processes of one command, so that they are found even in a process group of their own. */
export const processVariable = 'UNTILDONE_PROCESS';

export interface EnvironmentSettings {
  readonly session: string;
  /** Names that the human allowed besides. */
  readonly alsoPassOn?: readonly string[];
}

export function commandEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  { session, alsoPassOn = [] }: EnvironmentSettings,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined) continue;
    const isHarmlessProxy = proxies.includes(name) && !value.includes('@');
    const isPassedOn =
      passedOn.includes(name) || name.startsWith('LC_') || isHarmlessProxy || alsoPassOn.includes(name);
    if (isPassedOn) environment[name] = value;
  }
  return { ...environment, ...fixed, [sessionVariable]: session };
}
