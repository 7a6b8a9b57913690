// What the agent that delegated is told about the end of a worker: how it ended, what it said, what may follow.
// A report is a stranger's word: it is marked as such and bounded, and proves nothing.
import { quoteForModel } from '../../core/safe-text.ts';
import type { Delegation } from '../../core/session.ts';
import type { Todo } from '../../core/todo.ts';
import type { ToolCallResult } from '../loop/tool-calls.ts';
import type { WorkerEnd } from './run-worker.ts';

/** Long enough for what matters of one todo; the worker's whole conversation is in the store. */
const longestReport = 12_000;

type ReportedEnd = Pick<WorkerEnd, 'result' | 'sentence' | 'text'>;

export function workerReport(
  { agentType, workerId }: Pick<Delegation, 'agentType' | 'workerId'>,
  end: ReportedEnd,
  /** As it is now; null: it is gone from the plan. */
  todo: Todo | null,
): ToolCallResult {
  const title = todo === null ? 'the todo' : quoteForModel(todo.title, 120);
  const head = `The worker ${agentType} (session ${workerId}) ended on ${title}: ${end.result}. ${end.sentence}`;
  const said = end.text.trim() === '' ? 'It said nothing.' : saidBy(end);
  return {
    ok: end.result === 'done',
    output: [head, said, advice(end, todo)].join('\n'),
    duplicate: false,
  };
}

function saidBy({ result, text }: ReportedEnd): string {
  const label = result === 'done' ? 'Its report, which is its word and not proof' : 'What it said last';
  return `${label}:\n<<<\n${bounded(text)}\n>>>`;
}

function advice({ result }: ReportedEnd, todo: Todo | null): string {
  if (todo?.status === 'blocked') return 'The todo is set aside as blocked. Go on with the others.';
  switch (result) {
    case 'done':
      return 'Judge it: complete the todo if it is done, or delegate it again with what is missing.';
    case 'interrupted':
      return 'That is nobody’s failure. Look at what is there already; the todo can be delegated again.';
    default:
      return 'It can be delegated once more, with other instructions; after a second failure it is set aside as blocked.';
  }
}

/** Head and tail: what was done stands at the beginning, what is open at the end. */
function bounded(text: string): string {
  if (text.length <= longestReport) return text;
  const head = Math.floor((longestReport * 2) / 3);
  return `${text.slice(0, head)}\n… (cut)\n${text.slice(head - longestReport)}`;
}

export function refusedDelegation(sentence: string): ToolCallResult {
  return { ok: false, output: sentence, duplicate: false };
}
