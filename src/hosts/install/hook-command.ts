// The command that a host runs as a hook: how it is written, and how one of ours is known again, of this version or
// an older one. It is a line for `sh`, so every path in it is quoted.

export type HookCommand =
  /** Absolute paths of this machine. */
  | { readonly kind: 'copied'; readonly node: string; readonly file: string; readonly version: string }
  /** For a file that is committed: `npx` finds or fetches the package. */
  | { readonly kind: 'portable'; readonly version: string };

/** The file's name inside `bin/VERSION/` of the state directory. */
export const hookFileName = 'hook.js';

/** @param words what follows the host's name; plain words only */
export function writeHookCommand(command: HookCommand, host: string, words: readonly string[] = []): string {
  const program =
    command.kind === 'portable'
      ? // Without retries: a registry that cannot be reached must not hold up a host for a minute.
        `npx -y --fetch-retries=0 untildone@${command.version} hook`
      : `${quoteForShell(command.node)} ${quoteForShell(command.file)}`;
  return [program, host, ...words].join(' ');
}

const quoted = String.raw`'((?:[^']|'\\'')*)'`;
const copiedPattern = new RegExp(`^${quoted} ${quoted} (\\S+)(?: [\\w=-]+)*$`, 's');
const portablePattern = /^npx -y (?:--fetch-retries=0 )?untildone@(\S+) hook (\S+)(?: [\w=-]+)*$/;
const filePattern = /[\\/]bin[\\/]([^\\/]+)[\\/]hook\.js$/;

/** Null: it is not a command of ours for this host. */
export function readHookCommand(text: string, host: string): HookCommand | null {
  const portable = portablePattern.exec(text);
  if (portable?.[2] === host) return { kind: 'portable', version: portable[1] ?? '' };
  const copied = copiedPattern.exec(text);
  if (copied?.[3] !== host) return null;
  const [node, file] = [unquote(copied[1]), unquote(copied[2])];
  const version = filePattern.exec(file)?.[1];
  return version === undefined ? null : { kind: 'copied', node, file, version };
}

/** In single quotes nothing has a meaning to sh but the quote itself. */
function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function unquote(text = ''): string {
  return text.replaceAll("'\\''", "'");
}
