// `untildone gc`: moves sessions that nobody touched for a while into the archive, from
// which a host gets them back whole. `--forget` removes one session for good; it wants a
// human's yes, and refuses an agent and a session at work.
import { UntildoneError } from '../../core/error.ts';
import type { Session } from '../../core/state.ts';
import { ownSession } from '../../engine/session-owner.ts';
import type { KeptRows, Store } from '../../engine/store.ts';
import { type Arguments, type Command, jsonOption } from '../command.ts';
import { isAtWork, nameSession, sessionFields, shortId } from '../describe-session.ts';
import { formatAge, formatTime, parseSpan } from '../describe-time.ts';
import { findSession, withSessions } from '../find-session.ts';
import type { Io } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import {
  escapeForTerminal,
  formatCount,
  printRefusal,
  printResult,
  printWrapped,
} from '../print.ts';
import { saysYes } from '../project-trust.ts';
import { describeCurrentState } from '../session-process.ts';

const defaultAge = '30d';
/**
 * Sessions per transaction: between two, the hooks of running agents get the write lock.
 */
const batchSize = 20;
/** Exit code if the human did not say yes. */
const leftAlone = 3;

export const gc: Command = {
  about: [
    'Archives sessions that were untouched for longer than the age given (90m, 12h, 30d, 4w) and wait for no timer.\nThe archive stays in the same file; nothing is deleted.',
    'With --forget: removes one session for good, archived or not, with everything that is kept of it and of its\nworkers: events, decisions, plan and history, conversation, evidence, usage. It says what that is and asks. Files of\nyour project are not touched. Refused when an agent calls it, and while the session is at work.',
    'Exit codes of --forget: 0 removed, 3 left as it is, 1 refused.',
  ],
  options: {
    'older-than': { value: 'AGE', summary: `How long untouched (${defaultAge}).` },
    forget: { value: 'SESSION', summary: 'Remove this session for good.' },
    yes: { summary: 'Remove it without being asked.' },
    'dry-run': { summary: 'Say what would be done, and change nothing.' },
    ...jsonOption,
  },
  async run(given, io) {
    const word = given.text('forget');
    if (word !== null && given.has('older-than'))
      throw new UntildoneError('usage', 'Say --older-than or --forget, not both.');
    if (word !== null) return forgetSession(given, io, word);
    const age = parseSpan(given.text('older-than') ?? defaultAge);
    if (age === null)
      throw new UntildoneError(
        'usage',
        '--older-than must be a number with m, h, d or w, such as 30d.',
      );
    const before = io.clock.now() - age;
    const dryRun = given.has('dry-run');
    const sessions =
      (await withStore(io, (store) =>
        dryRun ? countOld(store, before) : archiveOld(store, before),
      )) ?? 0;
    const didArchive = sessions === 1 ? 'was archived' : 'were archived';
    const did = dryRun ? 'would be archived' : didArchive;
    return printResult(io, given.has('json'), { sessions, before, dryRun }, () => [
      sessions === 0
        ? `Nothing to archive: no sessions untouched since ${formatTime(before)}.`
        : `${formatCount(sessions, 'session')} untouched since ${formatTime(before)} ${did}.`,
    ]);
  },
};

async function archiveOld(store: Store, before: number): Promise<number> {
  for (let archived = 0; ; ) {
    const moved = await store.archive(before, batchSize);
    archived += moved;
    if (moved < batchSize) return archived;
  }
}

/**
 * Counts by reading. Archiving and rolling back would keep the hooks of running agents
 * waiting.
 */
async function countOld(store: Store, before: number): Promise<number> {
  const sessions = await store.sessions({ limit: Number.MAX_SAFE_INTEGER });
  return sessions.filter(({ updatedAt, timer }) => updatedAt < before && timer === null)
    .length;
}

async function forgetSession(given: Arguments, io: Io, word: string): Promise<number> {
  const agent = await io.agentAbove();
  if (agent !== null)
    return printRefusal(
      io,
      `Only a human may have a session forgotten, and ${agent} called this.`,
    );
  return withSessions(io, async (store) => {
    const session = await findAnySession(store, word, io);
    const name = `Session ${nameSession(session)}`;
    const stop = `\`untildone stop ${shortId(session.id)}\``;
    const { host, parentId } = session.descriptor;
    // Our own agent holds a lease on its session; a host's session is at work only by its
    // record.
    const state = await describeCurrentState(store, session, io.clock.now());
    if (host !== 'untildone' && isAtWork(state))
      return printRefusal(
        io,
        `${name} is at work in ${escapeForTerminal(host, 30)} (${escapeForTerminal(state.words)}). Stop it first: ${stop}.`,
      );
    // Held until the end, so that no run takes the session up in between. The lease is
    // removed with the session.
    const owned = await ownSession({ store, clock: io.clock }, parentId ?? session.id);
    if (!owned.ok)
      return printRefusal(io, `${name} runs in ${owned.process}: ${stop} ends it.`);
    try {
      const json = given.has('json');
      const isTrial = given.has('dry-run');
      const kept = await store.forget(session.id, false);
      if (!json) printWrapped(io, describeKept(session, kept, io));
      // With --json nobody can be asked.
      const forgotten =
        !isTrial && (given.has('yes') || (!json && (await confirmRemoval(io))));
      const removed = forgotten ? await store.forget(session.id, true) : kept;
      const unchangedText = isTrial
        ? 'Nothing was removed: this was a dry run.'
        : 'Left as it is.';
      printResult(io, json, { ...sessionFields(session), removed, forgotten }, () => [
        forgotten ? 'Removed.' : unchangedText,
      ]);
      return forgotten || isTrial ? 0 : leftAlone;
    } finally {
      await owned.release();
    }
  });
}

async function confirmRemoval(io: Io): Promise<boolean> {
  const refusal = await io.whyNoHuman();
  if (refusal !== null)
    throw new UntildoneError('usage', `${refusal} --yes says it without being asked.`);
  return saysYes('Remove it for good?');
}

/** Finds an archived session too: people want to remove what they no longer see. */
async function findAnySession(store: Store, word: string, io: Io): Promise<Session> {
  const [exact] =
    word === '' ? [] : await store.sessions({ id: word, archived: true, limit: 1 });
  if (exact !== undefined) return exact;
  try {
    return await findSession(store, word, io);
  } catch (error) {
    if (!(error instanceof UntildoneError) || word === '') throw error;
    const archived = await store.sessions({ idSuffix: word, archived: true, limit: 2 });
    if (archived[0] === undefined || archived.length > 1) throw error;
    return archived[0];
  }
}

/** The people's words for what a session keeps. */
const nouns: Readonly<Record<string, string>> = {
  events: 'event',
  decisions: 'decision',
  todos: 'todo',
  ledger: 'plan change',
  messages: 'message',
  calls: 'tool call',
  shown: 'shown line',
  evidence: 'check result',
  checkRuns: 'check run',
  usage: 'usage report',
  outbox: 'sent text',
};

function describeKept(session: Session, kept: KeptRows, io: Io): string[] {
  const { descriptor, updatedAt } = session;
  const parts = Object.entries(nouns).flatMap(([what, noun]) => {
    const amount = kept[what] ?? 0;
    return amount === 0 ? [] : [formatCount(amount, noun)];
  });
  const inDirectory =
    descriptor.directory === null
      ? ''
      : `, ${escapeForTerminal(descriptor.directory, 200)}`;
  const workers = (kept['sessions'] ?? 1) - 1;
  const beside = workers === 0 ? '' : ` and ${formatCount(workers, 'worker')}`;
  return [
    `Session ${nameSession(session)} (${escapeForTerminal(descriptor.host, 30)}${inDirectory}, ${formatAge(updatedAt, io.clock.now())})${beside}:`,
    `  ${parts.length === 0 ? 'nothing but its name' : parts.join(', ')}; its marks and what hooks left for it.`,
    ...(descriptor.host === 'untildone'
      ? [
          '  What you allowed in it “always” is asked again, since nothing is left that shows your answer.',
        ]
      : []),
    'This cannot be undone. Files of your project are not touched.',
  ];
}
