// A yes or no from the human at this terminal. Without one, or beneath an agent, nobody is asked.
import { createInterface } from 'node:readline/promises';
import type { HumanAnswer } from '../checks/human-answers.ts';
import { oneLine } from '../core/safe-text.ts';
import type { Io } from './io.ts';

export async function askAtTerminal(io: Io, question: string): Promise<HumanAnswer | null> {
  if (!io.isTTY || process.stdin.isTTY !== true || (await io.whyNoHuman()) !== null) return null;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const said = (await terminal.question(`\n${oneLine(question, 500)} [y/N, or say what is wrong] `)).trim();
    if (/^(y|yes)$/iu.test(said)) return { approved: true, reason: '' };
    return { approved: false, reason: /^(n|no)?$/iu.test(said) ? '' : said };
  } catch {
    // Safe: the terminal was closed in mid-question, so nobody answered; the question waits for `approve`.
    return null;
  } finally {
    terminal.close();
  }
}
