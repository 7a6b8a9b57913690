// `untildone approve`: a human answers a check that only a human can answer (V1), or a
// permission that our own agent asks for (S7). It refuses an agent, which must not
// approve itself.
import type { PermissionChoice } from '../../agent/agent-event.ts';
import { type HumanAnswer, humanEvidence } from '../../checks/checker.ts';
import { lookAtFiles } from '../../checks/fingerprint.ts';
import type { FrozenIgnoreRules } from '../../checks/git.ts';
import {
  answerResults,
  closeQuestion,
  type HumanQuestion,
  readQuestions,
  waitingChecks,
} from '../../checks/human-questions.ts';
import { UntildoneError } from '../../core/error.ts';
import { visibleLine, visibleLines } from '../../core/safe-text.ts';
import type { PermissionRequest, State } from '../../core/state.ts';
import type { Store } from '../../engine/store.ts';
import * as asking from '../ask-at-terminal.ts';
import type { Arguments } from '../command.ts';
import {
  describePlan,
  describeState,
  nameSession,
  shortId,
} from '../describe-session.ts';
import { formatAge } from '../describe-time.ts';
import {
  type Answer,
  findSession,
  type Here,
  sessionCommand,
  sessionsHere,
} from '../find-session.ts';
import {
  type ActResult,
  answerPermission,
  sendActs,
  waitingRequests,
} from '../human-event.ts';
import type { Io } from '../io.ts';
import {
  escapeForTerminal,
  formatCount,
  formatFields,
  printRefusal,
  printWrapped,
} from '../print.ts';
import { createPage, readTerminalStyle } from '../show/page.ts';
import { describePurpose } from './verify.ts';

/** Exit code if the question stays open. */
const leftOpen = 3;

export const approve = sessionCommand({
  about: [
    'Answers a check that only a human can answer, or a permission that our own agent asks for. Without a name: the\nsession of this directory in which something waits. It shows the question and asks; --check NAME or --request ID with\n--yes or --reject REASON says the answer at once. Enter alone leaves a question open.',
    'An answer counts for the files as they are now: when one changes that the check depends on, it is asked again. With\n--check a check can be answered before the agent gets to it.',
    'Exit codes: 0 answered, or nothing to answer, 3 left open, 2 wrong usage, 1 refused.',
  ],
  options: {
    check: { value: 'NAME', summary: 'The check that is answered.' },
    yes: { summary: 'Approve what --check or --request names.' },
    reject: { value: 'REASON', summary: 'Say no to it; the agent is told.' },
    request: {
      value: 'ID',
      summary: 'The permission request that is answered, by the start of its id.',
    },
    for: {
      value: 'LENGTH',
      summary: 'How long a yes to it counts: once (the default), session or always.',
    },
  },
  humanOnly: true,
  find: findAskingSession,
  check: readAnswerFlags,
  async answer(context) {
    const flagAnswer = readAnswerFlags(context.given);
    const { frozen, questions } = await readQuestions(context.store, context.session);
    const approvables = [
      ...questions.map(
        (question): Approvable => checkToAnswer(context, question, frozen),
      ),
      ...waitingRequests(context.session).map(
        (request): Approvable => requestToAnswer(context, request),
      ),
    ];
    return (
      chooseApprovable(context, approvables)?.answer(flagAnswer) ??
      listApprovables(context, approvables)
    );
  },
});

/** A check or a permission request that a human can answer. */
interface Approvable {
  readonly option: 'check' | 'request';
  /** The value that the option takes. */
  readonly name: string;
  readonly text: string;
  readonly waits: boolean;
  readonly json: object;
  /** Null: the human has not answered with flags and is asked now. */
  answer(flagAnswer: HumanAnswer | null): Promise<Answer>;
}

const usageError = (sentence: string): UntildoneError =>
  new UntildoneError('usage', sentence);

/** Reads --yes and --reject. Null: the flags hold no answer. */
function readAnswerFlags(given: Arguments): HumanAnswer | null {
  const reason = given.text('reject');
  const approved = given.has('yes');
  if (approved && reason !== null)
    throw usageError('--yes and --reject contradict each other.');
  if (!approved && reason === null) return null;
  if (given.has('check') || given.has('request'))
    return { approved, reason: reason ?? '' };
  throw usageError('Name what you answer: --check NAME or --request ID.');
}

/** How many recent sessions are searched for an open question. */
const recentSessions = 50;
const namedSessions = 5;

/**
 * Finds the session to answer in. Without a word: the one session here in which a
 * question waits, or else the most recent one.
 */
async function findAskingSession(
  store: Store,
  word: string | null,
  io: Io,
): Promise<State> {
  const sessionsOfFolder =
    word === null ? await sessionsHere(store, io, recentSessions) : [];
  const waiting = sessionsOfFolder.filter(
    (session) =>
      !session.deleted &&
      waitingChecks(session).length + waitingRequests(session).length > 0,
  );
  if (waiting.length <= 1) return findSession(store, waiting[0]?.id ?? word, io);
  const names = waiting.slice(0, namedSessions).map(nameSession).join(', ');
  const more = waiting.length > namedSessions ? ' …' : '';
  throw usageError(
    `Questions wait in ${waiting.length} sessions here; name one: ${names}${more}.`,
  );
}

/**
 * Chooses the one that the flags name, or the only one that waits. Null: nothing is
 * named, and not exactly one waits.
 */
function chooseApprovable(
  { given, session }: Here,
  approvables: readonly Approvable[],
): Approvable | null {
  const [option, second] = (['check', 'request'] as const).filter((name) =>
    given.has(name),
  );
  if (second !== undefined)
    throw usageError('Answer one at a time: --check or --request.');
  if (option === undefined) {
    const [only = null, other] = approvables.filter(({ waits }) => waits);
    return other === undefined ? only : null;
  }
  const word = given.text(option) ?? '';
  const sameKind = approvables.filter((each) => each.option === option);
  // Check names are compared without letter case.
  const near = sameKind.filter(({ name }) =>
    option === 'check' ? name === word.trim().toLowerCase() : name.startsWith(word),
  );
  const exact =
    sameKind.find(({ name }) => name === word) ??
    (near.length === 1 ? near[0] : undefined);
  if (exact !== undefined) return exact;
  const mismatch = `${near.length === 0 ? 'no' : 'more than one'} ${option === 'check' ? 'check for a human named' : 'waiting permission request like'}`;
  const names = sameKind.map(({ name }) => escapeForTerminal(name, 60)).join(', ');
  throw usageError(
    `Session ${nameSession(session)} has ${mismatch} "${escapeForTerminal(word, 60)}"; ${names === '' ? 'it has none at all' : `it has ${names}`}.`,
  );
}

function listApprovables({ session }: Here, approvables: readonly Approvable[]): Answer {
  const waiting = approvables.filter(({ waits }) => waits);
  const jsonOf = (option: Approvable['option']): object[] =>
    approvables.filter((each) => each.option === option).map(({ json }) => json);
  const json = {
    answered: false,
    questions: jsonOf('check'),
    permissions: jsonOf('request'),
  };
  const where = `in session ${nameSession(session)}`;
  if (waiting.length > 0) {
    const rows = waiting.map(
      ({ option, name, text }) =>
        [`--${option} ${escapeForTerminal(name, 60)}`, text] as const,
    );
    const head = `${formatCount(waiting.length, 'question')} wait ${where}. Say which one you answer:`;
    return { json, lines: [head, ...formatFields(rows)], code: 2 };
  }
  const ahead = approvables.map(({ name }) => escapeForTerminal(name, 40)).join(', ');
  const more = ahead === '' ? '' : ` --check NAME answers one ahead: ${ahead}.`;
  return { json, lines: [`No question waits ${where}.${more}`] };
}

/**
 * Shows the question, asks the human, and records the answer. `answers`: in words which
 * answers `read` accepts.
 */
async function askHuman<Reply>(
  { given, io, session }: Here,
  { lines, json }: Readonly<{ lines: readonly string[]; json: object }>,
  {
    prompt,
    answers,
    read,
  }: Readonly<{ prompt: string; answers: string; read(words: string): Reply | null }>,
  record: (reply: Reply) => Promise<Answer>,
): Promise<Answer> {
  const { host, directory } = session.descriptor;
  // With --json, standard output holds nothing but the document.
  printWrapped(given.has('json') ? { ...io, stdout: io.stderr } : io, [
    `Session ${nameSession(session)} (${escapeForTerminal(host, 30)}) in ${escapeForTerminal(visibleLine(directory ?? 'unknown'), 200)}`,
    ...lines,
  ]);
  const flags = '--check NAME or --request ID, and --yes or --reject REASON';
  const words = (await asking.askAtTerminal(prompt, flags)) ?? '';
  const reply = read(words);
  if (reply !== null) return record(reply);
  const why = words.trim() === '' ? '' : `${asking.notUnderstood(words, answers)} `;
  return {
    json: { answered: false, ...json },
    lines: [`${why}Left open; nothing was recorded.`],
    code: leftOpen,
  };
}

function checkToAnswer(
  context: Here,
  question: HumanQuestion,
  frozen: Partial<FrozenIgnoreRules>,
): Approvable {
  const { check, spec, waits, forGoal, todos } = question;
  const questionText =
    spec === null
      ? 'no longer in the configuration'
      : visibleLines(spec.question).join(' ');
  const text = escapeForTerminal(questionText, 500);
  const covered = todos.map(({ id, title }) => ({ id, title }));
  return {
    option: 'check',
    name: check,
    text,
    waits,
    json: {
      check,
      question: spec?.question ?? null,
      waits,
      goal: forGoal,
      todos: covered,
    },
    async answer(flagAnswer) {
      const { io, store, session } = context;
      if (spec === null)
        return checkAnswerResult(
          context,
          question,
          null,
          await sendActs(context, [closeQuestion(question)]),
        );
      /**
       * The fingerprint of the files that the check depends on. Null: they cannot be
       * read.
       */
      const fingerprintNow = async () =>
        (await lookAtFiles(session.descriptor.directory ?? io.cwd, frozen))(spec);
      const before = await fingerprintNow();
      if (before === null)
        return printRefusal(
          io,
          'The files of the session cannot be looked through, so an answer proves nothing.',
        );
      const record = async (human: HumanAnswer): Promise<Answer> => {
        if (flagAnswer === null && (await fingerprintNow()) !== before)
          return printRefusal(
            io,
            'The files changed while you were asked, so nothing was recorded. Look again, then answer.',
          );
        const checkedState = { sessionId: session.id, fingerprint: before };
        const row = humanEvidence(spec, checkedState, human, io.clock.now());
        await store.record({ evidence: [row] });
        const acts = waits
          ? [...answerResults(session, question, row), closeQuestion(question)]
          : [];
        return checkAnswerResult(context, question, human, await sendActs(context, acts));
      };
      if (flagAnswer !== null) return record(flagAnswer);
      const purpose = describePurpose(question);
      const lines = formatFields([
        ['state', escapeForTerminal(describeState(session, io.clock.now()).words)],
        ['plan', describePlan(session)],
        [
          'check',
          `${escapeForTerminal(check, 60)}${purpose === '' ? '' : ` for ${purpose}`}`,
        ],
        ['question', text],
      ]);
      const prompting = {
        prompt: asking.approvalPrompt,
        answers: 'y, n or a reason',
        read: asking.readApproval,
      };
      return askHuman(context, { lines, json: { check } }, prompting, record);
    },
  };
}

/** `human`: null if the question was only closed, without an answer. */
function checkAnswerResult(
  { io }: Here,
  question: HumanQuestion,
  human: HumanAnswer | null,
  { session, handled }: ActResult,
): Answer {
  const { check, waits } = question;
  const state = describeState(session, io.clock.now());
  const decision = handled?.decision ?? null;
  const { approved = null, reason = null } = human ?? {};
  // A run of our own ends while a question waits; hosts ask again at the next stop
  // attempt.
  const nextStep =
    session.descriptor.host === 'untildone'
      ? `\`untildone run --resume ${shortId(session.id)}\` goes on.`
      : 'The answer is used when the agent next tries to stop.';
  const now = [
    `Now: ${escapeForTerminal(decision?.sentence ?? `${state.words}.`, 300)}`,
    ...(decision === null ? [nextStep] : []),
  ];
  return {
    json: { answered: true, check, approved, reason, waited: waits, state, decision },
    lines: [describeRecorded(question, human), ...(waits ? now : [])],
  };
}

function describeRecorded(
  { check, spec, waits }: HumanQuestion,
  human: HumanAnswer | null,
): string {
  const name = escapeForTerminal(check, 60);
  if (human === null)
    return `The configuration has no check ${name} any more; its question is closed.`;
  const { approved, reason } = human;
  if (!approved)
    return `Recorded a no to ${name}${reason ? `: ${escapeForTerminal(reason, 200)}` : '.'}`;
  const files = spec?.files ?? [];
  const filesWords =
    files.length === 0
      ? 'of the workspace'
      : `that matches ${escapeForTerminal(files.join(', '), 120)}`;
  return `Approved ${name}${waits ? '' : ', ahead of the question'}. It counts until a file ${filesWords} changes.`;
}

function requestToAnswer(context: Here, request: PermissionRequest): Approvable {
  const { requestId, tool, subject, pattern, askedAt } = request;
  const { given, io, store, session } = context;
  const json = { request: requestId, tool, subject, pattern, askedAt };
  const call = `${escapeForTerminal(tool, 40)}: ${escapeForTerminal(visibleLine(subject), 200)}`;
  return {
    option: 'request',
    name: requestId,
    text: call,
    waits: true,
    json,
    async answer(flagAnswer) {
      const length = given.text('for') ?? 'once';
      if (length !== 'once' && length !== 'session' && length !== 'always')
        throw usageError('--for takes once, session or always.');
      const record = async (choice: PermissionChoice): Promise<Answer> => {
        const after = await answerPermission(
          io,
          store,
          { sessionId: session.id, requestId },
          choice,
        );
        if (after === null)
          return printRefusal(
            io,
            'It was answered or withdrawn meanwhile; nothing was recorded.',
          );
        const state = describeState(after, io.clock.now());
        const command = `\`untildone run --resume ${shortId(after.id)}\``;
        const goesOn = `The run that waits for it goes on; if it has ended, ${command} does.`;
        return {
          json: {
            answered: true,
            ...json,
            granted: choice !== 'no',
            remembered: choice,
            state,
          },
          lines: [
            describeChoice(request, choice),
            after.turn?.ended ? `${command} goes on.` : goesOn,
          ],
        };
      };
      if (flagAnswer !== null) return record(flagAnswer.approved ? length : 'no');
      const {
        permissionPrompt: prompt,
        permissionLetters: answers,
        readPermission: read,
      } = asking;
      // The whole subject, line by line: a human must see all of what they allow.
      const lines = [
        `asked ${formatAge(askedAt, io.clock.now())}`,
        ...asking.wantedLines(createPage(readTerminalStyle(io)), request),
      ];
      return askHuman(context, { lines, json }, { prompt, answers, read }, record);
    },
  };
}

function describeChoice(
  { tool, subject, pattern }: PermissionRequest,
  choice: PermissionChoice,
): string {
  const call = `${escapeForTerminal(tool, 40)} ${escapeForTerminal(visibleLine(subject), 120)}`;
  const covers = escapeForTerminal(asking.describePattern(pattern), 120);
  return {
    no: `Recorded a no to ${call}; the agent is told.`,
    once: `Allowed once: ${call}.`,
    session: `Allowed for this session: ${covers}.`,
    always: `Allowed always in this folder: ${covers}. \`untildone permissions\` shows and forgets it.`,
  }[choice];
}
