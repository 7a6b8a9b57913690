// The story of the demo: an agent with bad habits, its worker, and what the system answers to each of them.
// Written for the scripted model; the answers come from the real engine.
import type { TextKind } from '../../core/texts.ts';
import {
  ask,
  blockTodo,
  callTool,
  complete,
  drop,
  firstOf,
  plan,
  react,
  runCommand,
  type Script,
  type Step,
  say,
  script,
  start,
  when,
  withText,
  writeFile,
} from '../../scripted-model/index.ts';

export const storyGoal =
  'Write greet.mjs so that greet.test.mjs passes, try it out, and get it ready for release.';

/** What the human brings: the file that the check runs. */
export const humanTest = {
  name: 'greet.test.mjs',
  content: `import { greet } from './greet.mjs';

for (const [name, wanted] of [['world', 'Hello, world!'], ['', 'Hello, you!']]) {
  if (greet(name) === wanted) continue;
  console.error(\`greet('\${name}') says "\${greet(name)}", not "\${wanted}"\`);
  process.exitCode = 1;
}
`,
};

const greeting = `export const greet = (name) => \`Hello, \${name}!\`;

if (process.argv[2]) console.log(greet(process.argv[2]));
`;

const todos = {
  write: 'Write the greeting',
  tryOut: 'Try it out',
  readme: 'Write the README',
  note: 'Note the change',
} as const;

const notTriedOut = 'I could not run greet.mjs, so I have not tried it out.';

/** So many todos are completed when the scripted human presses Ctrl-C. */
export const completedAtInterrupt = 2;

const agent: Script = script('agent', [
  withText(
    'I will plan this first.',
    plan(todos.write, { title: todos.tryOut, agentType: 'tester' }, todos.readme, todos.note),
  ),
  writeFile('greet.mjs', greeting),
  complete(todos.write, 'greet.mjs is written'),
  // Quits early, with three todos open.
  say('All done! The greeting works.'),
  delegate(todos.tryOut, 'Run greet.mjs with the name "world".'),
  // Whoever says no to the tester has not tried it out, and the plan must say so.
  firstOf(
    when(
      ({ results }) => results.some(({ text }) => text.includes(notTriedOut)),
      blockTodo(todos.tryOut, 'the human did not allow node greet.mjs world'),
    ),
    complete(todos.tryOut, 'the tester has run it'),
  ),
  // Here the human presses Ctrl-C; the step is finished first, and the rest comes after the resume.
  writeFile('README.md', '# greet\n\nSays hello.\n'),
  complete(todos.readme, 'README.md is written'),
  // Drops the todo that it does not feel like doing.
  drop(todos.note),
  say('The list is finished now.'),
  start(todos.note),
  // Asks whether it should go on.
  ask('The changelog is missing, it seems. Shall I go on?'),
  writeFile('CHANGELOG.md', '# Changelog\n\n- The first greeting.\n'),
  complete(todos.note, 'CHANGELOG.md is written'),
  // Nothing is open any more, but the human's check has not passed.
  say('Finished: the greeting, the README and the changelog are there.'),
  callTool('edit_file', {
    path: 'greet.mjs',
    oldText: `\${name}!`,
    newText: `\${name || 'you'}!`,
  }),
  say('Finished. A greeting without a name says "Hello, you!" now.'),
]);

/** The worker. It tells what it saw, whether the human allowed the command or not. */
const tester: Script = script('tester', [
  runCommand('node greet.mjs world'),
  firstOf(
    when(
      ({ results }) => results.some(({ text }) => text.includes('Hello, world!')),
      say('node greet.mjs world printed "Hello, world!".'),
    ),
    say(notTriedOut),
  ),
]);

export const scripts: readonly Script[] = [agent, tester];

/** The continuations in the order in which the story provokes them. */
export const expectedContinuations: readonly TextKind[] = [
  'standard',
  'dropped-todos',
  'text-question',
  'failed-check',
];

function delegate(title: string, instructions: string): Step {
  return react(({ todos: known }) => {
    const todo = known.find((one) => one.title === title);
    return callTool('delegate', { todoId: todo?.id ?? title, instructions });
  });
}
