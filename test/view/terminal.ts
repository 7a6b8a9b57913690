// A real terminal for the tests and pictures of the live view: a tmux of its own, keys
// sent, screen read. It waits for what is on the screen, never for a fixed time, and ends
// its own server only.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly directory: string;
  /** All of it: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Terminal {
  /** Starts a program in the shell of the terminal; each word is quoted. */
  run(...words: readonly string[]): void;
  /** Keys by the names of tmux: `C-c`, `Enter`, `Up`, `PageDown`. */
  press(...keys: readonly string[]): void;
  /** Letters, as they are. */
  type(text: string): void;
  /**
   * As a terminal pastes: between the marks of a paste, if the program asked for them.
   */
  paste(text: string): void;
  /** What is on the screen now. */
  screen(): string;
  /** The same with its colours. */
  picture(): string;
  /** The screen and everything above it. */
  scrollback(): string;
  resize(columns: number, rows: number): void;
  /** Resolves with the screen once it fits; fails with what was there instead. */
  sees(wanted: string | RegExp, milliseconds?: number): Promise<string>;
  gone(unwanted: string | RegExp, milliseconds?: number): Promise<string>;
  /** Resolves with the exit code of what was run. */
  ended(milliseconds?: number): Promise<number>;
  /** Modes that a program may leave behind. */
  modes(): Promise<{
    readonly echo: boolean;
    readonly lines: boolean;
    readonly cursor: boolean;
  }>;
  /** The process that the shell has started. */
  program(): number;
  close(): void;
}

/** A machine with two busy cores may take this long to start a program. */
const patienceMs = 30_000;
const lookMs = 50;

export function openTerminal({
  columns = 80,
  rows = 24,
  directory,
  environment,
}: TerminalOptions): Terminal {
  const socket = `untildone-${randomUUID().slice(0, 8)}`;
  let runs = 0;
  const tmux = (...words: readonly string[]): string =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...words], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const variables = Object.entries({ TERM: 'tmux-256color', ...environment, PS1: '$ ' });
  tmux(
    ...['new-session', '-d', '-x', String(columns), '-y', String(rows), '-c', directory],
    ...[
      'env',
      '-i',
      ...variables.map(([name, value]) => `${name}=${value}`),
      'bash',
      '--norc',
      '--noprofile',
    ],
  );
  tmux('set-option', '-g', 'history-limit', '5000');
  tmux('set-option', '-g', 'status', 'off');
  tmux('resize-window', '-x', String(columns), '-y', String(rows));

  const screen = (): string => tmux('capture-pane', '-p').replace(/\s+$/u, '');
  const scrollback = (): string =>
    tmux('capture-pane', '-p', '-S', '-').replace(/\s+$/u, '');

  async function until(
    fits: (screen: string) => boolean,
    what: string,
    milliseconds: number,
  ): Promise<string> {
    const deadline = Date.now() + milliseconds;
    for (;;) {
      const seen = screen();
      if (fits(seen)) return seen;
      if (Date.now() > deadline)
        throw new Error(`${what}; on the screen is:\n${scrollback()}`);
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }

  const holds = (wanted: string | RegExp, text: string): boolean =>
    typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);

  return {
    run(...words) {
      runs += 1;
      const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
      // Cleared first, so that the screen holds nothing but the program.
      tmux('send-keys', '-l', `clear; ${quoted}; echo "ended-${runs}=$?"`);
      tmux('send-keys', 'Enter');
    },
    press: (...keys) => void tmux('send-keys', ...keys),
    type: (text) => void tmux('send-keys', '-l', text),
    paste(text) {
      tmux('set-buffer', text);
      tmux('paste-buffer', '-p', '-r');
    },
    screen,
    picture: () => tmux('capture-pane', '-e', '-p'),
    scrollback,
    resize: (width, height) =>
      void tmux('resize-window', '-x', String(width), '-y', String(height)),
    sees: (wanted, milliseconds = patienceMs) =>
      until((seen) => holds(wanted, seen), `${wanted} did not come`, milliseconds),
    gone: (unwanted, milliseconds = patienceMs) =>
      until((seen) => !holds(unwanted, seen), `${unwanted} did not go`, milliseconds),
    async ended(milliseconds = patienceMs) {
      const mark = new RegExp(`ended-${runs}=(\\d+)$`, 'mu');
      await until(() => mark.test(scrollback()), 'the program did not end', milliseconds);
      return Number(mark.exec(scrollback())?.[1]);
    },
    async modes() {
      tmux('send-keys', '-l', 'clear; stty -a; echo shown');
      tmux('send-keys', 'Enter');
      const seen = await until(
        (text) => /^shown$/mu.test(text),
        'stty said nothing',
        patienceMs,
      );
      const cursor = tmux('display-message', '-p', '#{cursor_flag}').trim() === '1';
      return { echo: / echo /u.test(seen), lines: / icanon /u.test(seen), cursor };
    },
    program() {
      const shell = tmux('display-message', '-p', '#{pane_pid}').trim();
      return Number(
        execFileSync('pgrep', ['-P', shell], { encoding: 'utf8' }).trim().split('\n')[0],
      );
    },
    close() {
      try {
        tmux('kill-server');
      } catch {
        // Safe: the server ends by itself when its shell has ended.
      }
    },
  };
}
