// What knip looks at: unused files, exports and dependencies. What the package shows and
// what npm scripts start are read from their own tables.
import type { KnipConfig } from 'knip';
import { entries } from './scripts/build/entries.ts';
import { namedPrograms } from './scripts/named-programs.ts';

const named = Object.values(namedPrograms)
  .flatMap((programs) => Object.values(programs))
  .flatMap(({ runs }) => runs)
  .filter((word) => /^(?:scripts|bench|test)\//.test(word));

const config: KnipConfig = {
  entry: [
    ...entries.map(({ source }) => source),
    ...named,
    'test/crash/victim.ts',
    'test/writers/writer.ts',
    'test/evidence/asker.ts',
    'test/bun-store-smoke.ts',
    'test/docs/stand-in-claude.ts',
    'test/hosts/*/*.test.ts',
    'test/{frameworks,view,site}/*.test.ts',
    'test/view/{stage,breaking-run}.ts',
    'bench/view/busy-view.ts',
    'docs/.vitepress/config.ts',
    'docs/.vitepress/theme/index.ts',
    'test/hosts/opencode/{bare,deaf}-plugin.ts',
    'test/contracts/writer-process.ts',
    'test/frameworks/*-drivers.ts',
    // host-conformance.test.ts finds them by their names.
    'test/conformance/*-driver.ts',
    // The bundles have them instead of what packages bring.
    'scripts/build/no-*.ts',
    'scripts/package/smoke.mjs',
    'examples/*.ts',
  ],
  project: [
    'src/**/*.ts',
    'test/**/*.ts',
    'scripts/**/*.{ts,mjs,cjs}',
    'examples/**/*.ts',
    'bench/**/*.ts',
    'docs/.vitepress/**/*.ts',
  ],
  ignore: [
    // Type-checked by .ci/run against the packed package, not here.
    'scripts/package/consumer/**',
    // Copied into the package, beside the declarations that they import.
    'scripts/build/declarations/**',
  ],
  // Folders of the tests install them: they are large.
  ignoreDependencies: [
    '@anthropic-ai/claude-agent-sdk',
    '@langchain/openai',
    '@mastra/core',
    '@openai/agents',
    'deepagents',
    'langchain',
    'openai',
  ],
  // Programs of the system that tests and scripts start.
  ignoreBinaries: ['script', 'readlink', 'mkfifo', 'pgrep'],
  ignoreExportsUsedInFile: { interface: true, type: true },
};

export default config;
