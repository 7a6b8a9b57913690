// A run as lines that are readable on any terminal and in a log: no cursor movement, nothing redrawn (C3, C4).
// What the agent says stands behind a margin on every line, so that it cannot pass for a line of ours.
import type { AgentEvent, ContinuationSent, PlanChanged, RunStarted } from '../../agent/agent-event.ts';
import { formatAge } from '../describe-time.ts';
import { createTextCleaner } from './clean-text.ts';
import { lastLevel, nameContinuation } from './continuation-names.ts';
import { describeCost, describeTokens, formatClock } from './describe-amounts.ts';
import { createLineWriter } from './line-writer.ts';
import { createPage, type Page, type PageOptions } from './page.ts';
import { createPlanProgress } from './plan-progress.ts';
import { summaryLines } from './summary.ts';
import { createTextFlow } from './text-flow.ts';
import { createToolCalls } from './tool-calls.ts';

export interface LinePrinterOptions extends PageOptions {
  readonly write: (text: string) => unknown;
  /** A terminal sees lines as they grow; anything else gets whole lines. */
  readonly isTTY: boolean;
}

type EventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>;
type Printers = { readonly [Type in AgentEvent['type']]: (event: EventOf<Type>) => void };

/** Steps between two lines on tokens and cost. */
const usageEvery = 10;

export function createLinePrinter(options: LinePrinterOptions): (event: AgentEvent) => void {
  const page = createPage(options);
  const { signs, paint } = page;
  const writer = createLineWriter(options.write, options.isTTY);
  const calls = createToolCalls(page, writer, options.isTTY);
  const planProgress = createPlanProgress(page);
  const cleaner = createTextCleaner(page.unicode);
  const agent = {};
  const margin = `${paint('dim', signs.margin)} `;
  const flow = createTextFlow({
    width: page.width === null ? null : page.width - 2,
    margin,
    emit: (text) => writer.add(agent, text),
  });
  let counted = 0;
  /** A plan that a call changed is shown below the line of that call. */
  let changedPlan: PlanChanged | null = null;

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

  const printers: Printers = {
    'run-started': (event) => print(startLines(page, event)),
    'step-started': () => {
      endSpeech();
      cleaner.reset();
      calls.close();
      showChangedPlan();
    },
    text: ({ text }) => flow.push(cleaner.push(text)),
    'text-held-back': ({ text }) =>
      print(page.entry({ mark: 'held back:', markStyle: 'dim', text, style: 'dim', cut: true })),
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
          text: `waiting${until === null ? '' : `${reason === 'background' ? ', at most' : ''} until ${moment(until, at)}`}: ${sentence}`,
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
      endSpeech();
      cleaner.reset();
      calls.close();
      showChangedPlan();
      print(summaryLines(page, event));
    },
  };

  // The table pairs each type with the printer of exactly that type; the compiler cannot follow the pairing.
  return (event) => (printers[event.type] as (event: AgentEvent) => void)(event);
}

function startLines(
  page: Page,
  { goal, resumed, model, directory, permissions, sessionId }: RunStarted,
): string[] {
  const start = resumed ? 'resumed' : 'goal';
  const what = goal ?? (resumed ? `session ${sessionId}` : 'the plan as given');
  return [
    ...page.entry({ mark: page.signs.start, markStyle: 'green', text: `${start}: ${what}`, style: 'bold' }),
    ...page.entry({ mark: '', indent: 2, text: `model ${model}, permissions ${permissions}` }),
    ...page.entry({ mark: '', indent: 2, text: `folder ${directory}` }),
  ];
}

/** Firmer with each level, in colour too: an escalation shall be seen as one. */
function continuationLines(page: Page, { number, textKind, level, sentence }: ContinuationSent): string[] {
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
