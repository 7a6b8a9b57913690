// The tests with the real frameworks, which take a while to load: not among those that
// everyone runs after each edit.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/frameworks/*.test.ts', 'src/frameworks/**/*.test.ts'],
    globalSetup: ['test/support/temporary-root.ts'],
    environment: 'node',
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});
