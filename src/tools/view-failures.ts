// Shows failed checks to the model: how each ended, and the lines that say what failed.
import {
  type CheckFailure,
  findSameOutput,
  pickFailedLines,
  readFailure,
} from '../core/failed-lines.ts';
import { quoteForModel, stripTerminalControls } from '../core/safe-text.ts';

const mostLines = 15;
const longestLine = 300;

/**
 * One view for each failure. No output is shown twice: a later failure with the same
 * output names the first one.
 */
export function viewFailures(
  failures: readonly CheckFailure[],
): Readonly<{ failure?: string }>[] {
  const same = findSameOutput(failures);
  return failures.map(({ tail }, index) => {
    if (tail === null) return {};
    const { sentence, output } = readFailure(tail);
    const first = same[index] ?? null;
    const printed =
      first === null
        ? pickFailedLines(output, mostLines)
        : [`It printed the same as ${quoteForModel(first, 80)}.`];
    return { failure: [sentence, ...printed].map((line) => shownLine(line)).join('\n') };
  });
}

function shownLine(line: string): string {
  const plain = stripTerminalControls(line);
  return plain.length <= longestLine
    ? plain
    : `${plain.slice(0, longestLine).replace(/[\ud800-\udbff]$/u, '')}…`;
}
