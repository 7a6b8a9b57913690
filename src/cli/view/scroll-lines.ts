// What stays in the scrollback of the terminal: the lines of the line printer, except that the plan, which stands in
// the living part, leaves only what became of its todos.
import type { AgentEvent, TodoView } from '../../agent/agent-event.ts';
import { createLinePrinter, type LinePrinterOptions } from '../run-output/line-printer.ts';
import { createPage } from '../run-output/page.ts';
import { isShort } from '../run-output/permission-lines.ts';
import { todoLine } from '../run-output/plan-progress.ts';

export interface ScrollLines {
  take(event: AgentEvent): void;
  /** The lines that have ended since the last call. */
  finished(): string[];
  /** The line that is still growing; empty: none is. */
  open(): string;
}

export function createScrollLines(
  look: Omit<LinePrinterOptions, 'write' | 'isTTY' | 'opensCalls'>,
): ScrollLines {
  const page = createPage(look);
  let lines: string[] = [];
  let open = '';
  const asked = new Map<string, AgentEvent>();
  let known: ReadonlyMap<string, string> = new Map();

  function write(text: string): void {
    const [first = '', ...rest] = text.split('\n');
    open += first;
    for (const next of rest) {
      lines.push(open);
      open = next;
    }
  }

  // The options are read at each line: the terminal may have been resized.
  const print = createLinePrinter({
    get columns() {
      return look.columns;
    },
    color: look.color,
    unicode: look.unicode,
    isTTY: true,
    opensCalls: false,
    write,
  });

  function tellQuestion(requestId: string): void {
    const question = asked.get(requestId);
    asked.delete(requestId);
    if (question !== undefined) print(question);
  }

  function settled(todos: readonly TodoView[]): string[] {
    const before = known;
    known = new Map(todos.map((todo) => [todo.id, standing(todo)]));
    const changed = todos.filter((todo) => isTold(todo) && before.get(todo.id) !== known.get(todo.id));
    return changed.flatMap((todo) => todoLine(page, todo));
  }

  return {
    take(event) {
      if (event.type === 'usage') return;
      // While it is asked, the question stands in the living part; here it stands with its answer. One that does
      // not fit there is told at once: what is allowed must be shown whole.
      if (event.type === 'permission-asked' && isShort(event.subject)) {
        asked.set(event.requestId, event);
        return;
      }
      if (event.type === 'permission-answered') tellQuestion(event.requestId);
      if (event.type === 'run-ended') for (const requestId of [...asked.keys()]) tellQuestion(requestId);
      // Above a line that the agent is still writing, never inside it.
      if (event.type === 'plan-changed') lines.push(...settled(event.todos));
      else if (event.type === 'waiting' && event.reason === 'paused-by-human')
        // The living part says which key goes on here; the hint is for those who have none.
        print({ ...event, sentence: 'Paused by a human.' });
      else print(event);
    },
    finished() {
      const taken = lines;
      lines = [];
      return taken;
    },
    open: () => open,
  };
}

function standing({ status, verification, dropped }: TodoView): string {
  return `${status} ${verification} ${dropped}`;
}

/** A todo that was begun or planned stands in the living part; what came of it stays. */
function isTold({ status, verification, dropped }: TodoView): boolean {
  return dropped || verification === 'failed' || !(status === 'pending' || status === 'in_progress');
}
