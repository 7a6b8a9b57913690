// Links as they are written in the repository, made right for the site: a folder's
// README.md is its page there, and what lies outside docs/ is not on the site.
import { posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MarkdownRenderer } from 'vitepress';

const docs = fileURLToPath(new URL('..', import.meta.url));

/**
 * Where a link of a page of docs/ leads, as a path in the repository: "docs/trust.md",
 * "src/core/rules.ts".
 */
function inRepository(page: string, link: string): string {
  return posix.join('docs', posix.dirname(page), link);
}

/**
 * Without an address of the repository a link that leaves the site stays as words: it
 * would lead nowhere.
 */
export function leaveTheSiteAsText(
  markdown: MarkdownRenderer,
  repository: string | null,
): void {
  markdown.core.ruler.push('links-of-the-repository', ({ tokens, env }) => {
    const page = relative(docs, env.realPath ?? env.path);
    for (const { children } of tokens) {
      for (const [index, open] of (children ?? []).entries()) {
        const link = open.attrGet('href') ?? '';
        if (open.type !== 'link_open' || /^([a-z]+:|#|\/)/i.test(link)) continue;
        const path = inRepository(page, link);
        if (path.startsWith('docs/') && !path.startsWith('docs/.vitepress/')) {
          open.attrSet('href', link.replace(/(^|\/)README\.md(?=#|$)/, '$1index.md'));
        } else if (repository !== null) {
          open.attrSet('href', `${repository}/blob/main/${path}`);
        } else {
          const close = children?.find(
            (token, at) => at > index && token.type === 'link_close',
          );
          for (const token of [open, close])
            if (token) Object.assign(token, { tag: 'span', attrs: [['title', path]] });
          if (close) close.attrs = null;
        }
      }
    }
  });
}
