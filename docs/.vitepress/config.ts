// The docs site: the pages of docs/ as they are, with a menu. The build needs no network
// and fails at a dead link.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { leaveTheSiteAsText } from './links.ts';
import { menu } from './menu.ts';
import { nameFiles } from './named-files.ts';

const { description, repository } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
const address: string | null = repository?.url?.replace(/^git\+|\.git$/g, '') ?? null;

export default defineConfig({
  title: 'untildone',
  description,
  lang: 'en',
  cleanUrls: false,
  // A page per folder is called README.md, as people read it in the repository; on the
  // site it is the folder's page.
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, '$1index.md'),
  markdown: {
    config(markdown) {
      leaveTheSiteAsText(markdown, address);
      nameFiles(markdown);
    },
    languageAlias: { ndjson: 'jsonl' },
  },
  // The start page is docs/README.md, as it is, below a headline: front matter would show
  // in the repository.
  transformPageData(page) {
    if (page.relativePath !== 'index.md') return;
    page.frontmatter = {
      ...page.frontmatter,
      layout: 'home',
      title: 'untildone',
      hero: {
        name: 'untildone',
        text: description,
        tagline: 'An agent may stop when your checks pass, not when it says so.',
        actions: [
          {
            theme: 'brand',
            text: 'Claude Code with your tests',
            link: '/guides/claude-code',
          },
          { theme: 'alt', text: 'OpenCode', link: '/guides/opencode' },
          { theme: 'alt', text: 'How it decides', link: '/explanation/how-it-decides' },
        ],
      },
    };
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: menu.map(({ text, items }) => ({ text, link: items[0]?.link ?? '/' })),
    sidebar: menu.map((group) => ({ ...group, collapsed: false })),
    outline: { level: [2, 3] },
    externalLinkIcon: true,
    ...(address === null ? {} : { socialLinks: [{ icon: 'github', link: address }] }),
  },
});
