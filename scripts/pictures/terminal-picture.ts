// Draws what a terminal showed as an SVG: text with its colours, nothing added and
// nothing left out.

const colours: Readonly<Record<string, string>> = {
  31: '#f47067',
  32: '#57ab5a',
  33: '#c69026',
  34: '#539bf5',
  35: '#b083f0',
  36: '#39c5cf',
  90: '#768390',
};

const lightColours: Readonly<Record<string, string>> = {
  31: '#cf222e',
  32: '#116329',
  33: '#9a6700',
  34: '#0969da',
  35: '#8250df',
  36: '#1b7c83',
  90: '#6e7781',
};

interface Theme {
  readonly colours: Readonly<Record<string, string>>;
  readonly text: string;
  readonly faint: string;
  readonly background: string;
}

export const dark: Theme = {
  colours,
  text: '#adbac7',
  faint: '#768390',
  background: '#1c2128',
};
const light: Theme = {
  colours: lightColours,
  text: '#24292f',
  faint: '#6e7781',
  background: '#ffffff',
};

interface Look {
  /** A colour, or the code of one of the theme's. */
  readonly colour: string | null;
  readonly bold: boolean;
  readonly dim: boolean;
}

const plain: Look = { colour: null, bold: false, dim: false };

export const lineHeight = 18;
export const columnWidth = 8.5;
export const font =
  'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14"';

/** @param text with its escape codes for colours, as printed or as tmux captures it */
export function drawTerminal(
  title: string,
  columns: number,
  text: string,
  background: 'dark' | 'light' = 'dark',
): { svg: string; lines: number } {
  const theme = background === 'dark' ? dark : light;
  const rows = drawLines(text, theme).map(
    (spans, index) =>
      `<text x="16" y="${32 + index * lineHeight}" xml:space="preserve">${spans}</text>`,
  );
  const width = columns * columnWidth + 32;
  const height = rows.length * lineHeight + 40;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${font} fill="${theme.text}"><title>${escaped(title)}</title><rect width="100%" height="100%" rx="8" fill="${theme.background}"/>\n${rows.join('\n')}\n</svg>\n`;
  return { svg, lines: rows.length };
}

/** Each line as spans with their colours. */
export function drawLines(text: string, theme: Theme): string[] {
  const lines = text.replaceAll('\r', '').trimEnd().split('\n');
  let look = plain;
  return lines.map((line) => {
    let spans = '';
    let last = 0;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are what this reads
    for (const match of line.matchAll(/\u001b\[([\d;]*)m/g)) {
      spans += span(line.slice(last, match.index), look, theme);
      look = lookAfter(look, (match[1] ?? '').split(';'));
      last = (match.index ?? 0) + match[0].length;
    }
    return spans + span(line.slice(last), look, theme);
  });
}

function lookAfter(look: Look, codes: readonly string[]): Look {
  let result = look;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? '';
    if ((code === '38' || code === '48') && codes[at + 1] === '5') {
      if (code === '38')
        result = { ...result, colour: paletteColour(Number(codes[at + 2])) };
      at += 2;
    } else if ((code === '38' || code === '48') && codes[at + 1] === '2') {
      if (code === '38')
        result = { ...result, colour: `rgb(${codes.slice(at + 2, at + 5).join(',')})` };
      at += 4;
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
  return { ...look, colour: code in colours ? code : look.colour };
}

/** The 256 colours of terminals: 16 of the theme, a cube of 6, and greys. */
function paletteColour(index: number): string | null {
  if (!Number.isInteger(index) || index < 16 || index > 255) return null;
  if (index >= 232) return grey(8 + (index - 232) * 10);
  const cube = index - 16;
  const level = (value: number): number => (value === 0 ? 0 : 55 + value * 40);
  const [red, green, blue] = [
    Math.floor(cube / 36),
    Math.floor(cube / 6) % 6,
    cube % 6,
  ].map(level);
  return `rgb(${red},${green},${blue})`;
}

function grey(level: number): string {
  return `rgb(${level},${level},${level})`;
}

function fillOf({ colour, dim }: Look, theme: Theme): string | null {
  if (colour !== null) return theme.colours[colour] ?? colour;
  return dim ? theme.faint : null;
}

function span(text: string, look: Look, theme: Theme): string {
  if (text === '') return '';
  const fill = fillOf(look, theme);
  const attributes = [
    fill === null ? '' : ` fill="${fill}"`,
    look.bold ? ' font-weight="bold"' : '',
  ].join('');
  return `<tspan${attributes}>${escaped(text)}</tspan>`;
}

export function escaped(text: string): string {
  return text.replace(
    /[&<>]/g,
    (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? '',
  );
}
