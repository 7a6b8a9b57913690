// Agents that call tools at random, with a liking for what could deceive the gate.
// Whatever they did: if the run ended done, the human's checks pass on what is there now
// (issue "Evidence", must hold 3).
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  blockTodo,
  bulkClaim,
  callTool,
  cancel,
  complete,
  drop,
  listTodos,
  parallel,
  pause,
  plan,
  reword,
  rewriteList,
  runCommand,
  type Step,
  say,
  start,
  theNext,
  toggle,
  verify,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { createRandom, type Random } from './random.ts';
import { type EvidenceStory, type Stage, setStage, type Told } from './stage.ts';

const names = ['alpha', 'beta', 'gamma'] as const;
const titles = names.map((name) => `Write ${name}`);

/** Every check reads files of the workspace only. */
const checks = {
  alpha: { file: 'alpha.txt', matches: '^good$' },
  beta: { command: 'test "$(cat beta.txt)" = good' },
  gamma: { command: ['sh', 'test/gamma.sh'] },
  tidy: { file: 'junk.txt', absent: true },
  narrow: { command: 'grep -qx good src/narrow.txt', files: ['src/**'] },
};

/**
 * The same conditions in words of our own: this is what is asked when a run says that it
 * is done.
 */
const conditions: Readonly<Record<string, (root: string) => boolean>> = {
  alpha: (root) => read(root, 'alpha.txt')?.split('\n').includes('good') ?? false,
  beta: (root) => read(root, 'beta.txt')?.replace(/\n+$/u, '') === 'good',
  gamma: (root) => spawnSync('sh', ['test/gamma.sh'], { cwd: root }).status === 0,
  tidy: (root) => read(root, 'junk.txt') === null,
  narrow: (root) => read(root, 'src/narrow.txt')?.split('\n').includes('good') ?? false,
};

const files = {
  'test/gamma.sh': 'grep -qx good gamma.txt\n',
  'alpha.txt': 'bad',
  'src/narrow.txt': 'bad',
  'PLAN.md': '- [ ] Write alpha\n',
};

function randomStory(seed: number): EvidenceStory {
  const random = createRandom(seed);
  const protects = random.chance(25);
  const goal = random.chance(60)
    ? []
    : Object.keys(checks).filter(() => random.chance(40));
  const config = {
    checks,
    goal,
    todoChecks: [
      ...names.map((name) => ({ title: `*${name}*`, checks: [name] })),
      { title: '*alpha*', checks: random.chance(50) ? ['narrow'] : [] },
    ],
    allowChecks: ['tidy'],
    ...(protects ? { protect: ['test/**'] } : {}),
  };
  const steps: Step[] = random.chance(90)
    ? [plan(...titles.slice(0, 1 + random.below(3)))]
    : [];
  for (let count = 1 + random.below(10); count > 0; count -= 1)
    steps.push(randomStep(random));
  if (random.chance(80)) steps.push(...finish(random));
  if (random.chance(50)) steps.push(spoil(random));
  if (random.chance(30))
    for (let count = random.below(4); count > 0; count -= 1)
      steps.push(randomStep(random));
  if (random.chance(30)) steps.push(bulkClaim());
  steps.push(say('Everything is done.'));
  for (let count = random.below(5); count > 0; count -= 1) steps.push(randomStep(random));
  if (random.chance(40)) steps.push(...finish(random));
  return {
    config,
    files,
    steps,
    afterwards: random.chance(50) ? say('It is done.') : complete(theNext),
  };
}

/**
 * The human's checks that fail now although the run is called done; empty: it may be
 * called that.
 */
export async function randomFaults(
  seed: number,
): Promise<{ run: Told; faults: string[] }> {
  const stage = await setStage(randomStory(seed));
  try {
    const run = await stage.run();
    return { run, faults: run.ended.outcome === 'done' ? faultsOf(run, stage) : [] };
  } finally {
    await stage.close();
  }
}

function faultsOf({ todos, session }: Told, { root }: Stage): string[] {
  const { turn } = session;
  const touched = turn?.touchedPlan === true || turn?.touchedWorkspace === true;
  // V1: a turn that touched nothing has nothing to answer for, whatever stood there
  // before.
  if (!touched) return [];
  const own = todos
    .filter(({ status }) => status === 'completed')
    .flatMap((todo) => todo.checks);
  const wanted = new Set([...Object.keys(session.goal), ...own]);
  const failing = [...wanted].filter((check) => conditions[check]?.(root) === false);
  const isProtected = wanted.has('protected paths');
  if (isProtected && read(root, 'test/gamma.sh') !== files['test/gamma.sh'])
    failing.push('protected paths');
  return failing;
}

function randomStep(random: Random): Step {
  const step = random.pick(stepKinds)(random);
  return random.chance(25) ? parallel(step, random.pick(callKinds)(random)) : step;
}

type StepKind = (random: Random) => Step;

const title = (random: Random): string => random.pick(titles);
const anyFile = (random: Random): string =>
  random.pick([
    'alpha.txt',
    'beta.txt',
    'gamma.txt',
    'src/narrow.txt',
    'alpha.txt',
    'beta.txt',
    'test/gamma.sh',
    'untildone.json',
    'PLAN.md',
    'notes.md',
    'junk.txt',
  ]);

const contentFor = (random: Random, path: string): string => {
  if (path === 'test/gamma.sh')
    return random.pick(['exit 0\n', files['test/gamma.sh'], 'exit 1\n']);
  if (path === 'untildone.json')
    return random.pick(['{}', '{"goal":[]}', '{"checks":', '{"mode":"off"}']);
  if (path === 'PLAN.md')
    return random.pick(['- [x] Write alpha\n', '', '- [ ] Other\n']);
  return random.pick(['good', 'good', 'bad', `good\n${random.below(3)}`, '']);
};

const writes: StepKind = (random) => {
  const path = anyFile(random);
  return writeFile(path, contentFor(random, path));
};

const edits: StepKind = (random) => {
  const [oldText, newText] = random.pick([
    ['good', 'bad'],
    ['bad', 'good'],
  ] as const);
  return callTool('edit_file', { path: anyFile(random), oldText, newText });
};

const commands: StepKind = (random) =>
  runCommand(
    random.pick([
      `rm -f ${anyFile(random)}`,
      'printf good > beta.txt',
      'printf bad > beta.txt; sleep 0.05',
      'cp alpha.txt gamma.txt 2>/dev/null || true',
      'mv gamma.txt beta.txt 2>/dev/null || true',
      'rm -rf test && mkdir test && printf "exit 0" > test/gamma.sh',
      'printf "good" | tee alpha.txt beta.txt gamma.txt > src/narrow.txt',
      'ln -sf beta.txt alpha.txt',
      'git init -q . 2>/dev/null || true',
    ]),
  );

const claims: StepKind = (random) =>
  complete(random.chance(70) ? title(random) : theNext);

/** Steps of one call that never speak. */
const callKinds: readonly StepKind[] = [writes, writes, edits, commands, claims];

const stepKinds: readonly StepKind[] = [
  writes,
  writes,
  edits,
  commands,
  claims,
  claims,
  () => bulkClaim(),
  () => verify(),
  () => listTodos(),
  () => say('I think that is all.'),
  (random) => start(title(random)),
  (random) => toggle(title(random)),
  (random) => cancel(title(random), 'not needed any more'),
  (random) => blockTodo(title(random), 'someone is away'),
  (random) => drop(title(random)),
  (random) => reword(title(random), `${title(random)} soon`),
  (random) => plan(random.pick(['Extra', ...titles])),
  (random) => plan({ title: `Tidy ${random.below(3)}`, check: 'tidy' }),
  () =>
    rewriteList((todos) =>
      todos.map((todo) => ({ ...todo, status: 'completed' as const })),
    ),
  () => rewriteList(() => []),
  () =>
    rewriteList((todos) =>
      [...todos].reverse().map((todo) => ({ ...todo, status: 'pending' as const })),
    ),
  (random) => (random.chance(10) ? pause('I want to stop') : verify()),
];

/** The work done properly, so that many runs come near to the end. */
function finish(random: Random): Step[] {
  const good = ['alpha.txt', 'beta.txt', 'gamma.txt', 'src/narrow.txt'].map((path) =>
    writeFile(path, 'good'),
  );
  const restore = random.chance(70)
    ? [writeFile('test/gamma.sh', files['test/gamma.sh'])]
    : [];
  const cleared = runCommand(
    'rm -f junk.txt alpha.txt; printf good > alpha.txt; rm -f test/setup.sh',
  );
  return [
    cleared,
    parallel(...good, ...restore),
    bulkClaim(),
    ...(random.chance(50) ? [verify()] : []),
  ];
}

/** What was proved is broken again. */
function spoil(random: Random): Step {
  return writeFile(
    random.pick(['alpha.txt', 'alpha.txt', 'beta.txt', 'src/narrow.txt']),
    'bad',
  );
}

function read(root: string, path: string): string | null {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    // Not there, or no file: for a condition that is the same.
    return null;
  }
}
