// Makes docs/demo.svg from a real run of the demo on a pseudo-terminal: what stands there was printed by the program.
// Usage: npm run build && npm run record:demo
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const columns = 100;
const recorded = spawnSync(
  'script',
  ['-qec', `stty cols ${columns} rows 50; exec ${process.execPath} dist/bin.js demo`, '/dev/null'],
  {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', TERM: 'xterm-256color', LANG: 'C.UTF-8' },
  },
);
if (recorded.status !== 0) throw new Error(`the demo ended with ${recorded.status}: ${recorded.stdout}`);

const colours: Readonly<Record<string, string>> = {
  31: '#f47067',
  32: '#57ab5a',
  33: '#c69026',
  34: '#539bf5',
  35: '#b083f0',
  36: '#39c5cf',
  90: '#768390',
};

interface Look {
  readonly colour: string | null;
  readonly bold: boolean;
  readonly dim: boolean;
}

const plain: Look = { colour: null, bold: false, dim: false };

function next(look: Look, code: string): Look {
  if (code === '' || code === '0') return plain;
  if (code === '1') return { ...look, bold: true };
  if (code === '2') return { ...look, dim: true };
  if (code === '22') return { ...look, bold: false, dim: false };
  if (code === '39') return { ...look, colour: null };
  return { ...look, colour: colours[code] ?? look.colour };
}

const escaped = (text: string): string =>
  text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? '');

function span(text: string, { colour, bold, dim }: Look): string {
  if (text === '') return '';
  const fill = colour ?? (dim ? '#768390' : null);
  const attributes = [fill === null ? '' : ` fill="${fill}"`, bold ? ' font-weight="bold"' : ''].join('');
  return `<tspan${attributes}>${escaped(text)}</tspan>`;
}

const lineHeight = 18;
const lines = recorded.stdout.replaceAll('\r', '').trimEnd().split('\n');
let look = plain;
const rows = lines.map((line, index) => {
  let spans = '';
  let last = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are what this reads
  for (const match of line.matchAll(/\u001b\[([\d;]*)m/g)) {
    spans += span(line.slice(last, match.index), look);
    for (const code of (match[1] ?? '').split(';')) look = next(look, code);
    last = (match.index ?? 0) + match[0].length;
  }
  spans += span(line.slice(last), look);
  return `<text x="16" y="${32 + index * lineHeight}" xml:space="preserve">${spans}</text>`;
});
const width = columns * 8.5 + 32;
const height = lines.length * lineHeight + 40;
writeFileSync(
  join(root, 'docs/demo.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#adbac7"><title>untildone demo</title><rect width="100%" height="100%" rx="8" fill="#1c2128"/>\n${rows.join('\n')}\n</svg>\n`,
);
process.stdout.write(`docs/demo.svg: ${lines.length} lines\n`);
