// The docs site as people see it: built once, then looked at in a real browser. Not part
// of `npm test`, because it needs Chromium.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/site/*.test.ts'],
    globalSetup: ['test/support/temporary-root.ts'],
    environment: 'node',
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
