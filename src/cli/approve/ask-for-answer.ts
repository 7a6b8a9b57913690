// Asks the human at this terminal for one answer. A bare Enter, the end of the input and Ctrl-C leave the question
// open: a yes and a no are both said in so many letters.
import { createInterface } from 'node:readline/promises';
import type { HumanAnswer } from '../../checks/human-answers.ts';
import { UntildoneError } from '../../core/untildone-error.ts';

const prompt = 'Approve? [y: yes; n or a reason: no; Enter: leave it open] ';

/** null: it was left open. */
export async function askForAnswer(): Promise<HumanAnswer | null> {
  if (process.stdin.isTTY !== true)
    throw new UntildoneError(
      'usage',
      'The input is no terminal: say the answer with --check NAME and --yes or --reject REASON.',
    );
  const ending = new AbortController();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  for (const end of ['SIGINT', 'close'] as const) terminal.on(end, () => ending.abort());
  try {
    return readAnswer(await terminal.question(prompt, { signal: ending.signal }));
  } catch {
    // Safe: the terminal was closed in mid-question, so nobody answered and nothing is recorded.
    process.stderr.write('\n');
    return null;
  } finally {
    terminal.close();
  }
}

export function readAnswer(said: string): HumanAnswer | null {
  const words = said.trim();
  if (words === '') return null;
  if (/^y(es)?$/iu.test(words)) return { approved: true, reason: '' };
  return { approved: false, reason: /^no?$/iu.test(words) ? '' : words };
}
