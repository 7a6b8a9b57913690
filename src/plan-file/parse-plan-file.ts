// Reads a Markdown document as a plan: GitHub's task lists become todos, everything else is prose. It changes
// nothing, runs nothing, and answers a document of some megabytes in bounded time.
import { readFrontMatter } from './front-matter.ts';
import { createItemReader } from './item-reader.ts';
import { findListItems } from './list-items.ts';
import type { ParsedPlanFile, PlanFileProblem } from './plan-file.ts';
import { createSourceLines } from './source-lines.ts';

/** In UTF-16 units: a plan of 20,000 todos with long titles; a larger file is not a plan. */
export const mostCharacters = 4_194_304;
/** As many as a plan may hold by default. */
const mostItems = 20_000;
/** Five for each todo: what costs time in a hostile document is the number of its lines. */
const mostLines = 100_000;
/** A file that is wrong in more places is wrong in the same way everywhere. */
const problemsTold = 20;

export function parsePlanFile(text: string): ParsedPlanFile {
  if (text.length > mostCharacters)
    return refuse(whole(`the file has more than ${mostCharacters} characters`));
  const bom = text.startsWith('\ufeff') ? 1 : 0;
  const lines = createSourceLines(text.slice(bom));
  if (lines.count > mostLines) return refuse(whole(`the file has more than ${mostLines} lines`));
  const front = readFrontMatter(lines, text.slice(bom));
  const reader = createItemReader(lines, front.endLine, bom);
  const body = text.slice(bom + lines.start(front.endLine));
  for (const item of findListItems(body)) reader.add(item);
  const { items, warnings, problems } = reader.finish();
  if (items.length > mostItems)
    return refuse(whole(`the file has ${items.length} todos; at most ${mostItems} are allowed`));
  const all = [...front.problems, ...problems];
  if (all.length > 0) return refuse(all);
  const { title, goalChecks } = front;
  return { ok: true, plan: { title, goalChecks, items, warnings: warnings.slice(0, problemsTold) } };
}

function whole(sentence: string): PlanFileProblem[] {
  return [{ line: null, sentence }];
}

function refuse(problems: readonly PlanFileProblem[]): ParsedPlanFile {
  return { ok: false, problems: problems.slice(0, problemsTold) };
}
