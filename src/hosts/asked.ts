// One hook call of a host that asks, from stdin to stdout. Whatever happens, the host
// gets one JSON object and exit code 0; what went wrong goes into hook.log. Holds only
// what a call needs that merely records: every call loads this file.
import { readSync, statSync, writeSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { messageOf, UntildoneError } from '../core/error.ts';
import type { Policy } from '../core/policy.ts';
import type { Session } from '../core/state.ts';
import type { Store } from '../engine/store.ts';
import { openDatabase } from '../store/sqlite/open-database.ts';
import { openUserStore } from '../store/sqlite/sqlite-store.ts';
import { storePath } from '../store/state-directory.ts';
import type {
  AskedHost,
  AsksOf,
  HookAnswer,
  HookCall,
  HookProcess,
  Question,
} from './asked-call.ts';
import { deadlineOf } from './asked-call.ts';
import { drivenCall } from './driven.ts';
import { hostOf, hosts } from './hosts.ts';
import { withoutStrangers } from './project-variables.ts';
import { recordOf } from './untrusted.ts';

/**
 * Who holds the store for longer is broken. The answer has to be out before the host
 * gives up all the same.
 */
const lockPatienceMs = {
  stop: 20_000,
  completion: 10_000,
  other: 3000,
  ending: 1500,
} as const;
/** A hook that has hardly any time still takes its turn between others that write. */
const leastPatienceMs = 100;

/** Ends the process: a check that still runs must not hold the host. */
export async function runHook(
  given: readonly string[],
  bindReceipt: HookProcess['bindReceipt'],
) {
  const [name = '', ...options] = given;
  // A value without sense is left aside: a hook has nobody to complain to.
  const option = (shape: RegExp) =>
    options.map((one) => shape.exec(one)?.[1]).find(Boolean) ?? null;
  // Nothing else keeps the process alive while it waits.
  setInterval(() => {}, 60_000);
  const home = option(/^--home=(\/.{1,4000})$/su);
  const { line, isEnd, environment } = await answerLine(name, {
    // Not `performance.timeOrigin`: its module takes longer to load than this file.
    at: Math.round(Date.now() - process.uptime() * 1000),
    since: steady() - process.uptime() * 1000,
    steady,
    environment: { ...process.env, ...(home !== null && { UNTILDONE_HOME: home }) },
    home,
    toolPrefix: option(/^--tools=([\w-]{1,120})$/u),
    timeout: Number(option(/^--timeout=(\d{1,6})$/u)) || null,
    ignored: [],
    bindReceipt,
  });
  await print(`${line}\n`);
  if (environment !== null) await keepLogShort(environment, isEnd ? 1 : mostLogBytes);
  process.exit(0);
}

function steady(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** `environment`: without what the project said; null: nobody knows what it said. */
async function answerLine(name: string, started: HookProcess) {
  let hook = started;
  let host: AskedHost | undefined;
  let call: HookCall | null = null;
  let spooled: unknown = null;
  let sent: Payload = { bytes: Buffer.alloc(0), size: 0 };
  const log = async (error: unknown) => {
    try {
      const { appendFailure } = await loadAnswers();
      appendFailure(hook.environment, error, {
        at: Date.now(),
        host: host === undefined ? 'unknown' : name,
        hook: call?.hook ?? null,
        sessionId: call?.sessionId ?? null,
        ...(call?.asks.type === 'stop' ? { stopOf: call.promptId } : {}),
      });
    } catch {
      // Safe: our own files are gone, and there is no place left to say so.
    }
  };
  try {
    host = await hostOf(name)?.asked?.();
    if (host === undefined) {
      const known = hosts
        .flatMap((row) => (row.asked === undefined ? [] : [row.name]))
        .join(', ');
      throw failure(
        'host',
        `There is no host "${name.slice(0, 80)}" with hooks; known are ${known}.`,
      );
    }
    sent = await readPayload();
    const payload = parsePayload(sent);
    hook = removeProjectVariables(hook, host, payload);
    const translation = host.translate(payload, hook);
    if (!translation.ok) {
      if (translation.sentence === null)
        return { line: '{}', isEnd: false, environment: null };
      throw failure('payload', translation.sentence);
    }
    call = translation.call;
    const store = await openStore(hook, call, (error) => {
      spooled = error;
    });
    call = await drivenCall({ store, host, hook, name }, call, payload);
    const given = await answer({ host, hook, call, store });
    if (spooled !== null) await log(spooled);
    const isEnd = call.asks.type === 'stop' && !given.text;
    return {
      line: linesOf([host.render(given, call.hook)].flat()),
      isEnd,
      environment: hook.environment,
    };
  } catch (error) {
    // Safe: the agent may stop, and the log says why.
    await log(error);
    const environment = call === null ? null : hook.environment;
    const hookName = call === null ? host?.findStop(sent.bytes) : call.hook;
    const result = call === null ? undecided : resultToTell(call, error);
    if (host === undefined || !hookName || result === null)
      return { line: '{}', isEnd: false, environment };
    const message = `${result} ${messageOf(error)}`;
    const line = linesOf([host.render({ message }, hookName)].flat());
    return { line, isEnd: result === undecided, environment };
  }
}

const undecided = 'could not decide, so the agent may stop.';

/**
 * What became of the call that failed, for the human; null: only the log says it. A store
 * that the human has to move away is told at their message too: every stop will fail.
 */
function resultToTell({ asks }: HookCall, error: unknown): string | null {
  if (asks.type === 'stop') return undecided;
  const isOlder = error instanceof UntildoneError && error.code === 'store-older';
  return asks.type === 'prompt' && isOlder
    ? 'cannot follow this session, so the agent may stop whenever it likes.'
    : null;
}

const linesOf = (answers: readonly object[]) =>
  answers.map((one) => JSON.stringify(one)).join('\n');

/**
 * Called before anything else reads the environment: nothing in this process sees what a
 * project set (V10).
 */
function removeProjectVariables(
  hook: HookProcess,
  host: AskedHost,
  payload: unknown,
): HookProcess {
  const given = hook.environment;
  const { cwd } = recordOf(payload);
  const directory = typeof cwd === 'string' && isAbsolute(cwd) ? cwd : null;
  const strangers =
    host.projectVariables === undefined ? [] : host.projectVariables(directory, given);
  const sources = { strangers, alsoRead: host.variables, home: hook.home ?? null };
  const { environment, ignored } = withoutStrangers(given, sources);
  // Node and SQLite read the environment of the process itself.
  for (const name of ignored) delete process.env[name];
  return { ...hook, environment, ignored, strangers, given };
}

const failure = (code: 'host' | 'payload', sentence: string, cause?: unknown) =>
  Object.assign(new Error(sentence, { cause }), { code });

async function openStore(
  hook: HookProcess,
  call: HookCall,
  onSpooled: (error: unknown) => void,
) {
  const { asks, timeout } = call;
  // The store may wait for others: an interrupt is heard before.
  if (!onlyRecords(asks) && asks.type !== 'complete') await loadAnswers();
  const leftMs = Math.max(deadlineOf(hook, call) - Date.now(), leastPatienceMs);
  // Never closed: that would copy the log into the store and wait for the disk.
  return openUserStore(hook.environment, {
    busyTimeoutMs: Math.min(lockPatienceMs[timeout], leftMs),
    // A stop has to be answered; all else may wait for it.
    ...((timeout === 'other' || timeout === 'ending') && { onSpooled }),
  });
}

const onlyRecords = (asks: HookCall['asks']): asks is AsksOf<'record'> =>
  asks.type === 'record' && !asks.decided && !asks.listed;

async function answer(question: Question): Promise<HookAnswer> {
  const { call, store } = question;
  const { asks, sessionId, descriptor } = call;
  const [session] = await store.sessions({ id: sessionId, limit: 1 });
  // Our own agent has no hooks: who calls one in its session's name may be the agent.
  if (session?.descriptor.host === 'untildone' && descriptor.driven === undefined)
    return {};
  if (onlyRecords(asks)) {
    await store.append(asks.events);
    if (!asks.asksHuman) return {};
    const { policy, ...last } = await lastMessage(store, sessionId, session);
    const { command = null, webhook = null } = policy?.settings.notify ?? {};
    if ((command ?? webhook) !== null)
      await (await loadAnswers()).tellAsked(question, last);
    return {};
  }
  if (asks.type === 'complete') {
    const { policy } = await lastMessage(store, sessionId, session);
    // Without a check in the session's policy no completion can be refused.
    if (policy !== null && Object.keys(policy.checks ?? {}).length === 0) return {};
  }
  const answers = await loadAnswers();
  return answers.answerCall(question, answers.terminated);
}

/** The human's newest one may still wait to be folded. */
async function lastMessage(store: Store, sessionId: string, known: Session | undefined) {
  const waiting = (await store.events({ sessionId, waiting: true })).map(
    ({ event }) => event,
  );
  const spoken = waiting.filter((event) => event.type === 'human-spoke');
  const title = known?.title ?? spoken[0]?.text?.slice(0, 200) ?? null;
  const policyHash = spoken.at(-1)?.policyHash ?? known?.policyHash ?? null;
  const policy = policyHash === null ? null : await store.policy(policyHash);
  return {
    policyHash,
    policy: policy === null ? null : (JSON.parse(policy) as Policy),
    title,
  };
}

let terminated: Promise<unknown> | null = null;
async function loadAnswers() {
  // First: an interrupt meanwhile would end the process unrecorded.
  terminated ??= new Promise((resolve) => process.on('SIGTERM', resolve));
  return { ...(await import('./asked-answers.ts')), terminated };
}

/** Some shells on Windows put it before what they pipe. */
const byteOrderMark = '\u{feff}';

/** The largest honest one holds a file before and after a tool's call. */
export const mostPayloadBytes = 33_554_432;

/** `bytes`: at most so many of them. */
type Payload = Readonly<{ bytes: Buffer; size: number }>;

/** Without a stream: to set one up costs more than the rest of a hook. */
async function readPayload(): Promise<Payload> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536);
    // Windows reports the end of a pipe as an error.
    const length = await retryWhenBusy(() => readSync(0, chunk), ['EOF', 'EBADF']);
    if (length === 0) break;
    size += length;
    // Still read to its end: a host that is cut off in mid-write reports a broken hook.
    if (size <= mostPayloadBytes) chunks.push(chunk.subarray(0, length));
  }
  return { bytes: Buffer.concat(chunks), size };
}

function parsePayload({ bytes, size }: Payload): unknown {
  if (size > mostPayloadBytes)
    throw failure(
      'payload',
      `The host sent ${size} bytes, more than ${mostPayloadBytes}.`,
    );
  if (size === 0) throw failure('payload', 'The host sent nothing.');
  try {
    const text = bytes.toString('utf8');
    return JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text);
  } catch (error) {
    // The parser's own words would quote the payload.
    throw failure('payload', 'The host sent something that is not JSON in UTF-8.', error);
  }
}

async function print(text: string): Promise<void> {
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    const written = await retryWhenBusy(() => writeSync(1, rest), null);
    if (written === 0) return;
    rest = rest.subarray(written);
  }
}

/**
 * Bytes that were moved; 0: the end, which errors with these codes mean (null: all). A
 * busy pipe is tried again.
 */
async function retryWhenBusy(
  move: () => number,
  ends: readonly string[] | null,
): Promise<number> {
  for (;;) {
    try {
      return move();
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') await new Promise((resolve) => setTimeout(resolve, 1));
      else if (ends?.includes(code) !== false) return 0;
      else throw error;
    }
  }
}

/** About fifty calls: copying waits for the disk. */
const mostLogBytes = 1_048_576;

/**
 * Each call leaves the store as after a crash: nobody else copies SQLite's log. While
 * others write, the next call does. A stop that ends the turn copies all of it: from a
 * damaged log SQLite drops quietly what comes behind the damage (V5). An agent that is
 * continued does not wait for the disk: what a turn loses, the mark beside the store
 * shows.
 */
export async function keepLogShort(
  environment: HookProcess['environment'],
  most = mostLogBytes,
) {
  const path = storePath(environment);
  try {
    const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (size < most) return;
    const database = await openDatabase(path);
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // Safe: the log only stays as long as it is.
  }
}
