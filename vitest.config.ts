// How the tests run, and the one door through which a deliberate defect reaches them (see scripts/mutate.ts).
// It never edits a file: a mutation lives in memory for the length of one run.
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { mutationPlugin } from './scripts/mutation-plugin.ts';

const root = fileURLToPath(new URL('.', import.meta.url));
const mutationId = process.env['UNTILDONE_MUTATION'];

export default defineConfig({
  plugins: mutationId ? [mutationPlugin(root, mutationId) as Plugin] : [],
  test: {
    include: [
      'src/**/*.test.ts',
      'test/*.test.ts',
      'test/stories/*.test.ts',
      'test/conformance/*.test.ts',
      'test/docs/*.test.ts',
    ],
    exclude: ['test/hosts/**', '**/node_modules/**', 'dist/**'],
    globalSetup: ['test/support/temporary-root.ts'],
    environment: 'node',
    // The cache of transformed files survives runs and does not know about mutations: with it, a defect would
    // be missing from its own run and could turn up in the next one.
    fsModuleCache: !mutationId,
    // Forks, not threads: tests kill child processes, change directories and open SQLite files.
    pool: 'forks',
    // All cores: most tests wait for processes, files and timers of their own.
    maxWorkers: '100%',
    // Long enough for a property over thousands of sequences on a busy machine; a hung test still ends.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 5_000,
  },
});
