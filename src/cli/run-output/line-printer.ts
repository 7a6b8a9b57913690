// A run as lines that are readable on any terminal and in a log: no cursor movement, nothing redrawn (C3, C4).
// What the agent says stands behind a margin on every line, so that it cannot pass for a line of ours.
import type { AgentEvent, EventOf } from '../../agent/agent-event.ts';
import { formatAge } from '../describe-time.ts';
import { shortId } from '../session-name.ts';
import { createTextCleaner } from './clean-text.ts';
import { lastLevel, nameContinuation } from './continuation-names.ts';
import { describeCost, describeTokens, formatClock, formatShort } from './describe-amounts.ts';
import { createLineWriter } from './line-writer.ts';
import { createPage, type Page, type PageOptions } from './page.ts';
import { saidLines, settledLines, wantedLines } from './permission-lines.ts';
import { createPlanProgress } from './plan-progress.ts';
import { summaryLines } from './summary.ts';
import { createTextFlow } from './text-flow.ts';
import { createToolCalls } from './tool-calls.ts';

export interface LinePrinterOptions extends PageOptions {
  readonly write: (text: string) => unknown;
  /** A terminal sees lines as they grow; anything else gets whole lines. */
  readonly isTTY: boolean;
  /** Whether the line of a tool call is begun when the call starts; default: on a terminal. */
  readonly opensCalls?: boolean;
}

type Printers = { readonly [Type in AgentEvent['type']]: (event: EventOf<Type>) => void };

/** Steps between two lines on tokens and cost. */
const usageEvery = 10;
const longestCheck = 80;
const longestWorker = 40;

/** How far in the lines of a worker stand. */
const workerIndent = '  ';

/** What a worker does stands further in, below the line that names it. */
export function createLinePrinter(options: LinePrinterOptions): (event: AgentEvent) => void {
  const run = createSessionPrinter(options);
  const workers = new Map<string, SessionPrinter>();
  let runId: string | null = null;

  function workerPrinter(workerId: string): SessionPrinter {
    const known = workers.get(workerId);
    if (known !== undefined) return known;
    const printer = createSessionPrinter({
      ...options,
      columns: options.columns === null ? null : options.columns - workerIndent.length,
      // Whole lines only: the run itself may have something to say in between.
      isTTY: false,
      write: (text) => run.below(text.split('\n').filter((line) => line !== '')),
    });
    workers.set(workerId, printer);
    return printer;
  }

  return (event) => {
    runId ??= event.sessionId;
    if (event.sessionId !== runId) {
      workerPrinter(event.sessionId).print(event);
      return;
    }
    if (event.type === 'worker-ended') {
      workers.get(event.workerId)?.end();
      workers.delete(event.workerId);
    }
    run.print(event);
  };
}

interface SessionPrinter {
  print(event: AgentEvent): void;
  /** Lines of somebody who works for this session. */
  below(lines: readonly string[]): void;
  /** Nothing more comes: what was begun is finished. */
  end(): void;
}

function createSessionPrinter(options: LinePrinterOptions): SessionPrinter {
  const page = createPage(options);
  const { signs, paint } = page;
  const writer = createLineWriter(options.write, options.isTTY);
  const calls = createToolCalls(page, writer, options.opensCalls ?? options.isTTY);
  const planProgress = createPlanProgress(page);
  const cleaner = createTextCleaner(page.unicode);
  const agent = {};
  const margin = `${paint('dim', signs.margin)} `;
  const flow = createTextFlow({
    get width() {
      return page.width === null ? null : page.width - 2;
    },
    margin,
    emit: (text) => writer.add(agent, text),
  });
  let counted = 0;
  /** A plan that a call changed is shown below the line of that call. */
  let changedPlan: EventOf<'plan-changed'> | null = null;

  /** What the agent goes on to say starts on a new line, behind its margin. */
  function endSpeech(): void {
    flow.end();
    if (writer.isOpenFor(agent)) writer.endLine();
  }

  function print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    endSpeech();
    writer.lines(lines);
  }

  function showChangedPlan(): void {
    const event = changedPlan;
    changedPlan = null;
    if (event !== null) print(planProgress(event));
  }

  /** A step or the session is over. */
  function finish(): void {
    endSpeech();
    cleaner.reset();
    calls.close();
    showChangedPlan();
  }

  const printers: Printers = {
    'run-started': (event) => print(startLines(page, event)),
    'step-started': finish,
    text: ({ text }) => flow.push(cleaner.push(text)),
    'text-held-back': ({ text }) =>
      print(page.entry({ mark: 'held back:', markStyle: 'dim', text, style: 'dim', cut: true })),
    // Shown once it is known what it was: an answer, or held back.
    'text-held': () => {},
    'tool-started': (event) => {
      endSpeech();
      calls.started(event);
    },
    'tool-ended': (event) => {
      endSpeech();
      calls.ended(event);
      showChangedPlan();
    },
    'plan-changed': (event) => {
      changedPlan = event;
      if (!calls.isBusy()) showChangedPlan();
    },
    continuation: (event) => print(continuationLines(page, event)),
    waiting: ({ at, reason, sentence, until }) =>
      print(
        page.entry({
          mark: signs.waiting,
          markStyle: 'yellow',
          // Background work ends when it ends; what is known is how long it may take at most.
          text: `waiting${until === null ? '' : `${reason === 'subagent-at-work' ? ', at most' : ''} until ${moment(until, at)}`}: ${sentence}`,
        }),
      ),
    error: ({ at, kind, sentence, retryAt }) =>
      print(
        page.entry({
          mark: signs.error,
          markStyle: 'red',
          text: `error (${kind}): ${sentence} ${
            retryAt === null ? 'It is not tried again.' : `It is tried again at ${moment(retryAt, at)}.`
          }`,
        }),
      ),
    notice: ({ sentence }) => print(page.entry({ mark: signs.notice, markStyle: 'yellow', text: sentence })),
    'worker-started': (event) => print(workerLines(page, event)),
    'worker-ended': (event) => print(workerEndLines(page, event)),
    'permission-asked': (event) => print(wantedLines(page, event)),
    'permission-answered': (event) => print(settledLines(page, event)),
    'human-message': (event) => print(saidLines(page, event)),
    'check-started': () => {},
    'check-ended': (event) => print(checkLines(page, event)),
    baseline: (event) => print(baselineLines(page, event)),
    usage: ({ total }) => {
      counted += 1;
      if (counted % usageEvery !== 0) return;
      const cost = total.cost === null ? '' : `; ${describeCost(total.cost)}`;
      print(page.entry({ mark: '', text: `so far: ${describeTokens(total)}${cost}`, style: 'dim' }));
    },
    compacted: ({ messagesBefore, messagesAfter }) =>
      print(
        page.entry({
          mark: signs.notice,
          markStyle: 'yellow',
          text: `context compacted: ${messagesBefore} ${signs.arrow} ${messagesAfter} messages`,
        }),
      ),
    'run-ended': (event) => {
      finish();
      print(summaryLines(page, event));
    },
  };

  return {
    // The table pairs each type with the printer of exactly that type; the compiler cannot follow the pairing.
    print: (event) => (printers[event.type] as (event: AgentEvent) => void)(event),
    below: (lines) => print(lines.map((line) => `${workerIndent}${line}`)),
    end: finish,
  };
}

function workerLines(page: Page, { agentType, title }: EventOf<'worker-started'>): string[] {
  const who = page.clip(agentType, longestWorker);
  return page.entry({ mark: page.signs.arrow, markStyle: 'green', text: `worker ${who}: ${title}` });
}

function workerEndLines(
  page: Page,
  { agentType, result, sentence, milliseconds }: EventOf<'worker-ended'>,
): string[] {
  const isDone = result === 'done';
  return page.entry({
    mark: isDone ? page.signs.ok : page.signs.failed,
    markStyle: isDone ? 'green' : 'red',
    text: `worker ${page.clip(agentType, longestWorker)}: ${result} after ${formatShort(milliseconds)}. ${sentence}`,
  });
}

function startLines(
  page: Page,
  { goal, resumed, model, directory, permissions, sessionId }: EventOf<'run-started'>,
): string[] {
  const start = resumed ? 'resumed' : 'goal';
  const session = `session ${shortId(sessionId)}`;
  const what = goal ?? (resumed ? session : 'the plan as given');
  return [
    ...page.entry({ mark: page.signs.start, markStyle: 'green', text: `${start}: ${what}`, style: 'bold' }),
    ...page.entry({ mark: '', indent: 2, text: `${session}, model ${model}, permissions ${permissions}` }),
    ...page.entry({ mark: '', indent: 2, text: `folder ${directory}` }),
  ];
}

function checkLines(
  page: Page,
  { check, result, flaky, sentence, milliseconds }: EventOf<'check-ended'>,
): string[] {
  const { signs, unicode } = page;
  const said = { passed: 'passed', failed: 'failed', waiting: 'waits', 'cannot-start': 'cannot start' };
  const words = flaky ? 'passed only when run again (flaky)' : said[result];
  const took = result === 'waiting' ? '' : ` after ${formatShort(milliseconds)}`;
  const odd = flaky || result === 'waiting' || result === 'cannot-start';
  const marks = { passed: signs.ok, failed: signs.failed, waiting: signs.waiting };
  return page.entry({
    // In ASCII the marks are words, and the words stand here already.
    mark: unicode ? marks[result === 'cannot-start' ? 'failed' : result] : signs.notice,
    markStyle: odd ? 'yellow' : result === 'passed' ? 'green' : 'red',
    text: `check ${page.clip(check, longestCheck)} ${words}${took}${sentence === '' ? '' : `: ${sentence}`}`,
  });
}

/** A check that cannot start is a warning, not an error: the agent may have to write it (P44). */
function baselineLines(page: Page, { check, result, sentence }: EventOf<'baseline'>): string[] {
  const said = {
    passed: 'passes already',
    failed: 'fails',
    'cannot-start': `cannot start: ${sentence} If it still cannot at the end, the run ends as blocked.`,
  };
  const isOdd = result === 'cannot-start';
  return page.entry({
    mark: isOdd ? page.signs.failed : page.signs.notice,
    markStyle: isOdd ? 'yellow' : 'dim',
    text: `before the work: check ${page.clip(check, longestCheck)} ${said[result]}`,
  });
}

/** Firmer with each level, in colour too: an escalation shall be seen as one. */
function continuationLines(
  page: Page,
  { number, textKind, level, sentence }: EventOf<'continuation'>,
): string[] {
  const name = nameContinuation(textKind, level);
  // The sentence may end in the remark that our own label makes already.
  const bare = sentence.replace(` (${name})`, '').replace(` (${textKind})`, '');
  return page.entry({
    mark: page.signs.continuation,
    markStyle: level >= lastLevel ? 'red' : 'yellow',
    text: `continuation ${number} (${name}): ${bare}`,
  });
}

function moment(at: number, now: number): string {
  const clock = formatClock(at, now);
  return at > now ? `${clock} (${formatAge(at, now)})` : clock;
}
