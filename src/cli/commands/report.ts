// `untildone report`: a session on one page, for a pull request (Markdown) or a program
// (JSON): goal, outcome, changed files and what proves each, refusals. It only reads, and
// it escapes every name and text that comes from agents, files and models.

import { planView } from '../../agent/agent-event.ts';
import { createStreamReader } from '../../agent/event-stream.ts';
import { totalUsage } from '../../agent/host-record.ts';
import { UntildoneError } from '../../core/error.ts';
import { findSameOutput, pickFailedLines } from '../../core/failed-lines.ts';
import { markdownCode, markdownText } from '../../core/safe-text.ts';
import type { State } from '../../core/state.ts';
import type { TextKind } from '../../core/texts.ts';
import {
  checkStandings,
  recordedEvents,
  workTimes,
} from '../../engine/session-record.ts';
import type { Store, StoredDecision } from '../../engine/store.ts';
import {
  describeAgent,
  describePlan,
  hostTitle,
  shortId,
  standingIn,
} from '../describe-session.ts';
import { formatTime } from '../describe-time.ts';
import { sessionCommand } from '../find-session.ts';
import type { Io } from '../io.ts';
import { formatCount, printLines } from '../print.ts';
import { describeCurrentState } from '../session-process.ts';
import { createState, reduceView } from '../show/state.ts';
import * as words from '../show/words.ts';

export const report = sessionCommand({
  about: [
    'What a session was asked for and what came of it, on one page: the changed files and what proves each, the plan\nwith claimed and checked told apart, the checks, how often it said done too early, time and cost. Markdown that fits\ninto a pull request; --json for programs.',
    'Which files changed is known of the file tools of `untildone run`. Commands may have changed more, and hosts do not\ntell it: `git status` does.',
  ],
  options: { md: { summary: 'Markdown, which is what you get without --json.' } },
  check(given) {
    if (given.has('md') && given.has('json'))
      throw new UntildoneError('usage', 'Say --md or --json, not both.');
  },
  async answer({ given, io, store, session }) {
    const reportData = await collectReport(store, session, io);
    if (given.has('json')) return { json: reportData, lines: [] };
    // Printed as it is: a table must not be broken at the width of a terminal.
    printLines(io, renderPage(reportData, session));
    return 0;
  },
});

type Report = Awaited<ReturnType<typeof collectReport>>;

/** Collects what the page says, as plain data; `--json` prints it. */
async function collectReport(store: Store, session: State, io: Io) {
  const now = io.clock.now();
  const { descriptor, agent, settled } = session;
  const endedAt = settled?.at ?? now;
  const stream = await readStream(store, session, now);
  const record = await readRecord(store, session, endedAt);
  const decisions = [
    ...(await store.decisions(session.id, Number.MAX_SAFE_INTEGER)),
  ].reverse();
  const checks = await checkStandings(store, session, record.lastWriteAt, now);
  const claims = await workTimes(store, session);
  // A decision after the end of the turn does not say how the turn ended (V12).
  const last = decisions.findLast(({ at }) => at <= endedAt)?.decision;
  const began = record.messages[0]?.at ?? session.createdAt;
  const ended = settled?.at ?? session.updatedAt;
  const { inputTokens, outputTokens, cost } = totalUsage(await store.usage(session.id));
  const standing = standingIn(session);
  return {
    host: descriptor.host,
    driven: descriptor.driven?.host ?? null,
    agent: agent.name,
    model: agent.model,
    directory: descriptor.directory,
    goal: record.messages[0]?.text ?? session.title,
    messages: record.messages.length,
    outcome: settled?.outcome ?? null,
    reason: settled?.reason ?? null,
    state: await describeCurrentState(store, session, now),
    sentence: last?.outcome === settled?.outcome ? (last?.sentence ?? null) : null,
    beganAt: began,
    endedAt: ended,
    milliseconds: Math.max(0, ended - began),
    usage: { inputTokens, outputTokens, cost },
    plan: describePlan(session),
    todos: session.plan.flatMap((todo) =>
      planView([todo]).todos.map((view) => ({
        ...view,
        standing: standing(todo),
        checks: todo.checks,
      })),
    ),
    checks,
    /**
     * Only our own agent reports which files it changed; a program that `run` drives does
     * not.
     */
    filesKnown: descriptor.host === 'untildone' && descriptor.driven === undefined,
    files: stream.files.map(({ times, ...file }) => {
      const todos = claims
        .filter(({ from, to }) => times.some((at) => at >= from && at <= to))
        .map(({ id }) => id);
      const changedAt = Math.max(...times);
      // A check of another todo says nothing about this file.
      const relevantChecks = checks.filter(
        (check) => check.goal || check.todos.some((id) => todos.includes(id)),
      );
      const passed = relevantChecks.filter(
        ({ result, at }) => result === 'passed' && (at ?? 0) >= changedAt,
      );
      const provedBy = passed
        .filter(({ onFinalState }) => onFinalState)
        .map(({ check }) => check);
      const passedSince = passed
        .filter(({ onFinalState }) => !onFinalState)
        .map(({ check }) => check);
      return { ...file, changedAt, provedBy, passedSince, todos };
    }),
    refusals: refusalsOf(decisions, stream.said),
  };
}

/**
 * Reads what `run` showed: the changed files as they were at its end, and what the agent
 * said before each time it was sent back.
 */
async function readStream(store: Store, session: State, now: number) {
  let view = createState('attach', now);
  const times = new Map<string, number[]>();
  const textsBefore: string[] = [];
  const isOwn = session.descriptor.host === 'untildone';
  for (const event of isOwn
    ? await createStreamReader(session).look(store, session)
    : []) {
    if (event.type === 'file-changed')
      times.set(event.path, [...(times.get(event.path) ?? []), event.at]);
    if (event.type === 'continuation') textsBefore.push(view.said);
    view = reduceView(view, event);
  }
  const files = [...view.files.values()].map((file) => ({
    ...file,
    times: times.get(file.path) ?? [0],
  }));
  return { files, said: textsBefore };
}

/** `until`: the end of the turn; a message after it does not belong to the turn. */
async function readRecord(store: Store, session: State, until: number) {
  const messages: { at: number; text: string }[] = [];
  let lastWriteAt = 0;
  for await (const event of recordedEvents(store, session.id)) {
    const { type, at } = event;
    if (type === 'human-spoke' && event.text !== null && at <= until)
      messages.push({ at, text: event.text });
    if (type === 'tool-ended' && event.access !== 'read' && event.access !== 'todo')
      lastWriteAt = at;
  }
  return { messages, lastWriteAt };
}

/** The continuations that answer an agent's claim that the work is done. */
const saidDone: readonly TextKind[] = [
  'standard',
  'dropped-todos',
  'bulk-claim',
  'failed-check',
  'checks-running',
];

function refusalsOf(decisions: readonly StoredDecision[], said: readonly string[]) {
  const sent = decisions.filter(
    ({ decision }) => decision.answer === 'continue' && !decision.observed,
  );
  const each = sent.map(({ at, decision }, index) => {
    const textKind = decision.textKind ?? 'standard';
    // The stream may have lost its oldest rows, but never its newest.
    const quote = said.at(index - sent.length) ?? '';
    return { at, textKind, saidDone: saidDone.includes(textKind), said: quote };
  });
  return {
    total: each.length,
    saidDone: each.filter((refusal) => refusal.saidDone).length,
    each,
  };
}

/** The most rows of each list on the page; --json has all. */
const listed = 50;
/** Lines shown of a failed check's output. */
const mostFailedLines = 4;

const text = markdownText;
const inCell = (name: string): string => markdownCode(name, true);
const joined = (parts: readonly string[], by = ', '): string =>
  parts.filter((part) => part !== '').join(by);
const times = (amount: number): string => (amount === 1 ? 'once' : `${amount} times`);
const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A section of the page: a table if there are `heads`, no lines if there are no rows. */
function section(
  name: string,
  rows: readonly string[],
  heads: readonly string[] = [],
  note = '',
): string[] {
  if (rows.length === 0) return [];
  const hidden = rows.length > listed ? `… and ${rows.length - listed} more.` : '';
  const below = [hidden, note].flatMap((line) => (line === '' ? [] : ['', line]));
  const head =
    heads.length === 0 ? [] : [row(...heads), `|${'---|'.repeat(heads.length)}`];
  return ['', `### ${name}`, '', ...head, ...rows.slice(0, listed), ...below];
}

const moreFiles =
  'Commands may have changed more than the file tools: `git status` shows everything.';

function renderPage(found: Report, session: State): string[] {
  const { id, title, descriptor } = session;
  const { outcome, sentence, files, todos, checks, refusals, usage, messages } = found;
  const titles = new Map(todos.map((todo) => [todo.id, text(todo.title, 60)]));
  const titlesOf = (ids: readonly string[]): string =>
    ids.map((todo) => titles.get(todo) ?? text(todo, 60)).join('; ');
  const goal = found.goal === null ? 'not recorded' : text(found.goal, 500);
  const tokens = usage.inputTokens + usage.outputTokens;
  const usedTokens =
    tokens === 0 ? '' : words.describeTokens({ ...usage, cachedTokens: 0 });
  const tooEarly =
    refusals.saidDone === 0 ? '' : `said done ${times(refusals.saidDone)} too early`;
  const never = 'nothing: it was never sent back to work';
  const sentBack =
    refusals.total === 0 ? never : `sent back to work ${times(refusals.total)}`;
  // The agent's name is that of the driven program, which is named already.
  const agent = text(found.model ?? (descriptor.driven ? null : found.agent) ?? '', 80);
  const who = descriptor.driven ? describeAgent(session) : hostTitle(descriptor.host);
  const by = joined([text(who, 60), agent]);
  const noFiles = found.filesKnown
    ? 'None by the file tools. Commands may have changed some: `git status` shows everything.'
    : 'Not recorded: `git status` shows them.';
  const sameOutputs = findSameOutput(
    checks.map(({ check, result, sentence, tail }) => {
      return { name: check, tail: result === 'failed' ? `${sentence}\n${tail}` : null };
    }),
  );
  const fileRows = files.map(
    ({ path, isNew, added, removed, provedBy, passedSince, todos: ids }) => {
      const size = `+${added}${removed === 0 ? '' : ` −${removed}`}${isNew ? ' (new)' : ''}`;
      const passedEarlier = joined(passedSince.map(inCell));
      const proof =
        joined(provedBy.map(inCell)) ||
        `**nothing**${passedEarlier === '' ? '' : ' on the final state'}`;
      const before =
        passedEarlier === '' ? '' : `; ${passedEarlier} passed before later changes`;
      return row(inCell(path), size, `${proof}${before}`, titlesOf(ids) || 'no todo');
    },
  );
  return [
    `## ${outcome ?? text(found.state.words, 80)}: ${text(title ?? id, 100)}`,
    ...(sentence === null ? [] : ['', text(sentence, 500)]),
    '',
    `- **Goal**: ${goal}${messages > 1 ? ` (and ${formatCount(messages - 1, 'more message')})` : ''}`,
    `- **Plan**: ${found.plan}`,
    `- **Refused**: ${joined([tooEarly, sentBack], '; ')}`,
    `- **Took**: ${joined([words.formatElapsed(found.milliseconds), usedTokens, words.describeCost(usage.cost)])}`,
    `- **By**: ${by}; session ${markdownCode(shortId(id))}, ended ${formatTime(found.endedAt)}`,
    ...(files.length === 0 ? section('Changed files', [noFiles]) : []),
    ...section(
      'Changed files',
      fileRows,
      ['file', 'lines', 'proved by', 'claimed by'],
      moreFiles,
    ),
    ...section(
      'Plan',
      todos.map((todo) => {
        const box = todo.status === 'completed' ? '[x]' : '[ ]';
        const proof = joined(todo.checks.map((check) => markdownCode(check)));
        const checked = todo.standing === 'checked' && proof !== '' ? ` by ${proof}` : '';
        return `- ${box} ${text(todo.title, 200)} → ${text(describeTodo(todo), 240)}${checked}`;
      }),
    ),
    ...section(
      'Checks',
      checks.map((check, index) => {
        const purpose = joined(
          [check.goal ? 'the goal' : '', titlesOf(check.todos)],
          '; ',
        );
        const names =
          check.names.length === 0 ? '' : ` (${joined(check.names.map(inCell))})`;
        return row(
          `${inCell(check.check)}${names}`,
          purpose,
          describeCheck(check, files, sameOutputs[index] ?? null),
        );
      }),
      ['check', 'for', 'result'],
    ),
    ...section(
      'Sent back to work',
      refusals.each.map(({ at, textKind, said }) => {
        const quote = said.trim() === '' ? '' : `“${text(said, 120)}”`;
        return `- ${formatTime(at)}: ${joined([quote, words.continuationName(textKind)])}`;
      }),
    ),
  ];
}

function describeCheck(
  {
    result,
    flaky,
    onFinalState,
    at,
    sentence,
    tail,
    failedBefore,
  }: Report['checks'][number],
  files: Report['files'],
  sameAs: string | null,
) {
  if (result === 'not-run') return '**not run**';
  if (result !== 'passed') {
    const lines = pickFailedLines(tail, mostFailedLines).map(inCell);
    const printed =
      sameAs === null ? lines.join(' ') : `it printed the same as ${inCell(sameAs)}`;
    const before = failedBefore ? '**failed before the work began too**' : '';
    return joined([`**failed**: ${text(sentence, 200)}`, before, printed], '; ');
  }
  const before = files.filter(({ changedAt }) => changedAt <= (at ?? 0));
  const last = before.sort((one, other) => other.changedAt - one.changedAt)[0];
  return joined([
    onFinalState ? 'passed on the final state' : 'passed, but files were written since',
    last === undefined ? '' : `after the change of ${inCell(last.path)}`,
    flaky ? 'only when it was run again' : '',
  ]);
}

const doubts: Readonly<Record<string, string>> = {
  failed: ', its check failed',
  running: ', its check still runs',
};

/**
 * Only an unproved todo needs words: why it was left, or what the agent says about it.
 */
function describeTodo({
  standing,
  dropped,
  verification,
  reason,
  outcome,
}: Report['todos'][number]): string {
  const name = words.standingNames[standing];
  if (standing === 'checked' || standing === 'covered') return name;
  const fate = standing === 'open' && dropped ? ', dropped from the list' : '';
  const explanation = reason ?? outcome;
  return `${name}${fate}${doubts[verification] ?? ''}${explanation === null ? '' : `: ${explanation}`}`;
}
