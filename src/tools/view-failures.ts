// How the model sees failed checks in the results of tools: what the system saw and the lines that say what failed.
import { findSameOutput, pickFailedLines, readFailure } from '../core/failed-lines.ts';
import { quoteForModel, stripTerminalControls } from '../core/safe-text.ts';

type Failed = Readonly<{ name: string; tail: string | null }>;

const mostLines = 15;
const longestLine = 300;

/** One for each; no output stands in an answer twice: the second one names the first. */
export function viewFailures(failed: readonly Failed[]): Readonly<{ failure?: string }>[] {
  const same = findSameOutput(failed);
  return failed.map(({ tail }, index) => {
    if (tail === null) return {};
    const { seen, output } = readFailure(tail);
    const first = same[index] ?? null;
    const printed =
      first === null
        ? pickFailedLines(output, mostLines)
        : [`It printed the same as ${quoteForModel(first, 80)}.`];
    return { failure: [seen, ...printed].map((line) => shownLine(line)).join('\n') };
  });
}

function shownLine(line: string): string {
  const plain = stripTerminalControls(line);
  return plain.length <= longestLine
    ? plain
    : `${plain.slice(0, longestLine).replace(/[\ud800-\udbff]$/u, '')}…`;
}
