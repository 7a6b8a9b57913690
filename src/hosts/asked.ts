// Hosts that ask us before an agent stops: one hook call from stdin to stdout. Whatever happens the host gets exactly one
// JSON object and exit code 0: what cannot be decided is let through, and the reason goes into hook.log. Every call loads
// this file, so it holds only what a call needs that merely records; the rest is asked-answers.ts. It knows no host.
import { readSync, statSync, writeSync } from 'node:fs';
import type { Policy } from '../core/policy.ts';
import type { Environment } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { openDatabase } from '../store/sqlite/open-database.ts';
import { openUserStore } from '../store/sqlite/sqlite-store.ts';
import { storePath } from '../store/state-directory.ts';
import type { AskedHost, BindReceipt, HookAnswer, HookCall, HookProcess } from './asked-call.ts';
import { hostOf, hosts } from './hosts.ts';

/** Another process that holds the store this long is broken; an agent must not wait for it at every tool call. */
const lockPatienceMs = { stop: 20_000, completion: 10_000, other: 3000 } as const;

/** Never throws, and ends the process: a check that still runs must not hold the host. */
export async function runHook(argv: readonly string[], bindReceipt: BindReceipt): Promise<void> {
  const [name = '', ...options] = argv;
  const prefix = optionValue(options, 'tools', /^\w{1,120}$/u);
  const timeout = optionValue(options, 'timeout', /^\d{1,6}$/u);
  // Nothing else keeps the process alive while it waits: the clock's own timers do not.
  setInterval(() => {}, 60_000);
  const line = await answerLine(name, {
    environment: process.env,
    // Not `performance.timeOrigin`: the module behind it takes longer to load than all the rest of this file.
    startedAt: Math.round(Date.now() - process.uptime() * 1000),
    toolPrefix: prefix,
    timeout: timeout === null ? null : Number(timeout),
    bindReceipt,
    whenTerminated: () => terminated ?? new Promise(() => {}),
  });
  await print(`${line}\n`);
  await keepLogShort(process.env);
  process.exit(0);
}

/** A value that makes no sense is left aside: a hook has nobody to complain to. */
function optionValue(options: readonly string[], name: string, shape: RegExp): string | null {
  const value = options.find((option) => option.startsWith(`--${name}=`))?.slice(name.length + 3);
  return value !== undefined && shape.test(value) ? value : null;
}

/** The line for stdout. Never throws. */
async function answerLine(hostName: string, hook: HookProcess): Promise<string> {
  let host: AskedHost | undefined;
  let call: HookCall | null = null;
  try {
    host = await hostOf(hostName)?.asked?.();
    if (host === undefined) {
      const known = hosts.flatMap(({ name, asked }) => (asked === undefined ? [] : [name])).join(', ');
      const sentence = `There is no host "${hostName.slice(0, 80)}" with hooks; known are ${known}.`;
      await logFailure('unknown', hook, null, 'host', sentence);
      return '{}';
    }
    const { startedAt: at, environment, toolPrefix } = hook;
    const payload = await readPayload();
    const translation = payload.ok ? host.translate(payload.value, { at, environment, toolPrefix }) : payload;
    if (!translation.ok) {
      if (!translation.quiet) await logFailure(host.name, hook, null, 'payload', translation.sentence);
      return '{}';
    }
    call = translation.call;
    return JSON.stringify(host.render(await answer(host, hook, call), call.hook));
  } catch (error) {
    // Safe: the agent may stop as if we were not there, and why stands in the log (design: we fail open).
    const sentence = error instanceof Error ? error.message : String(error);
    const { code } = Object(error) as { readonly code?: unknown };
    const kind = typeof code === 'string' ? code : 'unexpected';
    await logFailure(host?.name ?? 'unknown', hook, call, kind, sentence);
    if (host === undefined || call?.asks.type !== 'stop') return '{}';
    const message = `could not decide, so the agent may stop. ${sentence}`;
    return JSON.stringify(host.render({ type: 'let-go', message }, call.hook));
  }
}

async function answer(host: AskedHost, hook: HookProcess, call: HookCall): Promise<HookAnswer> {
  const { asks, timeout } = call;
  const isQuick = asks.type === 'complete' || (asks.type === 'record' && asks.receipt === null);
  // Before the store is opened, which may wait for others: from then on an interrupt is heard.
  const answers = isQuick ? null : await loadAnswers();
  // Left open on purpose: closing the last connection would copy the log into the store and wait for the disk.
  const store = await openUserStore(hook.environment, {
    clock: Date,
    busyTimeoutMs: lockPatienceMs[timeout],
  });
  if (await isSettledQuickly(store, call)) return { type: 'nothing' };
  const { answerCall } = answers ?? (await loadAnswers());
  return answerCall(host, hook, call, store);
}

let terminated: Promise<void> | null = null;

function loadAnswers(): Promise<typeof import('./asked-answers.ts')> {
  // From before the rest is loaded: an interrupt that comes meanwhile would end the process unrecorded.
  terminated ??= new Promise((resolve) => process.on('SIGTERM', () => resolve()));
  return import('./asked-answers.ts');
}

/** Puts what happened into the inbox and is gone: the next call that has to answer folds it. */
async function isSettledQuickly(store: Store, { asks, sessionId }: HookCall): Promise<boolean> {
  // Without its plan, which none of this needs.
  const [session] = await store.sessions({ id: sessionId, limit: 1 });
  // Our own agent has no hooks: whoever calls one in the name of its session is not its host, but may be itself.
  if (session?.descriptor.host === 'untildone') return true;
  if (asks.type === 'complete') return !(await hasChecks(store, sessionId, session?.policyHash ?? null));
  if (asks.type !== 'record' || asks.receipt !== null) return false;
  await store.append(asks.events);
  return true;
}

/** Does the policy that the session is judged by know any check at all? Without one no completion can be refused. */
async function hasChecks(store: Store, sessionId: string, last: string | null): Promise<boolean> {
  const waiting = (await store.events({ sessionId, waiting: true })).map(({ event }) => event);
  const hash = waiting.findLast((event) => event.type === 'human-spoke')?.policyHash ?? last;
  const text = hash === null ? null : await store.policy(hash);
  return text === null || Object.keys((JSON.parse(text) as Policy).checks ?? {}).length > 0;
}

async function logFailure(
  host: string,
  { environment }: HookProcess,
  call: HookCall | null,
  code: string,
  message: string,
): Promise<void> {
  try {
    const { appendFailure } = await loadAnswers();
    const [hook, sessionId] = [call?.hook ?? null, call?.sessionId ?? null];
    appendFailure(environment, { at: Date.now(), host, hook, sessionId, code, message });
  } catch {
    // Safe: our own files were taken away while it ran. There is no place left to say so.
  }
}

/** The largest honest payload is a tool's result with the file before and after it. */
export const mostPayloadBytes = 33_554_432;

type Payload =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly quiet: false; readonly sentence: string };

/** Without a stream: setting one up would cost a hook more than all the rest of its work. */
async function readPayload(): Promise<Payload> {
  const refuse = (sentence: string) => ({ ok: false, quiet: false, sentence }) as const;
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536);
    const length = await retryWhenBusy(() => readSync(0, chunk), ['EOF', 'EBADF']);
    if (length === 0) break;
    size += length;
    // What is too much is still read to its end: a host that is cut off in mid-write reports a broken hook.
    if (size <= mostPayloadBytes) chunks.push(chunk.subarray(0, length));
    else chunks.length = 0;
  }
  if (size > mostPayloadBytes) return refuse(`The host sent ${size} bytes, more than ${mostPayloadBytes}.`);
  if (size === 0) return refuse('The host sent nothing.');
  try {
    return { ok: true, value: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    // Safe: what cannot be read asks for nothing, and the sentence goes on the record.
    return refuse('The host sent something that is not JSON.');
  }
}

async function print(text: string): Promise<void> {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    // A host that has gone away wants no answer.
    const written = await retryWhenBusy(() => writeSync(1, rest), null);
    if (written === 0) return;
    rest = rest.subarray(written);
  }
}

/**
 * Bytes that were moved; 0: the end. A pipe that is empty or full for the moment is tried again a little later.
 * @param ends error codes that mean the end (Windows reports that of a pipe as an error); null: all do
 */
async function retryWhenBusy(move: () => number, ends: readonly string[] | null): Promise<number> {
  for (;;) {
    try {
      return move();
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (code !== 'EAGAIN' && (ends === null || ends.includes(code))) return 0;
      if (code !== 'EAGAIN') throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** About fifty calls. Each call reads half of it again, in under a millisecond; copying waits for the disk: be rare. */
const mostLogBytes = 1_048_576;

/**
 * Each call leaves the store without closing it, and so the next one finds SQLite's log as after a crash: it reads all of
 * it and forgets how much is in the store already. With nobody else to look after it the log would grow with every call.
 */
export async function keepLogShort(environment: Environment): Promise<void> {
  const path = storePath(environment);
  try {
    const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (size < mostLogBytes) return;
    // After the answer is out. Where another process is at work in the store, the next call does it.
    const database = await openDatabase(path);
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // Safe: nothing is lost, the log only stays as long as it is.
  }
}
