// "```json untildone.json" shows the name of the file where other blocks show their
// language.
import type { MarkdownRenderer } from 'vitepress';

export function nameFiles(markdown: MarkdownRenderer): void {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const html = fence?.(tokens, index, ...rest) ?? '';
    const [, file] = /^\S+ (\S+)$/.exec(tokens[index]?.info.trim() ?? '') ?? [];
    if (file === undefined) return html;
    return html.replace(
      /(<span class="lang">)[^<]*/,
      (_, open: string) => open + markdown.utils.escapeHtml(file),
    );
  };
}
