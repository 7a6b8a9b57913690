// Answers one hook call of a host that asks us at a stop, from stdin to stdout. The host
// always gets JSON and exit code 0; failures go into hook.log. Every call loads this
// file, so it holds only what a call needs that merely records.
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
 * How long a hook waits for the store; a process that holds it for longer is broken. The
 * deadline of the host comes first all the same.
 */
const lockPatienceMs = {
  stop: 20_000,
  completion: 10_000,
  other: 3000,
  ending: 1500,
} as const;
/** Even a hook that has hardly any time left waits this long for others that write. */
const leastPatienceMs = 100;

/**
 * Answers the hook call of this process and ends it, because a check that still runs must
 * not hold the host.
 */
export async function runHook(
  given: readonly string[],
  bindReceipt: HookProcess['bindReceipt'],
) {
  const [name = '', ...options] = given;
  // A value that makes no sense is ignored: a hook has nobody to complain to.
  const option = (shape: RegExp) =>
    options.map((one) => shape.exec(one)?.[1]).find(Boolean) ?? null;
  // A timer, because nothing else keeps the process alive while it waits.
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

/**
 * The line for the host. `environment`: without the variables that the project set; null:
 * it is not known which those are.
 */
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
      // Safe: our own files are gone, so there is no place left to say so.
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
 * What a failed call means, in words for the human; null: only the log says it. A human
 * who has to move a store away learns it at their message too, because every stop will
 * fail.
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
 * Takes variables that a project set out of the environment (V10). Must run before
 * anything else in this process reads the environment.
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
  // Loaded first: the store may keep us waiting, and an interrupt must be heard
  // meanwhile.
  if (!onlyRecords(asks) && asks.type !== 'complete') await loadAnswers();
  const leftMs = Math.max(deadlineOf(hook, call) - Date.now(), leastPatienceMs);
  // Never closed: that would copy the log into the store and wait for the disk.
  return openUserStore(hook.environment, {
    busyTimeoutMs: Math.min(lockPatienceMs[timeout], leftMs),
    // A stop needs its answer now; other events may wait in the spool.
    ...((timeout === 'other' || timeout === 'ending') && { onSpooled }),
  });
}

const onlyRecords = (asks: HookCall['asks']): asks is AsksOf<'record'> =>
  asks.type === 'record' && !asks.decided && !asks.listed;

async function answer(question: Question): Promise<HookAnswer> {
  const { call, store } = question;
  const { asks, sessionId, descriptor } = call;
  const [session] = await store.sessions({ id: sessionId, limit: 1 });
  // Our own agent has no hooks: a call in the name of its session may come from the
  // agent.
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
    // No completion can be refused if the session's policy has no check.
    if (policy !== null && Object.keys(policy.checks ?? {}).length === 0) return {};
  }
  const answers = await loadAnswers();
  return answers.answerCall(question, answers.terminated);
}

/**
 * Title and policy of the session, by the human's last message, which may still wait in
 * the inbox.
 */
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
  // The listener comes first: an interrupt during the import would end the process
  // unrecorded.
  terminated ??= new Promise((resolve) => process.on('SIGTERM', resolve));
  return { ...(await import('./asked-answers.ts')), terminated };
}

/** Some shells on Windows write it before what they pipe. */
const byteOrderMark = '\u{feff}';

/**
 * The most that is read of a payload. The largest honest payload holds a file before and
 * after a tool's call.
 */
export const mostPayloadBytes = 33_554_432;

/** `bytes`: at most `mostPayloadBytes` of them; `size`: how many came. */
type Payload = Readonly<{ bytes: Buffer; size: number }>;

/**
 * Reads stdin without a stream, because setting up a stream costs more than the rest of a
 * hook.
 */
async function readPayload(): Promise<Payload> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536);
    // Windows reports the end of a pipe as an error.
    const length = await retryWhenBusy(() => readSync(0, chunk), ['EOF', 'EBADF']);
    if (length === 0) break;
    size += length;
    // A payload that is too large is read to its end all the same: a host that is cut off
    // while it writes reports a broken hook.
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
 * Gives how many bytes were moved; 0: the end, which errors with the codes in `ends` mean
 * (null: every error). A busy pipe is tried again.
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

/**
 * The size of about fifty calls. Copying the log less often matters because it waits for
 * the disk.
 */
const mostLogBytes = 1_048_576;

/**
 * Copies SQLite's log into the store once it is long: each call leaves the store as after
 * a crash, and nobody else copies the log. While others write, the next call does it. A
 * stop that ends the turn copies all of it, because SQLite silently drops what stands
 * behind a damage in the log (V5). An agent that is continued does not wait for the disk:
 * the mark beside the store shows what a turn loses.
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
