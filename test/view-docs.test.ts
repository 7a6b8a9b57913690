import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { scenes } from './view/scenes.ts';

describe('the page on the live view', () => {
  it('C3: has a picture of every state that the tests drive in a real terminal', () => {
    const page = readFileSync(new URL('../docs/live-view.md', import.meta.url), 'utf8');
    for (const { name } of scenes) {
      expect(page).toContain(`](view/${name}.svg)`);
      expect(
        existsSync(new URL(`../docs/view/${name}.svg`, import.meta.url)),
        'run npm run chores -- record-view',
      ).toBe(true);
    }
  });
});
