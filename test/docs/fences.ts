// Reads the fenced blocks of a page. "```json untildone.json" names the file that the
// block is the text of.
export interface Fence {
  readonly language: string;
  readonly file: string | null;
  readonly text: string;
  /** Of its first line in the page, from 1 on. */
  readonly line: number;
}

export function blocksOf(markdown: string): Fence[] {
  const found = markdown.matchAll(/^```([a-z]*)(?: (\S+))?\n([\s\S]*?)^```$/gm);
  return [...found].map(({ 1: language = '', 2: file, 3: text = '', index }) => ({
    language,
    file: file ?? null,
    text,
    line: markdown.slice(0, index).split('\n').length + 1,
  }));
}

/**
 * Relative links and pictures of a page, without their anchors. A link in an example is
 * no link.
 */
export function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/(?:\]\(|\b(?:src|srcset|href)=")([^)"#\s]+)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The commands of a block for the shell, without comments. */
export function commandLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/(^|\s+)# .*$/, '').trim())
    .filter((line) => line !== '');
}
