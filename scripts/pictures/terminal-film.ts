// Draws what a terminal showed over time as an SVG that plays by itself: a strip of
// screens, moved on from one to the next. Lines that occur more than once are drawn once.
// Where nothing may move, it stands still at its last screen.
import {
  columnWidth,
  dark,
  drawLines,
  escaped,
  font,
  lineHeight,
} from './terminal-picture.ts';

export interface Shot {
  /** In milliseconds, by any clock. */
  readonly at: number;
  /** The screen, with its escape codes for colours. */
  readonly text: string;
  /** One sentence below it that says what happens there. */
  readonly caption: string;
}

export interface Film {
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  readonly shots: readonly Shot[];
  /** How long the last screen stands before it begins anew. */
  readonly restMs: number;
}

const captionHeight = 32;

export function drawFilm({ title, columns, rows, shots, restMs }: Film): string {
  const width = columns * columnWidth + 32;
  const terminal = rows * lineHeight + 32;
  const height = terminal + captionHeight;
  const began = shots[0]?.at ?? 0;
  const total = (shots.at(-1)?.at ?? 0) - began + restMs;
  const ids = new Map<string, string>();
  const idOf = (spans: string): string => {
    const id = ids.get(spans) ?? `l${ids.size}`;
    ids.set(spans, id);
    return id;
  };
  const screens = shots.map(({ text, caption }, index) => {
    const lines = drawLines(text, dark).map((spans, row) =>
      spans === '' ? '' : `<use href="#${idOf(spans)}" y="${28 + row * lineHeight}"/>`,
    );
    // A screen of its own for each: what the neighbours draw must not reach into it.
    const said = `<use href="#${idOf(escaped(caption))}" y="${terminal + 20}" class="said"/>`;
    return `<g transform="translate(${index * width + 16})">${lines.join('')}${said}</g>`;
  });
  const defined = [...ids].map(
    ([spans, id]) => `<text id="${id}" xml:space="preserve">${spans}</text>`,
  );
  const moves = shots.map(
    ({ at }, index) =>
      `${(((at - began) / total) * 100).toFixed(3)}%{transform:translateX(${-index * width}px)}`,
  );
  const still = -(shots.length - 1) * width;
  const style = `@keyframes film{${moves.join('')}100%{transform:translateX(${still}px)}}#film{animation:film ${total}ms step-end infinite}.said{fill:${dark.colours[33]};font-weight:bold}@media (prefers-reduced-motion:reduce){#film{animation:none}}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${font} fill="${dark.text}"><title>${escaped(title)}</title><style>${style}</style><defs>
${defined.join('\n')}
</defs><rect width="100%" height="100%" rx="8" fill="${dark.background}"/><g id="film" transform="translate(${still})">
${screens.join('\n')}
</g></svg>
`;
}
