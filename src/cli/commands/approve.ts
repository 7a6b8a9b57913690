// `untildone approve`: a human's yes or no to a check that only a human can answer (V1), or to what our own agent asks
// to be allowed (S7). An agent must not approve itself: it wants a controlling terminal and refuses beneath an agent, as `resume` does.
import type { PermissionChoice } from '../../agent/agent-event.ts';
import { type HumanAnswer, humanEvidence } from '../../checks/checker.ts';
import { lookAtFiles } from '../../checks/fingerprint.ts';
import type { Frozen } from '../../checks/git.ts';
import {
  answerResults,
  closeQuestion,
  type HumanQuestion,
  readQuestions,
  waitingChecks,
} from '../../checks/human-questions.ts';
import { UntildoneError } from '../../core/error.ts';
import { hasHidden, visibleLine, visibleLines } from '../../core/safe-text.ts';
import type { PermissionRequest, State } from '../../core/state.ts';
import type { Store } from '../../engine/store.ts';
import {
  approvalPrompt,
  askAtTerminal,
  notUnderstood,
  permissionLetters,
  permissionPrompt,
  readApproval,
  readPermission,
} from '../ask-at-terminal.ts';
import { type Arguments, type Command, jsonOption } from '../command.ts';
import { describePlan, describeState } from '../describe-session.ts';
import { formatAge } from '../describe-time.ts';
import { findSession, sessionsHere, withSessions } from '../find-session.ts';
import { type Acted, answerPermission, report, sendActs, waitingRequests } from '../human-event.ts';
import type { Io } from '../io.ts';
import { count, fields, printLines, printWrapped, refuse, shown } from '../print.ts';
import { nameSession, shortId } from '../session-name.ts';
import { describeCover, describePattern, hiddenNote } from '../show/permission-lines.ts';
import { describePurpose } from './verify.ts';

/** The question is as open as before. */
const leftOpen = 3;

export const approve: Command = {
  takes: '[session]',
  about: [
    'Answers a check that only a human can answer, or a permission that our own agent asks for. Without a name: the\nsession of this directory in which something waits. It shows the question and asks; --check NAME or --request ID with\n--yes or --reject REASON says the answer at once. Enter alone leaves a question open.',
    'An answer holds for the files as they are now: when one changes that the check depends on, it is asked again. With\n--check a check can be answered before the agent gets to it.',
    'An agent must not approve itself. This command needs a terminal (not only piped input and output) and refuses\nbeneath an agent host or a session of untildone. docs/cli.md says what that cannot prevent.',
    'Exit codes: 0 answered, or nothing to answer, 3 left open, 2 wrong usage, 1 refused.',
  ],
  options: {
    check: { value: 'NAME', summary: 'The check that is answered.' },
    yes: { summary: 'Approve what --check or --request names.' },
    reject: { value: 'REASON', summary: 'Say no to it; the agent is told.' },
    request: { value: 'ID', summary: 'The permission request that is answered, by the start of its id.' },
    for: { value: 'LENGTH', summary: 'How long a yes to it holds: once (the default), session or always.' },
    ...jsonOption,
  },
  async run(given, io) {
    const refusal = await io.whyNoHuman();
    if (refusal !== null) return refuse(io, refusal);
    const said = saidAlready(given);
    return withSessions(io, async (store) => {
      const session = await findAskingSession(store, given.positional(0), io);
      const asked = { ...(await readQuestions(store, session)), requests: waitingRequests(session) };
      const place: Place = { given, io, store, session, ...asked };
      const request = chooseRequest(place);
      if (request !== null) return answerRequest(place, request);
      const question = chooseCheck(place);
      return question === null ? tellWhatWaits(place) : answerCheck(place, question, said);
    });
  },
};

interface Place {
  readonly given: Arguments;
  readonly io: Io;
  readonly store: Store;
  readonly session: State;
  /** What its files are looked at by. */
  readonly frozen: Partial<Frozen>;
  readonly questions: readonly HumanQuestion[];
  readonly requests: readonly PermissionRequest[];
}

const wrong = (sentence: string): UntildoneError => new UntildoneError('usage', sentence);

/** null: the human is to be asked. */
function saidAlready(given: Arguments): HumanAnswer | null {
  const reason = given.text('reject');
  const yes = given.has('yes');
  if (yes && reason !== null) throw wrong('--yes and --reject contradict each other.');
  if ((yes || reason !== null) && !given.has('check') && !given.has('request'))
    throw wrong('Name what you answer: --check NAME or --request ID.');
  if (reason !== null) return { approved: false, reason };
  return yes ? { approved: true, reason: '' } : null;
}

/** How many recent sessions are looked at for one in which a question waits. */
const recentSessions = 50;
const namedSessions = 5;

/** Without a word: the one session here in which a question waits, else the most recent one. */
async function findAskingSession(store: Store, word: string | null, io: Io): Promise<State> {
  if (word !== null) return findSession(store, word, io);
  const here = await sessionsHere(store, io, recentSessions);
  const asking = here.filter(
    (session) => !session.deleted && waitingChecks(session).length + waitingRequests(session).length > 0,
  );
  if (asking.length <= 1) return findSession(store, asking[0]?.id ?? null, io);
  const names = asking.slice(0, namedSessions).map(nameSession);
  throw wrong(
    `Questions wait in ${asking.length} sessions here; name one: ${names.join(', ')}${asking.length > namedSessions ? ' …' : ''}.`,
  );
}

/** null: a check was named, or not exactly this one thing waits. */
function chooseRequest({ given, questions, requests }: Place): PermissionRequest | null {
  const word = given.text('request');
  if (word === null) {
    const others = given.has('check') || questions.some(({ waits }) => waits);
    return others || requests.length !== 1 ? null : (requests[0] ?? null);
  }
  if (given.has('check')) throw wrong('Answer one at a time: --check or --request.');
  const found = requests.filter(({ requestId }) => requestId.startsWith(word));
  if (found.length === 1 && found[0] !== undefined) return found[0];
  throw wrong(
    `${found.length === 0 ? 'No' : 'More than one'} waiting permission request starts with "${shown(word, 60)}".`,
  );
}

/** null: none was named, and not exactly one waits. */
function chooseCheck({ given, questions, requests, session }: Place): HumanQuestion | null {
  const name = given.text('check');
  if (name === null) {
    const waiting = questions.filter(({ waits }) => waits);
    return waiting.length === 1 && requests.length === 0 ? (waiting[0] ?? null) : null;
  }
  // Names in a configuration have no letter case.
  const found =
    questions.find(({ check }) => check === name) ??
    questions.find(({ check }) => check === name.trim().toLowerCase());
  if (found !== undefined) return found;
  const known = questions.map(({ check }) => shown(check, 40)).join(', ');
  throw wrong(
    `Session ${nameSession(session)} has no check for a human named "${shown(name, 40)}"; ${known === '' ? 'it has none at all' : `it has ${known}`}.`,
  );
}

function tellWhatWaits(place: Place): number {
  const { session, questions, requests } = place;
  const waiting = [
    ...questions
      .filter(({ waits }) => waits)
      .map((one) => [shown(one.check, 40), questionText(one)] as const),
    ...requests.map(({ requestId, tool, subject }) => {
      const call = `${shown(tool, 40)}: ${shown(visibleLine(subject), 200)}`;
      return [`request ${shown(requestId, 60)}`, call] as const;
    }),
  ];
  const number = waiting.length;
  const how = requests.length === 0 ? '--check NAME' : '--check NAME or --request ID';
  const ahead = questions.map(({ check }) => shown(check, 40)).join(', ');
  const more = ahead === '' ? '' : ` --check NAME answers one ahead: ${ahead}.`;
  const id = nameSession(session);
  const one = `${count(number, 'question')} wait in session ${id}. Say which one you answer: ${how}.`;
  const lines = number === 0 ? [`No question waits in session ${id}.${more}`] : [one, ...fields(waiting)];
  const all = { questions: questions.map(viewQuestion), permissions: requests.map(viewRequest) };
  return report(place, { answered: false, ...all }, lines, number === 0 ? 0 : 2);
}

/** `answers` says in words what `read` takes. null: it is left open, and that was told. */
async function ask<Answer>(
  place: Place,
  show: (io: Io) => void,
  how: Readonly<{ prompt: string; answers: string; read: (words: string) => Answer | null }>,
  view: object,
): Promise<Answer | null> {
  const { given, io } = place;
  // With --json standard output holds the document alone.
  show(given.has('json') ? { ...io, stdout: io.stderr } : io);
  const flags = '--check NAME or --request ID, and --yes or --reject REASON';
  const words = (await askAtTerminal(how.prompt, flags)) ?? '';
  const answer = how.read(words);
  const why = words.trim() === '' ? '' : `${notUnderstood(words, how.answers)} `;
  if (answer === null)
    report(place, { answered: false, ...view }, [`${why}Left open; nothing was recorded.`]);
  return answer;
}

async function answerCheck(place: Place, question: HumanQuestion, said: HumanAnswer | null): Promise<number> {
  const { io, store, session, frozen } = place;
  const { spec, check } = question;
  if (spec === null)
    return tellAnswered(place, question, null, await sendActs(io, store, session, [closeQuestion(question)]));
  /** Of the files that the check depends on; null: they cannot be looked through. */
  const presentState = async () => (await lookAtFiles(session.descriptor.directory ?? io.cwd, frozen))(spec);
  const before = await presentState();
  if (before === null)
    return refuse(io, 'The files of the session cannot be looked through: an answer would hold for nothing.');
  const show = (to: Io): void => printWrapped(to, questionLines(place, question));
  const how = { prompt: approvalPrompt, answers: 'y, n or a reason', read: readApproval };
  const human = said ?? (await ask(place, show, how, { check }));
  if (human === null) return leftOpen;
  if (said === null && (await presentState()) !== before)
    return refuse(
      io,
      'The files changed while you were asked, so nothing was recorded. Look again, then answer.',
    );
  const row = humanEvidence(spec, { sessionId: session.id, fingerprint: before }, human, io.clock.now());
  await store.record({ evidence: [row] });
  const acts = question.waits ? [...answerResults(session, question, row), closeQuestion(question)] : [];
  return tellAnswered(place, question, human, await sendActs(io, store, session, acts));
}

/** `human`: null where the question could only be closed. */
function tellAnswered(
  { given, io }: Place,
  question: HumanQuestion,
  human: HumanAnswer | null,
  { session, handled }: Acted,
): number {
  const state = describeState(session, io.clock.now());
  const decision = handled?.decision ?? null;
  const { check, waits } = question;
  const said = { approved: human?.approved ?? null, reason: human?.reason ?? null, waited: waits };
  // Our own agent ends when a question waits; hosts ask again at the next stop attempt.
  const goesOn =
    session.descriptor.host === 'untildone'
      ? `\`untildone run --resume ${shortId(session.id)}\` goes on.`
      : 'It counts when the agent wants to stop next.';
  return report({ given, io, session }, { answered: true, check, ...said, state, decision }, [
    describeRecorded(question, human),
    ...(waits ? [`Now: ${shown(decision?.sentence ?? `${state.words}.`, 300)}`] : []),
    ...(waits && decision === null ? [goesOn] : []),
  ]);
}

function describeRecorded({ check, spec, waits }: HumanQuestion, human: HumanAnswer | null): string {
  const name = shown(check, 60);
  if (human === null) return `The configuration has no check ${name} any more; its question is closed.`;
  if (!human.approved)
    return `Recorded a no to ${name}${human.reason === '' ? '.' : `: ${shown(human.reason, 200)}`}`;
  const files = spec?.files ?? [];
  const which = files.length === 0 ? 'of the workspace' : `that matches ${shown(files.join(', '), 120)}`;
  return `Approved ${name}${waits ? '' : ', ahead of the question'}. It holds until a file ${which} changes.`;
}

function questionText({ spec }: HumanQuestion): string {
  return spec === null ? 'no longer in the configuration' : shown(visibleLines(spec.question).join(' '), 500);
}

/** What a human has to know before the answer. */
function questionLines({ session, io }: Place, question: HumanQuestion): string[] {
  const { descriptor } = session;
  const purpose = describePurpose(question);
  return [
    `Session ${nameSession(session)} (${shown(descriptor.host, 30)})`,
    ...fields([
      ['directory', shown(descriptor.directory ?? 'unknown', 200)],
      ['state', shown(describeState(session, io.clock.now()).words)],
      ['plan', describePlan(session)],
      ['check', `${shown(question.check, 60)}${purpose === '' ? '' : ` for ${purpose}`}`],
      ['question', questionText(question)],
    ]),
  ];
}

function viewQuestion({ check, spec, waits, forGoal, todos }: HumanQuestion) {
  return {
    ...{ check, question: spec?.question ?? null, waits, goal: forGoal },
    todos: todos.map(({ id, title }) => ({ id, title })),
  };
}

function viewRequest({ requestId, tool, subject, pattern, askedAt }: PermissionRequest) {
  return { request: requestId, tool, subject, pattern, askedAt };
}

/** null: the human is to be asked. */
function saidPermission(given: Arguments): PermissionChoice | null {
  const length = given.text('for') ?? 'once';
  if (length !== 'once' && length !== 'session' && length !== 'always')
    throw wrong('--for takes once, session or always.');
  if (given.text('reject') !== null) return 'no';
  return given.has('yes') ? length : null;
}

async function answerRequest(place: Place, request: PermissionRequest): Promise<number> {
  const { given, io, store, session } = place;
  const said = saidPermission(given);
  // Not broken by us: a line of the call must not look like two.
  const show = (to: Io): void => printLines(to, requestLines(place, request));
  const how = { prompt: permissionPrompt, answers: permissionLetters, read: readPermission };
  const choice = said ?? (await ask(place, show, how, viewRequest(request)));
  if (choice === null) return leftOpen;
  const { requestId } = request;
  const after = await answerPermission(io, store, { sessionId: session.id, requestId }, choice);
  if (after === null) return refuse(io, 'It was answered or withdrawn meanwhile; nothing was recorded.');
  const answer = {
    granted: choice !== 'no',
    remembered: choice,
    state: describeState(after, io.clock.now()),
  };
  const command = `\`untildone run --resume ${shortId(after.id)}\``;
  const goesOn = `The run that waits for it goes on; if it has ended, ${command} does.`;
  return report(place, { answered: true, ...viewRequest(request), ...answer }, [
    describeChoice(request, choice),
    after.turn?.ended === true ? `${command} goes on.` : goesOn,
  ]);
}

/** More than the longest question that is asked, with every character of it named. */
const longestLine = 40_000;

/** The whole subject, line by line: whoever allows it must have seen it. */
function requestLines({ session, io }: Place, request: PermissionRequest): string[] {
  const { tool, subject, pattern, askedAt } = request;
  const { host, directory } = session.descriptor;
  const [first = '', ...more] = visibleLines(subject).map((line) => shown(line, longestLine));
  return [
    `Session ${nameSession(session)} (${shown(host, 30)}) asks to be allowed:`,
    ...fields([
      ['directory', shown(visibleLine(directory ?? 'unknown'), 200)],
      ['asked', formatAge(askedAt, io.clock.now())],
      ['tool', shown(tool, 40)],
      ['call', first],
      ...more.map((line): [string, string] => ['', line]),
      hasHidden(subject) ? ['', hiddenNote] : null,
      ['s or a', `covers ${shown(describeCover(subject, pattern), longestLine)}`],
    ]),
  ];
}

function describeChoice({ tool, subject, pattern }: PermissionRequest, choice: PermissionChoice): string {
  const call = `${shown(tool, 40)} ${shown(visibleLine(subject), 120)}`;
  if (choice === 'no') return `Recorded a no to ${call}; the agent is told.`;
  if (choice === 'once') return `Allowed once: ${call}.`;
  const covers = shown(describePattern(pattern), 120);
  return choice === 'session'
    ? `Allowed for this session: ${covers}.`
    : `Allowed always in this folder: ${covers}. \`untildone permissions\` shows and forgets it.`;
}
