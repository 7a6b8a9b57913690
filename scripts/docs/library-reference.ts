// The page docs/reference/library.md: what each entry of the package shows, from the
// declarations that users get. A name without a comment in the source stops the script.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDeclarations } from '../build/declarations.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, { types: string } | string>;
};

/** What each entry is for. Null: nobody imports it, a host's loader does. */
const entryWords: Readonly<Record<string, string | null>> = {
  '.': 'Hold an agent of your own, beginning with `openSession`: [Use it as a library](../library.md).',
  './ai-sdk': 'Goes on within one call of the [AI SDK](../frameworks/ai-sdk.md).',
  './langchain': 'A middleware for agents of [LangChain](../frameworks/langchain.md).',
  './openai-agents':
    'Runs agents of the [OpenAI Agents SDK](../frameworks/openai-agents.md).',
  './claude-agent-sdk':
    'Options for a query of the [Claude Agent SDK](../frameworks/claude-agent-sdk.md).',
  './mastra': 'Calls agents of [Mastra](../frameworks/mastra.md).',
  './tools': 'What a model is told about the todo tools, without a session.',
  './guard':
    'Holds a premature "done" back in any stream of parts, until you or a session decide.',
  './enforcer': 'For any program with an event bus: [The idle enforcer](../enforcer.md).',
  './opencode':
    'The [OpenCode](../hosts/opencode.md) plugin as a part of a plugin file of your own.',
  './testing':
    'For tests of your own: a clock that moves when told to, and a host without a model.',
  './scripted-model':
    'A server that plays a model: [The scripted model](../scripted-model.md).',
  './server': null,
};

interface Declared {
  readonly comment: string;
  readonly code: string;
}

/**
 * The compiler begins each statement of a declaration file in the first column, and
 * nothing else but what closes it.
 */
function statementsOf(text: string): string[] {
  return text.split(/\n(?=[^\s})\]*])/).map((statement) => statement.trim());
}

function plain(comment: string): string {
  const lines = comment.replace(/^\/\*\*|\*\/$/g, '').split('\n');
  return lines
    .map((line) => line.replace(/^\s*\*?\s*/, '').trim())
    .join(' ')
    .trim();
}

/** What a declaration file shows, by name, with what it hands on from others. */
function declaredIn(file: string): Map<string, Declared> {
  const found = new Map<string, Declared>();
  let comment = '';
  for (const statement of statementsOf(readFileSync(file, 'utf8'))) {
    if (statement.startsWith('/**')) {
      comment = plain(statement);
      continue;
    }
    const name =
      /^export (?:declare )?(?:async )?(?:function|const|class|interface|type) (\w+)/.exec(
        statement,
      )?.[1];
    const code = statement
      .replace(/^export (declare )?/, '')
      .replaceAll(/import\("[^"]*"\)\./g, '');
    if (name !== undefined) found.set(name, { comment, code });
    const handed = /^export (?:type )?\{(.*)\} from '(.*)\.ts';$/s.exec(statement);
    if (handed !== null) {
      const others = declaredIn(join(dirname(file), `${handed[2]}.d.ts`));
      for (const word of (handed[1] ?? '').split(',')) {
        const [own = '', shown = own] = word.replace('type ', '').trim().split(' as ');
        const declared = others.get(own);
        if (own !== '' && declared === undefined)
          throw new Error(`${file} shows ${own}, which was not found.`);
        if (declared !== undefined)
          found.set(shown, { ...declared, code: declared.code.replace(own, shown) });
      }
    }
    comment = '';
  }
  // A type that is made from a value, such as the fields of a todo with their defaults.
  for (const [name, { code, ...declared }] of found) {
    const whole = code.replaceAll(
      /Readonly<typeof (\w+)>/g,
      (made: string, value: string) => {
        const type = /^const \w+: (.*);$/s.exec(found.get(value)?.code ?? '')?.[1];
        return type === undefined ? made : `Readonly<${type}>`;
      },
    );
    found.set(name, { ...declared, code: whole });
  }
  return found;
}

/** A longer one is a table of the code, and has a page of its own. */
const mostLines = 80;
const longestRow = 100;

/** Requirement ids are for those who read the source. */
const withoutIds = (text: string) => text.replaceAll(/ \((?:[A-Z]\d+[–, ]*)+\)/g, '');

/** `name(given): answer` where that is all there is to say. */
function rowOf({ comment, code }: Declared): string | null {
  const call = code
    .replace(/^function /, '')
    .replace(/^const (\w+): \((.*)\) => /, '$1($2): ')
    .replace(/;$/, '');
  return call.includes('\n') || call.length > longestRow
    ? null
    : `- \`${call}\`<br>${comment}`;
}

function blockOf(name: string, { comment, code }: Declared): string {
  const lines = code
    .replaceAll(/^(?: {4})+/gm, (spaces) => ' '.repeat(spaces.length / 2))
    .split('\n');
  // A union of many words is easier to read below each other.
  if (lines.length === 1 && code.startsWith('type'))
    lines[0] = code.replaceAll(' | ', '\n  | ');
  const text =
    lines.length > mostLines ? lines[0]?.replace(/: .*/, ': …') : lines.join('\n');
  return `### ${name}\n\n${comment}\n\n\`\`\`ts\n${text}\n\`\`\``;
}

function entryText(entry: string, words: string, file: string): string {
  const rows: string[] = [];
  const blocks: string[] = [];
  const names = [...declaredIn(file)].sort(([left], [right]) =>
    left.toLowerCase() < right.toLowerCase() ? -1 : 1,
  );
  for (const [name, { comment, code }] of names) {
    if (comment === '')
      throw new Error(`Say in a comment in the source what ${name} of ${entry} is.`);
    const declared = { comment: withoutIds(comment), code: withoutIds(code) };
    const row = rowOf(declared);
    if (row === null) blocks.push(blockOf(name, declared));
    else rows.push(row);
  }
  // What can be called first, then other values, then types.
  const rank = (row: string) =>
    ['- `const', '- `type'].findIndex((kind) => row.startsWith(kind));
  rows.sort((left, right) => rank(left) - rank(right));
  return [
    `## ${entry.replace('.', 'untildone')}`,
    words,
    ...(rows.length > 0 ? [rows.join('\n')] : []),
    ...blocks,
  ].join('\n\n');
}

export function libraryPage(written: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'untildone-types-'));
  try {
    writeDeclarations(folder);
    const entries = Object.entries(manifest.exports).flatMap(([entry, where]) => {
      if (typeof where === 'string') return [];
      const words = entryWords[entry];
      if (words === undefined)
        throw new Error(`Say in scripts/docs/library-reference.ts what ${entry} is for.`);
      return words === null
        ? []
        : [
            entryText(
              entry,
              words,
              join(folder, where.types.replace('./dist/types/', '')),
            ),
          ];
    });
    return `# The library, name by name

What each entry of the package shows, as its types have it. [Use it as a library](../library.md) says what to do with it; settings,
events, rules and outcomes have their own pages: [Settings](../configuration.md), [Events](events.md), [Rules](rules.md),
[Outcomes](outcomes.md).

${entries.join('\n\n')}

${written}
`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
