// `untildone plan move`: moves a plan to another agent or into a file (V7). The old
// session is no longer kept at work; the checks and what they proved go along. It refuses
// an agent, which must not hand its claims to the next one.
import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UntildoneError } from '../../core/error.ts';
import type { SessionDescriptor } from '../../core/events.ts';
import { closestName } from '../../core/problem.ts';
import { type State, unknownHost, waitingHost } from '../../core/state.ts';
import { isOpen } from '../../core/todo.ts';
import {
  givenGoalChecks,
  handOver,
  movedEvent,
  movedSessionId,
  newSessionId,
} from '../../engine/hand-over.ts';
import { frozenPolicy } from '../../engine/policy.ts';
import { ownSession } from '../../engine/session-owner.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers, errorCode } from '../../engine/system.ts';
import { hosts } from '../../hosts/hosts.ts';
import { formatCheckLine, formatPlan } from '../../plan-file/line-text.ts';
import { hostTitle, nameSession, shortId } from '../describe-session.ts';
import { type Answer, findSession, type Here, sessionCommand } from '../find-session.ts';
import { sendActs } from '../human-event.ts';
import type { Io } from '../io.ts';
import { openParts, openRuntime } from '../open-runtime.ts';
import { escapeForTerminal, formatCount, printRefusal } from '../print.ts';
import { describeCurrentState } from '../session-process.ts';
import { writeNew } from './plan-files.ts';

const targets = [...hosts.map(({ name }) => name), 'run'];

export const planMove = sessionCommand({
  takes: `<SESSION> <${targets.join('|')}|FILE>`,
  about: [
    'The todos, their checks and what these have proved go on with another agent; what was proved counts as long as the\nfiles are as they were then. A host takes the plan up at your next message to it in the same folder; `run` by the\ncommand that is printed. The old session says where its plan went, and is not kept at work any more.',
    'A file is written as `plan export` writes it, with its checks; `untildone run --plan FILE` works through it. Boxes that\nare ticked there are claims, which its checks prove anew.',
  ],
  humanOnly: true,
  check: ({ positional }) => targetOf(positional(1) ?? ''),
  async find(store, word, io) {
    const session = await findSession(store, word, io);
    return (await foldInbox(io, store, session.id)) ?? session;
  },
  async answer(context) {
    const { io, session, given } = context;
    const target = targetOf(given.positional(1) ?? '');
    const problem = await whyNotMovable(context, target);
    if (problem !== null)
      return printRefusal(io, `Session ${nameSession(session)} ${problem}`);
    return 'file' in target
      ? moveToFile(context, target.file)
      : moveToAgent(context, target.host);
  },
});

type Target = Readonly<{ host: string } | { file: string }>;

/**
 * Reads the target. A word that does not look like a file counts as an unknown host and
 * is refused.
 */
function targetOf(word: string): Target {
  if (targets.includes(word)) return { host: word };
  if (/[./\\]/u.test(word)) return { file: word };
  const closest = closestName(word, targets);
  const hint =
    closest === null ? `Known are ${targets.join(', ')}` : `Did you mean ${closest}`;
  throw new UntildoneError(
    'usage',
    `A plan cannot be moved to "${escapeForTerminal(word, 60)}". ${hint}${closest === null ? '.' : '?'} A file is named like PLAN.md.`,
  );
}

/**
 * Takes up the events that hooks of an ended host, or of a move that broke off, left in
 * the inbox: only with them is the plan up to date.
 */
async function foldInbox(io: Io, store: Store, sessionId: string): Promise<State | null> {
  const waiting = await store.events({ sessionId, waiting: true });
  const news = { type: 'activity-seen', id: createIdentifiers(io.clock).next() } as const;
  if (waiting.length > 0)
    await openRuntime(io, store).handle({ ...news, sessionId, at: io.clock.now() });
  return store.state(sessionId);
}

/**
 * Says why the plan cannot be moved, as the rest of a sentence that begins with the
 * session. Null: it can.
 */
async function whyNotMovable(
  { io, store, session }: Here,
  target: Target,
): Promise<string | null> {
  const { id: sessionId, descriptor, latch, plan } = session;
  const { host, kind, parentId, directory, instance } = descriptor;
  const id = shortId(sessionId);
  const parent =
    parentId === null
      ? ''
      : `: \`untildone plan move ${shortId(parentId)} …\` moves its plan`;
  if (kind === 'subagent')
    return `is a worker's${parent || ', which has no plan of its own'}.`;
  if (latch?.movedTo !== undefined && !plan.some(isOpen)) {
    const moved = await foldInbox(io, store, movedSessionId(session) ?? '');
    const newSession = moved === null ? '' : ` (session ${moved.id})`;
    return `has no plan any more: you moved it to ${escapeForTerminal(latch.movedTo, 80)}${newSession}.`;
  }
  if (!plan.some(isOpen)) return 'has nothing open that could be moved.';
  const ends = `\`untildone stop ${id}\` ends that`;
  if (host === 'untildone') {
    const owned = await ownSession({ store, clock: io.clock }, sessionId);
    if (!owned.ok) return `runs in ${owned.process}; ${ends}, then move it.`;
    await owned.release();
  } else if (
    (await describeCurrentState(store, session, io.clock.now())).name === 'running'
  )
    return `is at work in ${hostTitle(host)}. Wait until it stops, or ${ends} for us; then move it.`;
  if ('file' in target) return null;
  const currentHost = host === waitingHost ? instance : host;
  if (currentHost === (target.host === 'run' ? 'untildone' : target.host))
    return host === waitingHost
      ? `waits for ${hostTitle(currentHost)} already: write to it there.`
      : `is one of ${hostTitle(currentHost)} already; ${host === 'untildone' ? `\`untildone run --resume ${id}\` goes on with it` : 'go on with it there'}.`;
  const exportHint = `\`untildone plan move ${id} PLAN.md\` writes the plan into a file here`;
  if (directory === null) return `does not say in which folder it works. ${exportHint}.`;
  const openError = await realpath(directory).then(() => null, errorCode);
  if (openError === null) return null;
  return `works in ${escapeForTerminal(directory, 300)}, which cannot be opened (${openError}). ${exportHint}.`;
}

async function moveToAgent({ io, store, session }: Here, name: string): Promise<Answer> {
  const { directory } = session.descriptor;
  const isRun = name === 'run';
  const to = hostTitle(isRun ? 'untildone' : name);
  const descriptorFields = isRun
    ? ({
        host: 'untildone',
        instance: `untildone:${directory}`,
        kind: 'main',
        judgesGoal: true,
      } as const)
    : ({ host: waitingHost, instance: name, kind: 'other' } as const);
  const descriptor: SessionDescriptor = {
    ...unknownHost,
    ...descriptorFields,
    directory,
  };
  const taker = { id: newSessionId(session), descriptor, opens: true };
  const { policy } = openParts(io, store);
  const engine = openRuntime(io, store);
  const parts = {
    store,
    clock: io.clock,
    identifiers: createIdentifiers(io.clock),
    policy,
    engine,
  };
  const moved = await handOver(parts, session, taker, to);
  // If two moves happen at the same moment, the first one counts.
  if (moved?.descriptor.instance !== descriptorFields.instance)
    return printRefusal(
      io,
      `The plan of session ${nameSession(session)} was moved elsewhere meanwhile.`,
    );
  const next = isRun
    ? `untildone run --resume ${taker.id}`
    : `write to ${to} in ${escapeForTerminal(directory ?? '', 300)}; your message takes the plan up there`;
  return movedAnswer(session, to, { to: name, movedTo: taker.id, next });
}

async function moveToFile(context: Here, file: string): Promise<Answer> {
  const { io, store, session } = context;
  const name = escapeForTerminal(file, 200);
  const path = resolve(io.cwd, file);
  const markdown = `${await frontMatter(store, session)}${formatPlan(session.plan)}`;
  const problem = await writeNew(path, markdown);
  // A file with the same text comes from a move that broke off after writing it.
  if (problem !== null && !(problem === 'EEXIST' && holdsText(path, markdown)))
    return printRefusal(
      io,
      problem === 'EEXIST'
        ? `${name} is there already; name a new file. Nothing was moved.`
        : `${name} cannot be written (${problem}). Nothing was moved.`,
    );
  const { sessionId: _, ...act } = movedEvent(session, file, io.clock.now());
  await sendActs(context, [act]);
  // Only a plain name is safe to copy into a shell.
  const next = `untildone run --plan ${/^[\w./-]+$/u.test(file) ? file : 'FILE'}`;
  return movedAnswer(session, name, { to: file, movedTo: null, next });
}

function movedAnswer(
  session: State,
  to: string,
  json: Readonly<{ to: string; movedTo: string | null; next: string }>,
) {
  const { length } = session.plan;
  const open = session.plan.filter(isOpen).length;
  const todoWords = `${formatCount(length, 'todo')}, ${open} of them open,`;
  return {
    json: { ...json, todos: length, open },
    lines: [
      `Moved ${todoWords} from session ${nameSession(session)} to ${to}.`,
      `next: ${json.next}`,
    ],
  };
}

function holdsText(path: string, text: string): boolean {
  try {
    return readFileSync(path, 'utf8') === text;
  } catch {
    // Safe: a file that cannot be read is not ours.
    return false;
  }
}

async function frontMatter(store: Store, session: State): Promise<string> {
  const frozen = await frozenPolicy(store, session);
  const lines = frozen === null ? [] : givenGoalChecks(frozen).map(formatCheckLine);
  if (lines.length === 0) return '';
  return [
    '---',
    'checks:',
    ...lines.map((line) => `  - ${JSON.stringify(line)}`),
    '---',
    '',
    '',
  ].join('\n');
}
