// One hook call from stdin to stdout. Whatever happens the host gets exactly one JSON object and the agent is
// unharmed: what cannot be decided is let through, and the reason goes on the record.
import type { Store } from '../../engine/store.ts';
import { stateDirectory } from '../../store/state-directory.ts';
import type { HookFailure } from './hook-log.ts';
import type { HookAnswer, HookCall, HookedHost, HookMoment } from './hook-request.ts';
import { readPayload } from './read-payload.ts';
import { isOwnSession, isRecordedQuickly, openHookStore, recordQuickly } from './record-events.ts';

export interface HookProcess {
  /** File descriptor to read the payload from. */
  readonly input: number;
  readonly environment: HookMoment['environment'];
  /** When the host started this process. */
  readonly startedAt: number;
  readonly toolPrefix: string | null;
  /** In seconds, where the host's settings do not have the timeout that `init` writes. */
  readonly timeout: number | null;
  /** The command line that starts this program again. */
  readonly program: readonly string[];
  /** What most calls never need, loaded when one does. */
  loadLate(): Promise<LatePart>;
  /** Calls back when the host breaks the hook off; returns how to stop listening. */
  onTermination(listener: () => void): () => void;
}

export interface LatePart {
  /** The store comes from the part that every call needs, so that its code is there once. */
  answerCall(host: HookedHost, hook: HookProcess, call: HookCall, store: Store): Promise<HookAnswer>;
  appendFailure(directory: string, failure: HookFailure): void;
}

/** The line for stdout. Never throws. */
export async function runHook(host: HookedHost, hook: HookProcess): Promise<string> {
  let call: HookCall | null = null;
  const log = (code: string, message: string) => logFailure(host, hook, call, code, message);
  try {
    const payload = await readPayload(hook.input);
    const { startedAt: at, environment, toolPrefix } = hook;
    const translation = payload.ok
      ? host.translate(payload.value, { at, environment, toolPrefix })
      : { ...payload, quiet: false };
    if (!translation.ok) {
      if (!translation.quiet) await log('payload', translation.sentence);
      return '{}';
    }
    call = translation.call;
    return JSON.stringify(host.render(await answer(host, hook, call), call.hook));
  } catch (error) {
    // Safe: the agent is let go as if we were not there, and why stands in the log (design: we fail open).
    const sentence = error instanceof Error ? error.message : String(error);
    await log(codeOf(error), sentence);
    if (call?.asks.type !== 'stop') return '{}';
    const message = `could not decide, so the agent may stop. ${sentence}`;
    return JSON.stringify(host.render({ type: 'let-go', message }, call.hook));
  }
}

async function answer(host: HookedHost, hook: HookProcess, call: HookCall): Promise<HookAnswer> {
  // Before the store is opened, which may wait for others: from then on an interrupt is heard.
  const late = isRecordedQuickly(call) ? null : await hook.loadLate();
  const store = await openHookStore(call, hook.environment);
  if (await isOwnSession(store, call)) return { type: 'nothing' };
  if ((await recordQuickly(store, call)) !== null) return { type: 'nothing' };
  return (late ?? (await hook.loadLate())).answerCall(host, hook, call, store);
}

/** Our own errors carry a code for machines, and so do those of the file system. */
function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'unexpected';
}

async function logFailure(
  host: HookedHost,
  { environment, loadLate }: HookProcess,
  call: HookCall | null,
  code: string,
  message: string,
): Promise<void> {
  const failure = { hook: call?.hook ?? null, sessionId: call?.sessionId ?? null, code, message };
  try {
    const { appendFailure } = await loadLate();
    appendFailure(stateDirectory(environment), { at: Date.now(), host: host.name, ...failure });
  } catch {
    // Our own file was taken away while it ran: there is no place left to say so, and the agent must not suffer.
  }
}
