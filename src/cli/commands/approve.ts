// `untildone approve`: a human's yes or no to a check that only a human can answer (V1), or to what our own agent asks
// to be allowed (S7). An agent must not approve itself: it wants a controlling terminal and refuses beneath an agent, as `resume` does.
import type { HumanAnswer } from '../../checks/checker.ts';
import { UntildoneError } from '../../core/error.ts';
import type { PermissionRequest } from '../../core/state.ts';
import type { Store } from '../../engine/store.ts';
import { waitingRequests } from '../approve/answer-permission.ts';
import { type Answered, dropQuestion, presentState, recordAnswer } from '../approve/answer-question.ts';
import {
  askPermission,
  findRequest,
  permissionOptions,
  requestField,
  viewRequest,
} from '../approve/ask-permission.ts';
import {
  describeRecorded,
  howItGoesOn,
  questionLines,
  questionText,
  viewQuestion,
} from '../approve/describe-question.ts';
import {
  findAskingSession,
  type HumanQuestion,
  readQuestions,
  type SessionQuestions,
} from '../approve/human-questions.ts';
import { approvalPrompt, askAtTerminal, readApproval } from '../ask-at-terminal.ts';
import type { Arguments, Command } from '../command.ts';
import { describeAnswer } from '../describe-decision.ts';
import { describeState } from '../describe-session.ts';
import { noSessionsYet } from '../find-session.ts';
import type { Io } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import { count, fields, printJson, printLines, refuse, shown } from '../print.ts';
import { nameSession, sessionFields } from '../session-name.ts';

/** The question is as open as before. */
const leftOpen = 3;
const answerFlags = '--check NAME and --yes or --reject REASON';

export const approve: Command = {
  usage:
    'approve [session] [--check NAME | --request ID] [--yes [--for once|session|always] | --reject REASON] [--json]',
  about: [
    'Answers a check that only a human can answer, or a permission that our own agent asks for. Without a name: the\nsession of this directory in which something waits. It shows the question and asks; --check NAME or --request ID with\n--yes or --reject REASON says the answer at once.',
    'An answer holds for the files as they are now: when one changes that the check depends on, it is asked again. With\n--check a check can be answered before the agent gets to it.',
    'An agent must not approve itself. This command needs a terminal (not only piped input and output) and refuses\nbeneath an agent host or a session of untildone. docs/cli.md says what that cannot prevent.',
    'Exit codes: 0 answered, or nothing to answer, 3 left open, 2 wrong usage, 1 refused.',
  ],
  options: {
    check: { value: 'NAME', summary: 'The check that is answered.' },
    yes: { summary: 'Approve what --check or --request names.' },
    reject: { value: 'REASON', summary: 'Say no to it; the agent is told.' },
    ...permissionOptions,
  },
  positionals: [0, 1],
  async run(given, io) {
    const refusal = await io.whyNoHuman();
    if (refusal !== null) return refuse(io, refusal);
    const said = saidAlready(given);
    const code = await withStore(io, async (store) => {
      const asked = await readQuestions(store, await findAskingSession(store, given.positional(0), io));
      const request = chooseRequest(given, asked);
      if (request !== null) return askPermission(given, io, store, asked.session, request);
      const chosen = choose(asked, given.text('check'));
      return chosen === null
        ? tellWhatWaits(given, io, asked)
        : answer(given, io, store, asked, chosen, said);
    });
    if (code === null) throw new UntildoneError('unknown-session', noSessionsYet);
    return code;
  },
};

/** null: the human is to be asked. */
function saidAlready(given: Arguments): HumanAnswer | null {
  const reason = given.text('reject');
  const yes = given.has('yes');
  if (yes && reason !== null) throw new UntildoneError('usage', '--yes and --reject contradict each other.');
  if ((yes || reason !== null) && !given.has('check') && !given.has('request'))
    throw new UntildoneError('usage', 'Name what you answer: --check NAME or --request ID.');
  if (reason !== null) return { approved: false, reason };
  return yes ? { approved: true, reason: '' } : null;
}

/** null: a check was named, or not exactly this one thing waits. */
function chooseRequest(given: Arguments, { session, questions }: SessionQuestions): PermissionRequest | null {
  const word = given.text('request');
  const requests = waitingRequests(session);
  if (word !== null) {
    if (given.has('check')) throw new UntildoneError('usage', 'Answer one at a time: --check or --request.');
    return findRequest(requests, word);
  }
  const others = questions.some(({ waits }) => waits);
  return given.has('check') || others || requests.length !== 1 ? null : (requests[0] ?? null);
}

/** null: none was named, and not exactly one waits. */
function choose({ questions, session }: SessionQuestions, name: string | null): HumanQuestion | null {
  if (name === null) {
    const waiting = questions.filter(({ waits }) => waits);
    return waiting.length === 1 && waitingRequests(session).length === 0 ? (waiting[0] ?? null) : null;
  }
  // Names in a configuration have no letter case.
  const found =
    questions.find(({ check }) => check === name) ??
    questions.find(({ check }) => check === name.trim().toLowerCase());
  if (found !== undefined) return found;
  const known = questions.map(({ check }) => shown(check, 40)).join(', ');
  throw new UntildoneError(
    'usage',
    `Session ${nameSession(session)} has no check for a human named "${shown(name, 40)}"; ${known === '' ? 'it has none at all' : `it has ${known}`}.`,
  );
}

function tellWhatWaits(given: Arguments, io: Io, { session, questions }: SessionQuestions): number {
  const waiting = questions.filter(({ waits }) => waits);
  const requests = waitingRequests(session);
  const number = waiting.length + requests.length;
  const code = number === 0 ? 0 : 2;
  if (given.has('json')) {
    const all = { questions: questions.map(viewQuestion), permissions: requests.map(viewRequest) };
    printJson(io, { ...sessionFields(session), answered: false, ...all });
    return code;
  }
  const id = nameSession(session);
  if (number > 0) {
    const how = requests.length === 0 ? '--check NAME' : '--check NAME or --request ID';
    printLines(io, [
      `${count(number, 'question')} wait in session ${id}. Say which one you answer: ${how}.`,
      ...fields([
        ...waiting.map((question): [string, string] => [shown(question.check, 40), questionText(question)]),
        ...requests.map(requestField),
      ]),
    ]);
    return code;
  }
  const ahead = questions.map(({ check }) => shown(check, 40)).join(', ');
  printLines(io, [
    `No question waits in session ${id}.${ahead === '' ? '' : ` --check NAME answers one ahead: ${ahead}.`}`,
  ]);
  return code;
}

async function answer(
  given: Arguments,
  io: Io,
  store: Store,
  asked: SessionQuestions,
  question: HumanQuestion,
  said: HumanAnswer | null,
): Promise<number> {
  const { spec } = question;
  if (spec === null) {
    const dropped = await dropQuestion(io, store, asked.session, question);
    return tell(given, io, question, null, dropped);
  }
  const before = await presentState(asked, spec, io);
  if (before === null)
    return refuse(
      io,
      'The files of the session cannot be looked through, so an answer would hold for nothing.',
    );
  if (said === null) {
    const lines = questionLines(asked.session, question, io.clock.now());
    // With --json standard output holds the document alone.
    (given.has('json') ? io.stderr : io.stdout).write(lines.map((line) => `${line}\n`).join(''));
  }
  const human = said ?? readApproval((await askAtTerminal(approvalPrompt, answerFlags)) ?? '');
  if (human === null) {
    if (given.has('json'))
      printJson(io, { ...sessionFields(asked.session), answered: false, check: question.check });
    else printLines(io, ['Left open; nothing was recorded.']);
    return leftOpen;
  }
  if (said === null && (await presentState(asked, spec, io)) !== before)
    return refuse(
      io,
      'The files changed while you were asked, so nothing was recorded. Look again, and answer then.',
    );
  return tell(
    given,
    io,
    question,
    human,
    await recordAnswer(io, store, asked, { ...question, spec }, human, before),
  );
}

function tell(
  given: Arguments,
  io: Io,
  question: HumanQuestion,
  human: HumanAnswer | null,
  { session, handled }: Answered,
): number {
  const state = describeState(session, io.clock.now());
  const decision = handled?.decision ?? null;
  if (given.has('json')) {
    const said = { approved: human?.approved ?? null, reason: human?.reason ?? null };
    const { check, waits } = question;
    printJson(io, {
      ...sessionFields(session),
      answered: true,
      check,
      ...said,
      waited: waits,
      state,
      decision,
    });
    return 0;
  }
  const now = decision === null ? state.words : describeAnswer(decision);
  printLines(io, [
    describeRecorded(question, human),
    ...(question.waits ? [`Now: ${shown(now)}.`] : []),
    ...(question.waits && decision === null ? [howItGoesOn(session)] : []),
  ]);
  return 0;
}
