// How the tests run, and the one door through which a deliberate defect reaches them (see
// scripts/quality/mutate.ts). It never edits a file: a mutation lives in memory for the
// length of one run.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import './scripts/assert-node.cjs';
import { mutationPlugin } from './scripts/quality/mutation-plugin.ts';

const root = fileURLToPath(new URL('.', import.meta.url));
const mutationId = process.env['UNTILDONE_MUTATION'];

/**
 * More than ten seconds each: begun last, one of them would run alone while the other
 * cores have nothing left to do.
 */
const slow = [
  'src/hosts/asked-parallel',
  'src/engine/engine-properties',
  'src/core/properties-asked',
  'src/core/properties-told',
  'test/stories/judged-goal',
  'test/docs/examples-in-docs',
  'src/programs/hook-memory',
  'test/stories/human-control',
  'test/command-line',
  'test/run-kills',
  'test/rights',
  'src/programs/hook',
].map((name) => `${root}${name}.test.ts`);

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification) => slow.includes(moduleId);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

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
    exclude: ['test/hosts/**', 'src/frameworks/**', '**/node_modules/**', 'dist/**'],
    globalSetup: ['test/support/temporary-root.ts'],
    environment: 'node',
    // The cache of transformed files survives runs and does not know about mutations:
    // with it, a defect would be missing from its own run and could turn up in the next
    // one.
    fsModuleCache: !mutationId,
    // Forks, not threads: tests kill child processes, change directories and open SQLite
    // files.
    pool: 'forks',
    // Loading Node, Vitest and our sources anew for each of 300 files takes longer than
    // most of them. What a test changes in its process, it puts back.
    isolate: false,
    sequence: { sequencer: SlowFirst },
    // Twice the cores: many tests wait for processes, files and timers of their own. A
    // share above 100 % counts as all cores.
    maxWorkers: availableParallelism() * 2,
    // Long enough for a property over thousands of sequences on a busy machine; a hung
    // test still ends.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 5_000,
  },
});
