import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { configDocs } from '../scripts/config-docs.ts';
import { hostDocs } from '../scripts/host-docs.ts';
import { stopRules } from '../src/core/rules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Without code: a link in an example is not a link. */
const prose = (text: string): string => text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');

describe('docs', () => {
  it('C1: the page on configuration says what the table of settings says', () => {
    expect(read('docs/configuration.md'), 'run npm run docs:config').toBe(configDocs());
  });

  it('the page on hosts says what the adapters declare', () => {
    expect(read('docs/hosts/README.md'), 'run npm run docs:hosts').toBe(hostDocs());
  });

  it('every link from a page to a file of the repository leads somewhere', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      ...globSync('docs/**/*.md', { cwd: root }),
    ];
    const broken = pages.flatMap((page) =>
      [...prose(read(page)).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => !existsSync(join(root, dirname(page), target)))
        .map((target) => `${page} → ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('the README counts the rules as they are', () => {
    expect(read('README.md')).toContain(`${stopRules.length} rules`);
  });
});
