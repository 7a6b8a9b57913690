// The docs site: it is built from a copy of docs/, then read as files and looked at in
// Chromium.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { menu } from '../../docs/.vitepress/menu.ts';
import { type Built, buildSite, serve } from './built-site.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = globSync('docs/**/*.md', { cwd: root })
  .map((path) => path.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md'))
  .sort();
const pages = sources.map((path) => path.replace(/\.md$/, '.html'));
/** Of the decisions, which are all alike, the first. */
const looked = pages.filter(
  (page) => !/^decisions\/\d/.test(page) || page.includes('/0001'),
);

/** Debian's, Ubuntu's or Google's; CHROMIUM names another. */
function browserProgram(): string {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const folders = (process.env['PATH'] ?? '').split(':');
  const found = names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(existsSync);
  const program = process.env['CHROMIUM'] ?? found;
  if (program === undefined)
    throw new Error('There is no Chromium here: install one, or name it in CHROMIUM.');
  return program;
}

let built: Built;
let site: { url: string; close(): Promise<void> };
let browser: Browser;

beforeAll(async () => {
  built = await buildSite();
  expect(built.output).toContain('build complete');
  site = await serve(built.folder);
  // As root, in a container, its sandbox cannot start; the pages are our own.
  browser = await chromium.launch({
    executablePath: browserProgram(),
    args: ['--no-sandbox'],
  });
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
  built?.remove();
});

const html = (page: string): string => readFileSync(join(built.folder, page), 'utf8');

describe('the built site', () => {
  it('first-use 29: has every page of docs/, and each stands in the menu once', () => {
    expect(pages.filter((page) => !existsSync(join(built.folder, page)))).toEqual([]);
    const inMenu = menu.flatMap(({ items }) =>
      items.map(({ link }) => `${link.slice(1)}${link.endsWith('/') ? 'index' : ''}.md`),
    );
    // The start page has the logo, a decision the list of decisions.
    const wanted = sources.filter(
      (path) => path !== 'index.md' && !/^decisions\/\d/.test(path),
    );
    expect(inMenu.toSorted()).toEqual(wanted);
  });

  it('Must hold 4: every link inside it leads to a page, and every anchor to a heading', () => {
    const dead = pages.flatMap((page) =>
      [...html(page).matchAll(/<a [^>]*href="([^"]+)"/g)]
        .map(([, link = '']) => link.replaceAll('&amp;', '&'))
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [path = '', anchor] = link.split('#');
          const file =
            path === ''
              ? page
              : posix.join('.', path.startsWith('/') ? path : join(dirname(page), path));
          const target =
            file === '.' || file.endsWith('/') ? join(file, 'index.html') : file;
          if (!existsSync(join(built.folder, target))) return true;
          return anchor
            ? !html(target).includes(`id="${decodeURIComponent(anchor)}"`)
            : false;
        })
        .map((link) => `${page} → ${link}`),
    );
    expect(dead).toEqual([]);
  });

  it('loads nothing from elsewhere', () => {
    const foreign = pages.flatMap((page) =>
      [
        ...html(page).matchAll(
          /<(?:script|link|img|iframe)[^>]*(?:src|href)="(https?:[^"]+)"/g,
        ),
      ].map(([, address]) => `${page}: ${address}`),
    );
    expect(foreign).toEqual([]);
  });

  it('Must hold 4: is not built with a dead link, and the page is named', async () => {
    const broken = await buildSite((docs) =>
      writeFileSync(
        join(docs, 'words.md'),
        '# Words\n\n[gone](guides/no-such-page.md)\n',
      ),
    );
    broken.remove();
    expect(broken.ok).toBe(false);
    expect(broken.output).toMatch(/words\.md|no-such-page/);
  });
});

describe('the site in Chromium', () => {
  /** One tab for all pages: a new one for each would take most of the time. */
  async function tab(
    colorScheme: 'light' | 'dark',
  ): Promise<{ page: Page; requests: string[] }> {
    const viewport = { width: 1280, height: 900 };
    const context = await browser.newContext({
      colorScheme,
      viewport,
      reducedMotion: 'reduce',
    });
    const requests: string[] = [];
    context.on('request', (request) => requests.push(request.url()));
    return { page: await context.newPage(), requests };
  }

  /**
   * The menu is the same on every page: it is looked at once, with the start page and its
   * neighbour.
   */
  async function violations(page: Page, path: string, rules: string): Promise<string[]> {
    const part =
      path === 'index.html' || path === 'words.html' ? 'document' : "'#VPContent'";
    await page.addScriptTag({ content: axe.source });
    const found = (await page.evaluate(
      `axe.run(${part}, { resultTypes: ['violations'], ${rules} })`,
    )) as {
      violations: { id: string; impact: string; nodes: { html: string }[] }[];
    };
    return found.violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${page.url()} ${id}: ${nodes[0]?.html.slice(0, 200)}`);
  }

  // Beside each other: each tab has a process of its own, and two cores halve the time.
  it.concurrent('Must hold 4: axe finds nothing serious, and on a phone 390 wide no page is wider than the screen', async () => {
    const { page, requests } = await tab('light');
    const found: string[] = [];
    for (const path of looked) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(`${site.url}/${path}`, { waitUntil: 'load' });
      found.push(...(await violations(page, path, '')));
      await page.setViewportSize({ width: 390, height: 844 });
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
      if (width > 390) found.push(`${path} is ${width} wide`);
    }
    await page.context().close();
    expect(found).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(site.url))).toEqual([]);
  });

  it.concurrent('Must hold 4: everything can be read in the dark', async () => {
    const { page } = await tab('dark');
    const found: string[] = [];
    for (const path of looked) {
      await page.goto(`${site.url}/${path}`, { waitUntil: 'load' });
      expect(await page.evaluate('document.documentElement.className')).toContain('dark');
      found.push(...(await violations(page, path, "runOnly: ['color-contrast']")));
    }
    await page.context().close();
    expect(found).toEqual([]);
  });

  it('the menu is whole at every width that shows one', async () => {
    const { page } = await tab('light');
    await page.goto(`${site.url}/words.html`, { waitUntil: 'load' });
    const seen: [number, boolean][] = [];
    for (const width of [960, 1280, 1440, 1600, 1680, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      const isCut = `[...document.querySelectorAll('.VPSidebar p')].some((item) =>
        item.getBoundingClientRect().right > document.querySelector('.VPSidebar').getBoundingClientRect().right)`;
      seen.push([width, (await page.evaluate(isCut)) as boolean]);
    }
    await page.context().close();
    expect(seen.filter(([, isCut]) => isCut)).toEqual([]);
  });

  it('first-use 13: the film moves, and stands still for whoever wants nothing to move', async () => {
    const shown: string[] = [];
    for (const reducedMotion of ['no-preference', 'reduce'] as const) {
      const context = await browser.newContext({ reducedMotion });
      const page = await context.newPage();
      await page.goto(site.url, { waitUntil: 'load' });
      shown.push(
        String(await page.evaluate("document.querySelector('picture img').currentSrc")),
      );
      await context.close();
    }
    expect(shown).toEqual([
      expect.stringMatching(/\/demo\.[^/]*svg$/),
      expect.stringMatching(/\/demo-still\.[^/]*svg$/),
    ]);
  });

  it('first-use 29: search finds the page about a word', async () => {
    const { page } = await tab('light');
    await page.goto(`${site.url}/words.html`, { waitUntil: 'networkidle' });
    await page.locator('.VPNavBarSearch button').first().click();
    await page.locator('.VPLocalSearchBox input').fill('fingerprint');
    await page.locator('.VPLocalSearchBox .result').first().waitFor();
    expect(await page.locator('.VPLocalSearchBox .results').textContent()).toContain(
      'Checks',
    );
    await page.context().close();
  });
});
