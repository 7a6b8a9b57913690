// Random honest agents: they do all the work, in any order, with either family of todo
// tools, and tick as they go or at the end. None of them may be reopened or challenged
// (issue "Evidence", must hold 1).
import type { CheckSetting } from '../../src/core/check-specs.ts';
import {
  callTool,
  complete,
  duplicateWrite,
  listTodos,
  parallel,
  plan,
  rewriteList,
  runCommand,
  type Step,
  say,
  start,
  verify,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { createRandom, type Random } from './random.ts';
import { told } from './read-told.ts';
import { type EvidenceStory, tell } from './stage.ts';

interface Part {
  readonly title: string;
  readonly file: string;
  readonly name: string;
  readonly check: CheckSetting | null;
}

interface HonestStory extends EvidenceStory {
  readonly expected: 'done' | 'claimed';
}

/** With at most so many todos. */
function honestStory(seed: number, most: number): HonestStory {
  const random = createRandom(seed);
  const parts = Array.from({ length: 1 + random.below(most) }, (_, index) =>
    createPart(random, index),
  );
  const goal = random.chance(40) ? createGoal(random, parts) : null;
  const checks = parts.flatMap(({ name, check }) =>
    check === null ? [] : [[name, check] as const],
  );
  return {
    config: {
      checks: {
        ...Object.fromEntries(checks),
        ...(goal === null ? {} : { whole: goal }),
      },
      todoChecks: checks.map(([name]) => ({ title: `${name}:*`, checks: [name] })),
      goal: goal === null ? [] : ['whole'],
      ...(random.chance(30) ? { protect: ['test/**'] } : {}),
    },
    files: { 'test/a.test.txt': 'strict', 'readme.md': 'A project.' },
    steps: workOn(random, parts),
    expected: goal !== null || checks.length === parts.length ? 'done' : 'claimed',
  };
}

/** What is wrong with a run of such a story; null: nothing. */
export async function honestFault(seed: number, most = 12): Promise<string | null> {
  const story = honestStory(seed, most);
  const run = await tell(story);
  const { outcome, texts } = told(run);
  const reopened = run.ledger.filter(({ change }) => change === 'check-failed').length;
  // Whoever works for long before there is a list meets the budget of calls without one
  // (S2): that is no challenge.
  const scolded = texts.filter(
    (kind) => kind !== 'standard' && kind !== 'iteration-budget',
  );
  if (reopened === 0 && scolded.length === 0 && outcome === story.expected) return null;
  return `seed ${seed}: ${outcome} instead of ${story.expected}, ${reopened} reopened, told ${scolded.join(', ') || 'nothing'}`;
}

function createPart(random: Random, index: number): Part {
  const name = `part${index}`;
  const file = `${random.pick(['src', 'lib/deep', 'docs'])}/${name}.txt`;
  const files = random.chance(30) ? { files: [file] } : {};
  const check: CheckSetting | null = random.pick([
    null,
    { file, matches: 'finished', ...files },
    { command: ['grep', '-q', 'finished', file], ...files },
  ]);
  return { name, file, title: `${name}: write ${file}`, check };
}

function createGoal(random: Random, parts: readonly Part[]): CheckSetting {
  const lines = parts.map(({ file }) => `grep -q finished ${file}`).join(' && ');
  return random.pick([
    { command: lines },
    { file: parts[0]?.file ?? '', matches: 'finished' },
  ]);
}

function workOn(random: Random, parts: readonly Part[]): Step[] {
  const all = parts.map(({ title }) => title);
  const end = say('All of it is done.');
  // Work first and the finished list afterwards, or one call for all of them: neither is
  // a bulk claim (V4, P39).
  if (random.chance(15))
    return [...doParts(random, parts), written(all, 'completed'), end];
  if (random.chance(15))
    return [plan(...all), runCommand(inOneCommand(parts)), tick(parts, false), end];
  const whole = random.chance(40);
  const ticks = random.pick(['each', 'end', 'batch'] as const);
  const later = random.chance(20) && parts.length > 2 ? parts.slice(-1) : [];
  const first = parts.slice(0, parts.length - later.length);
  const titles = (some: readonly Part[]): string[] => some.map(({ title }) => title);
  const steps: Step[] = [
    whole ? written(titles(first), 'pending') : plan(...titles(first)),
  ];
  const untold = new Set<Part>();
  const tell = (some: readonly Part[]): Step[] => {
    for (const part of some) untold.delete(part);
    return some.length === 0 ? [] : [tick(some, whole)];
  };
  const order = [...random.shuffle(first), ...later];
  while (order.length > 0) {
    const batch = order.splice(0, 1 + random.below(3));
    const added = batch.filter((part) => later.includes(part));
    if (added.length > 0) steps.push(plan(...titles(added)));
    if (random.chance(20)) steps.push(start(batch[0]?.title ?? ''));
    steps.push(...doParts(random, batch));
    for (const part of batch) untold.add(part);
    if (ticks === 'each') for (const part of batch) steps.push(...tell([part]));
    else if (ticks === 'batch') steps.push(...tell(batch));
    if (random.chance(15))
      steps.push(
        random.pick([
          listTodos(),
          verify(),
          callTool('read_file', { path: 'readme.md' }),
        ]),
      );
    if (random.chance(5) && order.length > 0)
      steps.push(say('That much is done; I go on.'));
  }
  steps.push(...tell([...untold]));
  if (random.chance(10)) steps.push(writeFile('notes.md', 'what I did'));
  if (random.chance(10)) steps.push(duplicateWrite());
  return [...steps, end];
}

function inOneCommand(parts: readonly Part[]): string {
  const lines = parts.map(
    ({ file, name }) =>
      `mkdir -p "$(dirname ${file})" && echo ${name} finished > ${file}`,
  );
  return lines.join(' && ');
}

function doParts(random: Random, parts: readonly Part[]): Step[] {
  const inTwo = random.chance(30);
  const writes = parts.map(({ file, name }) =>
    writeFile(file, inTwo ? `${name} drafted` : `${name} finished`),
  );
  const edits = parts.map(({ file }) =>
    callTool('edit_file', { path: file, oldText: 'drafted', newText: 'finished' }),
  );
  const together = random.chance(50);
  const steps = together ? [parallel(...writes)] : writes;
  return inTwo ? [...steps, ...(together ? [parallel(...edits)] : edits)] : [...steps];
}

function tick(parts: readonly Part[], whole: boolean): Step {
  const titles = parts.map(({ title }) => title);
  if (!whole) return parallel(...titles.map((title) => complete(title)));
  return rewriteList((todos) =>
    todos.map((todo) =>
      titles.includes(todo.title) ? { ...todo, status: 'completed' as const } : todo,
    ),
  );
}

function written(titles: readonly string[], status: 'pending' | 'completed'): Step {
  return callTool('todo_write', {
    todos: titles.map((content) => ({ content, status })),
  });
}
