// Everything that is read again at the moment of acting (G5): the messages, for an abort or a word of the human that no
// event told of; the background work; the list. What cannot be read holds nothing up.
import { endsInQuestion } from '../../core/ends-in-question.ts';
import type { PlanWritten } from '../../core/events.ts';
import type { Session } from '../../core/session.ts';
import { readHostError } from '../told/host-error.ts';
import { type EnforcerContext, storedId, tell } from './enforcer-context.ts';
import type { EnforcerMessage } from './enforcer-options.ts';
import { findOwn } from './own-message.ts';
import { assistantSpoke, humanSpoke } from './perform-message.ts';
import { remember } from './session-memory.ts';

/** One entry stands for all: a count has no names. */
export const backgroundJob = { id: 'background', kind: 'subagent', description: 'background work' } as const;

export interface LookedAt {
  /** The last answer ends in a question. */
  readonly question: boolean;
  /** Someone has spoken since the agent stopped, and the event of it is still on its way. */
  readonly overtaken: boolean;
  /** What stands at the end; another mark at the next look: the agent has gone on writing. */
  readonly mark: string | null;
}

/** Tells what the messages show and no event said. */
export async function lookAtMessages(context: EnforcerContext, sessionId: string): Promise<LookedAt> {
  const messages = await context.program.messages(sessionId);
  if (messages === null) return { question: false, overtaken: false, mark: null };
  const memory = context.memories.of(sessionId);
  const first = !memory.looked;
  memory.looked = true;
  const { session, rows } = await context.store.read(async (reader) => ({
    session: await reader.session(storedId(context, sessionId)),
    rows: await reader.outbox(storedId(context, sessionId)),
  }));
  const asked = messages.filter((message) => message.role === 'user' && findOwn(rows, message) === null);
  await noticeHumans(context, sessionId, asked, session);
  const last = asked.at(-1);
  const since = last === undefined ? messages : messages.slice(messages.lastIndexOf(last) + 1);
  const answer = since.findLast(({ role }) => role === 'assistant');
  if (answer === undefined) {
    const overtaken = last?.id !== undefined && memory.untold.has(last.id);
    return { question: false, overtaken, mark: null };
  }
  const overtaken = await noticeAnswer(context, sessionId, answer, first);
  await noticeAbort(context, sessionId, answer);
  const { id = '', text = '' } = answer;
  return { question: endsInQuestion(text), overtaken, mark: `${id}:${text.length}` };
}

/** In order, all that no event has told: the last word of the human must be the last that we hear. */
async function noticeHumans(
  context: EnforcerContext,
  sessionId: string,
  asked: readonly EnforcerMessage[],
  session: Session | null,
): Promise<void> {
  const memory = context.memories.of(sessionId);
  const told = (id: string): boolean =>
    memory.humanIds.has(id) || session?.humanMessageIds.includes(id) === true;
  // Without an id nobody can say whether it was told before.
  const named = asked.flatMap((message) =>
    message.id === undefined ? [] : [{ ...message, id: message.id }],
  );
  const known = named.findLastIndex(({ id }) => told(id));
  // Of a conversation that began without us only the last word counts; the rest must not be taken for news later.
  const news = known === -1 ? named.slice(-1) : named.slice(known + 1);
  for (const message of named) if (!news.includes(message)) remember(memory.humanIds, message.id);
  for (const message of news) {
    remember(memory.untold, message.id);
    await humanSpoke(context, sessionId, message);
  }
  memory.asked ??= asked.at(-1) ?? null;
}

/**
 * What stood there when this process first looked is not news: a restart must not cancel a countdown. True: its own
 * event waits behind this one and will tell it.
 */
async function noticeAnswer(
  context: EnforcerContext,
  sessionId: string,
  answer: EnforcerMessage,
  first: boolean,
): Promise<boolean> {
  const memory = context.memories.of(sessionId);
  if (answer.id === undefined || memory.assistantIds.has(answer.id)) return false;
  if (first) remember(memory.assistantIds, answer.id);
  else if (context.hasLater(sessionId)) return true;
  else await assistantSpoke(context, sessionId, answer);
  return false;
}

/** Once per message: a human who has resumed since is not stopped again by the same trace. */
async function noticeAbort(
  context: EnforcerContext,
  sessionId: string,
  { id, error }: EnforcerMessage,
): Promise<void> {
  if (error === undefined || id === undefined || context.memories.of(sessionId).aborted) return;
  const read = readHostError(error, context.clock.now());
  if (!read.aborted) return;
  const key = `${storedId(context, sessionId)}:aborted:${id}`;
  await tell(context, sessionId, { type: 'human-aborted', how: read.how }, key);
}

/** At the end of a countdown: a program that is busy again, or whose last answer has grown, is not to be interrupted. */
export async function lookForActivity(context: EnforcerContext, sessionId: string): Promise<void> {
  const { mark } = await lookAtMessages(context, sessionId);
  const { idle } = context.memories.of(sessionId);
  const before = idle?.mark ?? null;
  const grown = before !== null && mark !== null && mark !== before;
  const busy = (await context.program.isIdle(sessionId)) === false;
  if (grown || busy) await tell(context, sessionId, { type: 'activity-seen' });
}

export interface ReadList {
  /** null: the list is as it was, or cannot be read. */
  readonly list: PlanWritten | null;
  /** False: it could not be read. */
  readonly known: boolean;
}

export async function readList(context: EnforcerContext, sessionId: string): Promise<ReadList> {
  const items = await context.program.todos(sessionId);
  if (items === null) return { list: null, known: false };
  return { list: await context.hostList.read(storedId(context, sessionId), items), known: true };
}

/** The record follows the count; a job that ended lets a stop that waits for it be decided again. */
export async function lookAtBackground(
  context: EnforcerContext,
  sessionId: string,
  session: Pick<Session, 'jobs'>,
): Promise<void> {
  const count = await context.program.background(sessionId);
  if (count === null) return;
  const known = session.jobs.some(({ id }) => id === backgroundJob.id);
  if (count > 0 && !known) await tell(context, sessionId, { type: 'background-started', job: backgroundJob });
  if (count === 0 && known)
    await tell(context, sessionId, { type: 'background-ended', jobId: backgroundJob.id });
}
