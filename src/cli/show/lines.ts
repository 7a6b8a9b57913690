// A run as lines that are readable on any terminal and in a log: no cursor movement, nothing redrawn (C3, C4). What is
// finished in the live view is printed by the same lines. What the agent says stands behind a margin on every line,
// so that it cannot pass for a line of ours.
import type { AgentEvent, EventOf } from '../../agent/agent-event.ts';
import { formatAge } from '../describe-time.ts';
import { shortId } from '../session-name.ts';
import {
  callLine,
  checkLines,
  isPlanTool,
  knownCall,
  longestCheck,
  longestName,
  toolEndedLines,
} from './call-lines.ts';
import { cleanLines, createPage, type Look, type Page, wrap } from './page.ts';
import { isShort, saidLines, settledLines, wantedLines } from './permission-lines.ts';
import { planLines, todoOutcomes } from './plan-lines.ts';
import { createState, reduce, type ViewState } from './state.ts';
import { summaryLines } from './summary.ts';
import * as words from './words.ts';

export interface LineOptions extends Look {
  readonly write: (text: string) => unknown;
  /** Somebody watches: a call is named when it begins, on a line that its result ends. */
  readonly isTTY?: boolean;
  /** Above the living part of the view, which shows the plan, what runs and what is asked by itself. */
  readonly forView?: boolean;
  /** Lays out a finished piece of what the agent says; absent: as it is. */
  readonly render?: RenderSpeech;
}

export type RenderSpeech = (text: string, page: Page, width: number | null) => string[];

export interface LinePrinter {
  print(event: AgentEvent): void;
  /** What the agent is saying and has not finished; for the living part. */
  speech(): string;
}

/** How far in the lines of a worker stand. */
const workerIndent = '  ';
/** More of one paragraph is never held back. */
const longestSpeech = 3000;

export function createLinePrinter(options: LineOptions): LinePrinter {
  const { write, isTTY = false, forView = false, render = plainSpeech } = options;
  const page = createPage(options);
  /** A worker has two columns less. */
  const inner = createPage({
    ...options,
    get columns() {
      return options.columns === null ? null : options.columns - workerIndent.length;
    },
  });
  /** What is being said, by session; `isGoing`: a paragraph of it was printed last. */
  const speech = new Map<string, { text: string; isGoing: boolean }>();
  let state = createState('run', 0);
  let runId: string | null = null;
  /** The call whose line is begun and not ended. */
  let openCall: string | null = null;

  /** What the view itself has to say may come before the run has a name. */
  const isOwn = (sessionId: string): boolean => sessionId === '' || sessionId === runId;

  /** What is said next starts a new block. */
  function interrupt(): void {
    for (const said of speech.values()) said.isGoing = false;
  }

  function put(sessionId: string, lines: readonly string[]): void {
    if (lines.length === 0) return;
    interrupt();
    const lead = isOwn(sessionId) ? '' : workerIndent;
    const begun = openCall === null ? '' : '\n';
    openCall = null;
    write(begun + lines.map((line) => `${line === '' ? '' : lead + line}\n`).join(''));
  }

  /** Prints what of it is finished: whole paragraphs and blocks of code, or all of it. */
  function speak(sessionId: string, isEnd: boolean): void {
    const said = speech.get(sessionId);
    while (said !== undefined) {
      // All blank lines at once: there may be a million of them.
      said.text = said.text.replace(/^(?:[ ]{0,200}\n)+/u, '');
      if (said.text === '') return;
      const [done, rest] =
        isEnd && said.text.length <= longestSpeech ? [said.text, ''] : splitSpeech(said.text);
      if (done === '') return;
      said.text = rest;
      const { width, signs, paint, unicode } = isOwn(sessionId) ? page : inner;
      const text = cleanLines(done, unicode).trimEnd();
      if (text === '') continue;
      const margin = paint('dim', signs.margin);
      const lines = render(text, page, width === null ? null : width - 2);
      const { isGoing } = said;
      put(sessionId, [...(isGoing ? [margin] : []), ...lines.map((line) => `${margin} ${line}`.trimEnd())]);
      said.isGoing = /\n *\n$/u.test(done);
    }
  }

  function print(event: AgentEvent): void {
    const { sessionId } = event;
    const own = isOwn(sessionId) ? page : inner;
    if (event.type === 'text') {
      const said = speech.get(sessionId) ?? { text: '', isGoing: false };
      speech.set(sessionId, { ...said, text: said.text + event.text });
      speak(sessionId, false);
      return;
    }
    if (event.type === 'step-started' || event.type === 'run-ended') {
      speak(sessionId, true);
      speech.delete(sessionId);
      const workerId = isOwn(sessionId) ? null : sessionId;
      const lost = state.calls.filter((call) => call.ended === null && call.workerId === workerId);
      if (!forView)
        for (const call of lost) put(sessionId, [`${callLine(own, call)} ${own.paint('dim', 'no result')}`]);
    }
    if (event.type === 'worker-ended') {
      speak(event.workerId, true);
      speech.delete(event.workerId);
    }
    if (event.type === 'tool-started') beginCall(event, own);
    const lines = eventLines(own, state, event, forView);
    if (lines.length === 0) return;
    // Above what the agent is still saying, never inside it.
    if (!(forView && event.type === 'plan-changed')) speak(sessionId, true);
    if (event.type === 'tool-ended' && openCall === event.callId) {
      openCall = null;
      write(`${lines.shift()?.slice(callLine(own, knownCall(state, event)).length)}\n`);
    }
    put(sessionId, lines);
  }

  /** Of calls that run side by side only the first can have the open line. */
  function beginCall({ sessionId, callId, tool, input }: EventOf<'tool-started'>, own: Page): void {
    speak(sessionId, true);
    interrupt();
    const isBusy = state.calls.some(({ ended }) => ended === null);
    if (!isTTY || forView || isBusy || isPlanTool(tool) || !isOwn(sessionId)) return;
    openCall = callId;
    write(callLine(own, { tool, input }));
  }

  return {
    print(event) {
      if (event.sessionId !== '') runId ??= event.sessionId;
      print(event);
      state = reduce(state, event);
    },
    speech: () => speech.get(runId ?? '')?.text ?? '',
  };
}

/** No honest block of code is opened by more. */
const longestFence = 20;

/** Up to the first blank line outside a block of code; of a very long paragraph as much as is ever held back. */
function splitSpeech(text: string): readonly [done: string, rest: string] {
  const start = text.slice(0, longestSpeech);
  let fence = '';
  let end = 0;
  for (const line of start.split('\n').slice(0, -1)) {
    end += line.length + 1;
    const [mark = ''] = /^ {0,3}(?:`{3,}|~{3,})/u.exec(line) ?? [];
    if (fence === '') fence = mark.trim();
    else if (mark.trim().startsWith(fence) && line.trim() === mark.trim()) fence = '';
    if (fence === '' && line.trim() === '') return [text.slice(0, end), text.slice(end)];
  }
  if (text.length <= longestSpeech) return ['', text];
  // Behind a line or a word, but never so early that no end is in sight.
  const cut = [start.lastIndexOf('\n'), start.lastIndexOf(' ')].find((index) => index > longestSpeech / 2);
  const at = cut === undefined ? longestSpeech - (/[\ud800-\udbff]$/.test(start) ? 1 : 0) : cut + 1;
  // What is left of a block of code is code.
  const reopened = fence === '' || fence.length > longestFence ? '' : `${fence}\n`;
  return [text.slice(0, at), reopened + text.slice(at)];
}

export const plainSpeech: RenderSpeech = (text, _page, width) =>
  text
    .replace(/\n{3,}/gu, '\n\n')
    .split('\n')
    .flatMap((line) => wrap(line, width));

type Lines = {
  readonly [Type in AgentEvent['type']]?: (page: Page, event: EventOf<Type>, state: ViewState) => string[];
};

const notice = (page: Page, text: string): string[] =>
  page.entry({ mark: page.signs.notice, markStyle: 'yellow', text });

const lines: Lines = {
  'run-started': (page, { goal, resumed, model, directory, permissions, sessionId }) => {
    const session = `session ${shortId(sessionId)}`;
    const what = goal ?? (resumed ? session : 'the plan as given');
    const text = `${resumed ? 'resumed' : 'goal'}: ${what}`;
    return [
      ...page.entry({ mark: page.signs.start, markStyle: 'green', text, style: 'bold' }),
      ...page.entry({
        mark: '',
        indent: 2,
        text: `${what === session ? '' : `${session}, `}model ${model}, permissions ${permissions}`,
      }),
      ...page.entry({ mark: '', indent: 2, text: `folder ${directory}` }),
    ];
  },
  'tool-ended': (page, event, state) => toolEndedLines(page, state, event),
  'plan-changed': (page, { todos }, state) => planLines(page, state.todos, todos),
  continuation: (page, event, state) => {
    const quote = (text: string): string => page.clip(text, 48);
    const { isRefused, sentence, next } = words.describeContinuation(event, state, quote);
    const then = next === null ? '' : ` ${page.signs.arrow} next: ${page.clip(next, 60)}`;
    const style = event.level >= words.lastLevel ? 'red' : 'yellow';
    const mark = isRefused ? page.signs.refused : page.signs.continuation;
    // The line that must not be overlooked: bold, in colour, mark and text.
    const entry = page.entry({ mark, text: sentence + then, style });
    return entry.map((line) => page.paint('bold', line.replace(mark, page.paint(style, mark))));
  },
  waiting: (page, { at, reason, sentence, until }, { wait }) => {
    // An error that is tried again has said so.
    if (until !== null && wait?.until === until) return [];
    // Background work ends when it ends; what is known is how long it may take at most.
    const most = reason === 'subagent-at-work' ? ', at most' : '';
    const text = `waiting${until === null ? '' : `${most} until ${moment(until, at)}`}: ${sentence}`;
    return page.entry({ mark: page.signs.waiting, markStyle: 'yellow', text });
  },
  error: (page, { at, sentence, retryAt }) => {
    const again = retryAt === null ? '' : ` It is tried again at ${moment(retryAt, at)}.`;
    return page.entry({ mark: page.signs.error, markStyle: 'red', text: `${sentence}${again}` });
  },
  notice: (page, { sentence }) => notice(page, sentence),
  'worker-started': (page, { agentType, title }) => {
    const text = `worker ${page.clip(agentType, longestName)}: ${title}`;
    return page.entry({ mark: page.signs.arrow, markStyle: 'green', text });
  },
  'worker-ended': (page, { agentType, result, sentence, milliseconds }) => {
    const who = `worker ${page.clip(agentType, longestName)}`;
    const took = words.formatShort(milliseconds);
    // What it reports is its word: no tick.
    if (result === 'done') return notice(page, `${who} reported after ${took}`);
    const text = `${who}: ${result} after ${took}. ${sentence}`;
    return page.entry({ mark: page.signs.failed, markStyle: 'red', text });
  },
  'permission-asked': wantedLines,
  'permission-answered': settledLines,
  'human-message': saidLines,
  'check-ended': (page, event) => checkLines(page, event),
  baseline: (page, { check, result, sentence }) => {
    const said = {
      passed: 'passes already',
      failed: 'fails',
      'cannot-start': `cannot start: ${sentence} If it still cannot at the end, the run ends as blocked.`,
    };
    // A warning, not an error: the agent may have to write it (P44).
    const isOdd = result === 'cannot-start';
    return page.entry({
      mark: isOdd ? page.signs.failed : page.signs.notice,
      markStyle: isOdd ? 'yellow' : 'dim',
      text: `before the work: ${words.checkName(page.clip(check, longestCheck))} ${said[result]}`,
    });
  },
  usage: (page, { total }, { counted }) => {
    if ((counted + 1) % usageEvery !== 0) return [];
    const parts = [words.describeTokens(total), words.describeCost(total.cost)].filter((part) => part !== '');
    return page.entry({ mark: '', text: `so far: ${parts.join('; ')}`, style: 'dim' });
  },
  compacted: (page, { messagesBefore, messagesAfter }) =>
    notice(page, `history summarised: ${messagesBefore} ${page.signs.arrow} ${messagesAfter} messages`),
  'run-ended': (page, event, state) => summaryLines(page, event, state),
};

/** Calls to the model between two lines on tokens and cost. */
const usageEvery = 10;

/** `state`: before the event. */
function eventLines(page: Page, state: ViewState, event: AgentEvent, forView: boolean): string[] {
  // The table pairs each type with the lines of exactly that type; the compiler cannot follow the pairing.
  const draw = lines[event.type] as
    | ((page: Page, event: AgentEvent, state: ViewState) => string[])
    | undefined;
  if (draw === undefined) return [];
  if (!forView) return draw(page, event, state);
  if (event.type === 'usage') return [];
  // The plan stands in the living part: here stays what became of its todos.
  if (event.type === 'plan-changed')
    return state.todos.length === 0 ? [] : todoOutcomes(page, state.todos, event.todos);
  // While it is asked, the question stands in the living part; here it stands with its answer. One that does not fit
  // there is told at once: what is allowed must be shown whole.
  if (event.type === 'permission-asked' && isShort(event.subject)) return [];
  const told = { at: event.at, sessionId: event.sessionId, type: 'permission-asked' } as const;
  const asked = state.permissions.filter(
    ({ requestId, subject }) =>
      isShort(subject) &&
      (event.type === 'run-ended' || (event.type === 'permission-answered' && event.requestId === requestId)),
  );
  const questions = asked.flatMap((each) => wantedLines(page, { ...told, ...each }));
  // The living part says which key goes on here; the hint is for those who have none.
  if (event.type === 'waiting' && event.reason === 'paused-by-human')
    return draw(page, { ...event, sentence: 'Paused by you.' }, state);
  return [...questions, ...draw(page, event, state)];
}

function moment(at: number, now: number): string {
  const clock = words.formatClock(at, now);
  return at > now ? `${clock} (${formatAge(at, now)})` : clock;
}
