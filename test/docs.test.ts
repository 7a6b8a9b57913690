import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { configDocs } from '../scripts/docs/config-docs.ts';
import { hostDocs } from '../scripts/docs/host-docs.ts';
import { referencePages } from '../scripts/docs/reference-docs.ts';
import { layers } from '../scripts/quality/layers.ts';
import { hosts } from '../src/hosts/hosts.ts';
import { linksOf } from './docs/fences.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('docs', () => {
  it('C1: the page on configuration says what the table of settings says', () => {
    expect(read('docs/configuration.md'), 'run npm run docs -- config').toBe(
      configDocs(),
    );
  });

  it('the page on hosts says what the adapters declare', () => {
    expect(read('docs/hosts/README.md'), 'run npm run docs -- hosts').toBe(hostDocs());
  });

  it('C1: the reference says what the code says: commands, rules, outcomes, events, the library', async () => {
    for (const [name, text] of Object.entries(await referencePages())) {
      expect(read(`docs/reference/${name}`), 'run npm run docs -- reference').toBe(text);
    }
  });

  it('every page of a host has the same outline; what only one host has stands behind "Uninstall"', () => {
    const first = [
      'Install',
      'What is written',
      'What it does',
      'What it cannot do',
      'Driven by `run --with`',
      'Delivery',
      'Uninstall',
    ];
    const last = ['How it is tested', 'Troubleshooting'];
    for (const { name } of hosts) {
      const found = read(`docs/hosts/${name}.md`).matchAll(/^## (.+)$/gm);
      const headings = [...found].map(([, heading = '']) => heading);
      const extras = headings.filter((heading) => ![...first, ...last].includes(heading));
      expect(headings, name).toEqual([...first, ...extras, ...last]);
    }
  });

  it('every link from a page to a file of the repository leads somewhere', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      ...globSync('docs/**/*.md', { cwd: root }),
    ];
    const broken = pages.flatMap((page) =>
      linksOf(read(page))
        .filter((target) => !existsSync(join(root, dirname(page), target)))
        .map((target) => `${page} → ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('CONTRIBUTING opens with every folder of the repository and every layer of src', () => {
    const [, tree = ''] = read('CONTRIBUTING.md').split('```');
    const named = [...tree.matchAll(/^( *)([\w.-]+)/gm)].map(([, indent, name]) =>
      indent === '' ? name : `src/${name}`,
    );
    const folders = globSync('*/', {
      cwd: root,
      exclude: ['node_modules', 'dist', 'coverage'],
    });
    const parts = [...folders, ...Object.keys(layers).map((layer) => `src/${layer}`)];
    expect(named.map((name = '') => name.replace(/\.ts$/, '')).sort()).toEqual(
      [...parts, '.ci'].sort(),
    );
  });

  it('first-use 29: the README is a screen and a half: 90 lines at most, the film before line 10', () => {
    const lines = read('README.md').split('\n');
    expect(lines.length).toBeLessThanOrEqual(90);
    expect(lines.findIndex((line) => line.includes('docs/demo.svg'))).toBeLessThan(10);
  });
});
