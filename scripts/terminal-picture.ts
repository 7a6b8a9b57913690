// Draws what a terminal showed as an SVG: text with its colours, nothing added and nothing left out.

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
const lineHeight = 18;

/** @param text with its escape codes for colours, as printed or as tmux captures it */
export function drawTerminal(title: string, columns: number, text: string): { svg: string; lines: number } {
  const lines = text.replaceAll('\r', '').trimEnd().split('\n');
  let look = plain;
  const rows = lines.map((line, index) => {
    let spans = '';
    let last = 0;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are what this reads
    for (const match of line.matchAll(/\u001b\[([\d;]*)m/g)) {
      spans += span(line.slice(last, match.index), look);
      look = lookAfter(look, (match[1] ?? '').split(';'));
      last = (match.index ?? 0) + match[0].length;
    }
    spans += span(line.slice(last), look);
    return `<text x="16" y="${32 + index * lineHeight}" xml:space="preserve">${spans}</text>`;
  });
  const width = columns * 8.5 + 32;
  const height = lines.length * lineHeight + 40;
  const font = 'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14"';
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${font} fill="#adbac7"><title>${escaped(title)}</title><rect width="100%" height="100%" rx="8" fill="#1c2128"/>\n${rows.join('\n')}\n</svg>\n`;
  return { svg, lines: lines.length };
}

function lookAfter(look: Look, codes: readonly string[]): Look {
  let result = look;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? '';
    if ((code === '38' || code === '48') && codes[at + 1] === '5') {
      if (code === '38') result = { ...result, colour: paletteColour(Number(codes[at + 2])) };
      at += 2;
    } else result = next(result, code);
  }
  return result;
}

function next(look: Look, code: string): Look {
  if (code === '' || code === '0') return plain;
  if (code === '1') return { ...look, bold: true };
  if (code === '2') return { ...look, dim: true };
  if (code === '22') return { ...look, bold: false, dim: false };
  if (code === '39') return { ...look, colour: null };
  return { ...look, colour: colours[code] ?? look.colour };
}

/** The 256 colours of terminals: 16 of the theme, a cube of 6, and greys. */
function paletteColour(index: number): string | null {
  if (!Number.isInteger(index) || index < 16 || index > 255) return null;
  if (index >= 232) return grey(8 + (index - 232) * 10);
  const cube = index - 16;
  const level = (value: number): number => (value === 0 ? 0 : 55 + value * 40);
  const [red, green, blue] = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level);
  return `rgb(${red},${green},${blue})`;
}

function grey(level: number): string {
  return `rgb(${level},${level},${level})`;
}

function span(text: string, { colour, bold, dim }: Look): string {
  if (text === '') return '';
  const fill = colour ?? (dim ? '#768390' : null);
  const attributes = [fill === null ? '' : ` fill="${fill}"`, bold ? ' font-weight="bold"' : ''].join('');
  return `<tspan${attributes}>${escaped(text)}</tspan>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? '');
}
