// Tells a human who looks elsewhere about one moment of a session: a document for a
// command of theirs or for a web address. It never puts facts into a shell line, and
// sends neither the environment nor what a tool call holds.
import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import type { Moment, Outcome } from '../core/decision.ts';
import { oneLine } from '../core/safe-text.ts';
import type { noticeEvents, Settings } from '../core/settings.ts';
import type { Session } from '../core/state.ts';
import type { Environment } from './policy.ts';

/** The setting `notify`. */
export type NotifySettings = Settings['notify'];

/** The document that is sent. */
export interface Notice {
  readonly event: (typeof noticeEvents)[number];
  /** Null: the session goes on. */
  readonly outcome: Outcome | null;
  /** One sentence for people. */
  readonly sentence: string;
  readonly session: string;
  readonly title: string | null;
  readonly host: string;
  readonly directory: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The command to type next; null: the human has to answer in the host. */
  readonly next: string | null;
}

/** Makes the document; null if the human does not want to be told of this moment. */
export function createNotice(
  { on }: Pick<NotifySettings, 'on'>,
  { id, title, descriptor }: Pick<Session, 'id' | 'title' | 'descriptor'>,
  moment: Moment & Pick<Notice, 'at'>,
): Notice | null {
  const { outcome, sentence, at } = moment;
  const ended: readonly Notice['event'][] =
    outcome === 'paused' ? ['paused', 'outcome'] : ['outcome'];
  const event = (outcome === null ? (['permission'] as const) : ended).find((kind) =>
    on.includes(kind),
  );
  if (event === undefined) return null;
  const { host, directory } = descriptor;
  return {
    event,
    outcome,
    at,
    sentence: oneLine(sentence, 500),
    session: oneLine(id, 200),
    title: title === null ? null : oneLine(title, 200),
    host: oneLine(host, 40),
    directory: directory === null ? null : oneLine(directory, 1000),
    next: nextCommand(id, host, moment),
  };
}

/** The id of a host's session may be anything; only a plain one is offered for typing. */
function nextCommand(
  id: string,
  host: string,
  { outcome, isApproval = false }: Moment,
): string | null {
  if (!/^\w[\w.-]{0,99}$/u.test(id)) return null;
  const isOurs = host === 'untildone';
  if (outcome === null) return isOurs || isApproval ? `untildone approve ${id}` : null;
  return outcome === 'done' || !isOurs
    ? `untildone why ${id}`
    : `untildone run --resume ${id}`;
}

/** How long we wait: a command then goes on alone, an address counts as failed. */
const patienceMs = 5000;

/**
 * Sends the notice; returns what failed, in sentences. None of them holds the address,
 * which may be a secret. Never throws.
 */
export async function deliverNotice(
  notice: Notice,
  { command, webhook }: Pick<NotifySettings, 'command' | 'webhook'>,
  environment: Environment,
): Promise<readonly string[]> {
  const failed = await Promise.all([
    command === null ? null : runCommand(notice, command, environment),
    webhook === null ? null : post(notice, webhook),
  ]);
  return failed.filter((sentence) => sentence !== null);
}

/**
 * The command does not start in the session's folder: there, the agent could have written
 * `./tell.sh`.
 */
function runCommand(
  notice: Notice,
  command: string,
  environment: Environment,
): Promise<string | null> {
  const variables = Object.entries(notice).map(([name, value]) => [
    `NOTICE_${name.toUpperCase()}`,
    String(value ?? ''),
  ]);
  return new Promise((resolve) => {
    const fail = ({ message }: Error) =>
      resolve(`notify.command could not be started: ${message}.`);
    try {
      const child = spawn(command, {
        shell: true,
        detached: true,
        windowsHide: true,
        cwd: homedir(),
        env: { ...environment, ...Object.fromEntries(variables) },
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      child.once('error', fail);
      child.once('exit', (code) =>
        resolve(
          code === 0 || code === null
            ? null
            : `notify.command ended with exit code ${code}.`,
        ),
      );
      // Safe: a command need not read its input.
      child.stdin?.on('error', () => {});
      child.stdin?.end(`${JSON.stringify(notice)}\n`);
      const leave = () => {
        child.unref();
        resolve(null);
      };
      setTimeout(leave, patienceMs).unref();
    } catch (error) {
      // Safe: the cause is, say, a folder that is gone, and the human is told.
      fail(error as Error);
    }
  });
}

async function post(notice: Notice, webhook: string): Promise<string | null> {
  try {
    const response = await fetch(webhook, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'untildone' },
      body: JSON.stringify(notice),
      // A redirect could turn the request into another one, or send it to another party.
      redirect: 'manual',
      signal: AbortSignal.timeout(patienceMs),
    });
    await response.body?.cancel();
    return response.ok ? null : `notify.webhook answered with status ${response.status}.`;
  } catch (error) {
    // Safe: nothing depends on the notice, and the human is told.
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    return isLate
      ? 'notify.webhook did not answer within 5 s.'
      : 'notify.webhook could not be reached.';
  }
}
