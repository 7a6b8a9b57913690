// The front matter of a plan file: YAML between two lines of three dashes at the very top. `title` and `checks` (of
// the goal) are read; what other programs keep there is theirs. What cannot be read is a problem, never skipped: a
// check that is silently lost would let unproved work pass.
import { FAILSAFE_SCHEMA, loadAll, YAMLException } from 'js-yaml';
import { excerpt } from '../core/config/excerpt.ts';
import { isObject } from '../core/config/read-value.ts';
import { readCheckLine } from './check-line.ts';
import type { PlanFileProblem } from './plan-file.ts';
import type { SourceLines } from './source-lines.ts';

/** A title and a few checks; more is not front matter any more, and YAML is slow to refuse what is not YAML. */
const mostCharacters = 32_768;

export interface FrontMatter {
  readonly title: string | null;
  readonly goalChecks: readonly string[];
  /** Index of the first line behind it; 0: there is none. */
  readonly endLine: number;
  readonly problems: readonly PlanFileProblem[];
}

const none: FrontMatter = { title: null, goalChecks: [], endLine: 0, problems: [] };

export function readFrontMatter(lines: SourceLines, text: string): FrontMatter {
  const close = lines.text(0).trimEnd() === '---' ? closingLine(lines) : null;
  if (close === null) return none;
  const endLine = close + 1;
  const yaml = text.slice(lines.start(1), lines.start(close));
  const fail = (line: number, sentence: string): FrontMatter => ({
    ...none,
    endLine,
    problems: [{ line, sentence }],
  });
  if (yaml.length > mostCharacters)
    return fail(1, `the front matter has more than ${mostCharacters} characters`);
  try {
    // Every value as the text that stands there: `1.0` is no number here, and no tag makes an object.
    return readFields(loadAll(yaml, { schema: FAILSAFE_SCHEMA })[0], endLine);
  } catch (error) {
    // Safe: nothing was taken from it, and the human is told.
    const isYaml = error instanceof YAMLException;
    const said = isYaml ? error.reason : error instanceof Error ? error.message : String(error);
    return fail((isYaml ? (error.mark?.line ?? 0) : 0) + 2, `the front matter is no YAML: ${excerpt(said)}`);
  }
}

function closingLine(lines: SourceLines): number | null {
  for (let index = 1; index < lines.count; index += 1) {
    if (lines.text(index).trimEnd() === '---') return index;
  }
  return null;
}

function readFields(value: unknown, endLine: number): FrontMatter {
  if (!isObject(value)) return { ...none, endLine };
  const title =
    typeof value['title'] === 'string' && value['title'].trim() !== '' ? value['title'].trim() : null;
  const given = value['checks'] ?? [];
  const list = Array.isArray(given) ? given : given === '' ? [] : [given];
  const goalChecks: string[] = [];
  const problems: PlanFileProblem[] = [];
  for (const entry of list as unknown[]) {
    const read =
      typeof entry === 'string'
        ? readCheckLine(entry)
        : { ok: false as const, sentence: `a check must be a text, got ${excerpt(entry)}` };
    if (!read.ok) problems.push({ line: 1, sentence: `in the front matter, "checks": ${read.sentence}` });
    else if (!goalChecks.includes(read.id)) goalChecks.push(read.id);
  }
  return { title, goalChecks, endLine, problems };
}
