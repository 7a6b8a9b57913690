// How the plugin speaks to the human: a toast where someone looks at a screen, a line on the error output where the
// host leaves by itself. Failures of our own are told once and written to the log, never thrown at the host.
import { oneLine } from '../../core/safe-text.ts';
import type { Clock } from '../../engine/clock.ts';
import { stateDirectory } from '../../store/state-directory.ts';
import { appendFailure } from '../hook/hook-log.ts';
import type { HostCalls } from './host-calls.ts';

/** Long enough to read a sentence twice. */
const noticeMs = 6000;

export interface Notice {
  readonly level: 'info' | 'warning';
  readonly title: string;
  readonly message: string;
}

export interface Speaker {
  notify(notice: Notice): Promise<void>;
  /** The same warning is given once. */
  warnOnce(message: string): void;
  onError(error: unknown): void;
}

export interface SpeakerOptions {
  readonly calls: HostCalls;
  readonly clock: Clock;
  readonly headless: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly write: (line: string) => void;
}

export function createSpeaker({ calls, clock, headless, environment, write }: SpeakerOptions): Speaker {
  const told = new Set<string>();

  async function notify({ level, title, message }: Notice): Promise<void> {
    if (headless) write(`${oneLine(title, 80)}: ${oneLine(message, 500)}\n`);
    else await calls.toast({ level, title, message, durationMs: noticeMs });
  }

  function warnOnce(message: string): void {
    if (told.has(message)) return;
    told.add(message);
    // A toast that cannot be shown changes nothing: what happened stands in the log.
    notify({ level: 'warning', title: 'untildone', message }).catch(() => {});
  }

  return {
    notify,
    warnOnce,
    onError(error) {
      const message = error instanceof Error ? error.message : String(error);
      const code = (error as { readonly code?: unknown } | null)?.code;
      appendFailure(stateDirectory(environment), {
        ...{ at: clock.now(), host: 'opencode', hook: 'plugin', sessionId: null },
        code: typeof code === 'string' ? code : 'unexpected',
        message,
      });
      warnOnce(`could not follow what happened, so the agent is left alone. ${oneLine(message, 300)}`);
    },
  };
}
