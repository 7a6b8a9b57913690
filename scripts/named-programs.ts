// What `npm run bench`, `test:extra`, `docs` and `chores` can start, by name: one table
// for each of these scripts, and nothing about how a program is started (run-named.ts).

export interface NamedProgram {
  /** What it does, on one line. */
  readonly about: string;
  /** What may stand behind the name. */
  readonly takes?: string;
  /** What Node gets: flags, the file, the file's first arguments. */
  readonly runs: readonly string[];
  /** A program that must have run before. */
  readonly first?: string;
}

const build = 'scripts/build/build.ts';
const frameworks = 'scripts/package/install-frameworks.ts';
const vitest = (config: string) => [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  config,
];
const vitepress = (command: string) => [
  'node_modules/vitepress/bin/vitepress.js',
  command,
  'docs',
];

const bench: Readonly<Record<string, NamedProgram>> = {
  hook: {
    about: 'a call of the hook beside bare Node; a continuation in the real Claude Code',
    takes: '[RUNS]',
    runs: ['bench/hosts/hook-cost.ts'],
    first: build,
  },
  opencode: {
    about: 'the OpenCode plugin beside a bare one and beside the best-known one',
    takes: '[ROUNDS]',
    runs: ['bench/hosts/opencode-cost.ts'],
    first: build,
  },
  speed: {
    about: 'the engine on SQLite beside raw rows, decide alone, the start of the command',
    takes: '[EVENTS]',
    runs: ['bench/speed/engine-speed.ts'],
    first: build,
  },
  start: {
    about: 'how long each command takes to start, beside bare Node',
    takes: '[RUNS]',
    runs: ['bench/speed/start-up.ts'],
    first: build,
  },
  library: {
    about: 'the files that the library loads, the size of a bundle with it, its start',
    takes: '[RUNS]',
    runs: ['bench/speed/library.ts'],
    first: build,
  },
  'first-call': {
    about: 'from `untildone run` to its first call to the model, beside bare Node',
    takes: '[RUNS]',
    runs: ['bench/agent/first-call.ts'],
    first: build,
  },
  gate: {
    about: 'from the claim of a todo to its passed check, beside the bare command',
    takes: '[ROUNDS]',
    runs: ['bench/speed/gate.ts'],
    first: build,
  },
  fingerprint: {
    about: 'a fingerprint of 20,000 files beside `git status`',
    takes: '[ROUNDS]',
    runs: ['bench/speed/fingerprint.ts'],
  },
  growth: {
    about: 'decisions with 10,000 todos beside 100; 100,000 sessions with a countdown',
    takes: '[SESSIONS]',
    runs: ['--expose-gc', 'bench/speed/growth.ts'],
  },
  guard: {
    about: 'how long the guard holds an answer back, beside a stream without a guard',
    takes: '[SAMPLES]',
    runs: ['bench/agent/guard-latency.ts'],
  },
  prefix: {
    about: 'how much of a call to the model begins as the one before, in each protocol',
    runs: ['bench/agent/prefix.ts'],
  },
  'long-run': {
    about: 'memory and size of the prompts of our own agent over 200 todos',
    takes: '[TODOS]',
    runs: ['bench/agent/long-run.ts'],
  },
  view: {
    about: 'CPU of the live view while it is busy, in a real terminal (needs tmux)',
    takes: '[SECONDS]',
    runs: ['bench/view/view-cost.ts'],
  },
};

const extraTests: Readonly<Record<string, NamedProgram>> = {
  frameworks: {
    about: 'real frameworks (AI SDK, LangChain, …) against the scripted model',
    takes: '[vitest options]',
    runs: vitest('test/frameworks/vitest.config.ts'),
    first: frameworks,
  },
  view: {
    about: 'the live view in a real terminal (needs tmux)',
    takes: '[vitest options]',
    runs: vitest('test/view/vitest.config.ts'),
  },
  site: {
    about: 'the docs site in Chromium: links, contrast, width of a phone, search',
    takes: '[vitest options]',
    runs: vitest('test/site/vitest.config.ts'),
  },
  mutations: {
    about: 'breaks the product on purpose and asks whether a test notices',
    takes: '[ID …]',
    runs: ['scripts/quality/mutate.ts'],
  },
  crash: {
    about: 'kills a process at every named point and at random ones',
    takes: '[KILLS] [SEED]',
    runs: ['test/crash/crash-matrix.ts'],
  },
  writers: {
    about: 'many processes write one session at the same time',
    takes: '[PROCESSES] [EVENTS]',
    runs: ['test/writers/parallel-writers.ts'],
  },
  'run-kills': {
    about: 'kills our own agent at random moments of a run and resumes it',
    takes: '[KILLS] [SEED] [workers]',
    runs: ['test/run-kills/run-kills.ts'],
  },
  'drive-kills': {
    about: 'kills a driven host, or the run that drives it, and resumes the run',
    takes: 'HOST [KILLS] [SEED]',
    runs: ['test/hosts/harness/drive-kills.ts', 'kills'],
    first: build,
  },
  'opencode-kills': {
    about: 'kills the real OpenCode in countdown and injection',
    takes: '[KILLS] [SEED]',
    runs: ['test/hosts/opencode/host-kills.ts'],
    first: build,
  },
  evidence: {
    about: 'honest runs, random agents, shared and killed check runners',
    takes: '[HONEST] [RANDOM] [PROCESSES]',
    runs: ['test/evidence/evidence.ts'],
  },
  rights: {
    about: 'an agent tries to raise its rights (needs script, python3, tmux)',
    takes: '[--write]',
    runs: ['test/rights/rights.ts'],
  },
};

const docs: Readonly<Record<string, NamedProgram>> = {
  config: {
    about: 'writes docs/configuration.md from the table of settings',
    runs: ['scripts/docs/config-docs.ts'],
  },
  reference: {
    about:
      'writes docs/reference from the code: commands, rules, outcomes, events, library',
    runs: ['scripts/docs/reference-docs.ts'],
  },
  hosts: {
    about: 'writes docs/hosts/README.md from what the adapters declare',
    runs: ['scripts/docs/host-docs.ts'],
  },
  dev: { about: 'serves the docs site while you write', runs: vitepress('dev') },
  build: {
    about: 'builds the docs site and fails at a dead link',
    runs: vitepress('build'),
  },
};

const chores: Readonly<Record<string, NamedProgram>> = {
  layers: {
    about: 'writes biome.layers.json from scripts/quality/layers.ts',
    runs: ['scripts/quality/write-layer-rules.ts'],
  },
  declarations: {
    about: 'writes the types of entries whose packages only test/frameworks installs',
    runs: ['scripts/build/declarations.ts'],
  },
  lock: {
    about: 'completes a package-lock.json with the packages of other platforms',
    takes: '[FOLDER]',
    runs: ['scripts/package/complete-lock.ts'],
  },
  walks: {
    about: 'prints how many files a reader opens to follow one event, by four walks',
    takes: '[--list]',
    runs: ['scripts/quality/walks.ts'],
  },
  'record-demo': {
    about: 'records docs/demo.svg from the demo in a real terminal (needs tmux)',
    runs: ['scripts/pictures/record-demo.ts'],
    first: build,
  },
  'record-view': {
    about: 'takes the pictures of docs/view in a real terminal (needs tmux)',
    takes: '[SCENE …]',
    runs: ['scripts/pictures/record-view.ts'],
  },
  'record-host': {
    about: 'takes docs/hosts/NAME.svg; install the host: test:hosts -- NAME --only=types',
    takes: 'NAME …',
    runs: ['scripts/pictures/record-host.ts'],
    first: build,
  },
};

/** By the npm script. */
export const namedPrograms: Readonly<
  Record<string, Readonly<Record<string, NamedProgram>>>
> = { bench, 'test:extra': extraTests, docs, chores };
