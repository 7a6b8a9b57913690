// The examples: each is run by `npm run examples`, or by the tests of the host that it
// needs, and named on docs/library.md, and what they configure is right. That the JSON
// Schema says what `validateConfig` says is tested beside the schema.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runExamples } from '../scripts/quality/run-examples.ts';
import { validateConfig, withoutGrants } from '../src/core/config.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const programs = globSync('examples/*.ts', { cwd: root }).sort();
const configurations = globSync('examples/*/**/untildone.json', { cwd: root }).sort();

describe('examples', () => {
  it.each(programs)(
    '%s is run by CI and named on the page about the library',
    (program) => {
      expect(
        [...runExamples, read('test/hosts/claude-agent-sdk/example.test.ts')].join(),
      ).toContain(program);
      expect(read('docs/library.md')).toContain(`](../${program})`);
    },
  );

  it.each(configurations)('C1: %s is a right configuration', (path) => {
    expect(validateConfig(JSON.parse(read(path)))).toMatchObject({ ok: true });
  });

  it.each(configurations.filter((path) => path.includes('/project/')))(
    'S7: %s grants nothing, since no project can',
    (path) => {
      const config = validateConfig(JSON.parse(read(path)));
      expect(config.ok && withoutGrants(config.config).warnings).toEqual([]);
    },
  );
});
