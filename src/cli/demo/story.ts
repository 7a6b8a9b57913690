// The story of the demo: an agent with every bad habit of stopping, and what the system answers to each.
// Written for the scripted model; the answers come from the real engine.
import type { TextKind } from '../../core/decision.ts';
import {
  ask,
  bulkClaim,
  callTool,
  complete,
  drop,
  plan,
  type Script,
  say,
  script,
  start,
  withText,
  writeFile,
} from '../../testing/model/index.ts';

export const storyGoal = 'Write a small greeting with a test, run the test, and get it ready for release.';

const greeting = `export const greet = (name) => \`Hello, \${name}!\`;\n`;
const test = `import { strictEqual } from 'node:assert';\nimport { greet } from './greet.mjs';\nstrictEqual(greet('world'), 'Hello, world!');\nconsole.log('1 test passed');\n`;

export const story: Script = script('demo', [
  withText('I will plan this first.', plan('Write the greeting', 'Write its test', 'Run the test')),
  writeFile('greet.mjs', greeting),
  complete('Write the greeting', 'greet.mjs is written'),
  // Quits early, with two todos open.
  say('All done! The greeting works.'),
  writeFile('greet.test.mjs', test),
  complete('Write its test', 'greet.test.mjs is written'),
  // Drops the todo that takes patience.
  drop('Run the test'),
  say('The list is finished now.'),
  start('Run the test'),
  // Waits for a job in the background.
  callTool('start_job', { command: 'sleep 2; node greet.test.mjs', description: 'the test of the greeting' }),
  say('The test is running; I will come back to it.'),
  say('There is nothing else to do until it ends.'),
  callTool('read_job', { job: 'job-1' }),
  complete('Run the test', 'it printed "1 test passed"'),
  // Plans three more and claims them at once, without having touched a file.
  plan('Write the README', 'Add a licence', 'Note the change'),
  bulkClaim('Write the README', 'Add a licence', 'Note the change'),
  say('Everything is finished!'),
  start('Write the README'),
  // Asks whether it should go on, then stalls and is told more firmly.
  ask('The README is missing, it seems. Shall I go on?'),
  say('I am thinking about the README.'),
  writeFile('README.md', '# greet\n\nSays hello.\n'),
  complete('Write the README', 'README.md is written'),
  writeFile('LICENSE', 'MIT\n'),
  writeFile('CHANGELOG.md', '# Changelog\n\n- The first greeting.\n'),
  say(
    'Finished: the greeting, its test, a README, a licence and a changelog are there, and the test passes.',
  ),
]);

/** The continuations in the order in which the story provokes them. */
export const expectedContinuations: readonly TextKind[] = [
  'standard',
  'dropped-todos',
  'background-job',
  'bulk-claim',
  'text-question',
  'standard',
];
