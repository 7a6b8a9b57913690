// `untildone demo`: shows the product at its main job. It is `untildone run`, twice, with
// a scripted model on loopback and a scratch folder and store of its own: it needs no key
// and no network and leaves nothing behind. It fails if the story did not run as written.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { messageOf } from '../../core/error.ts';
import { oneLine } from '../../core/safe-text.ts';
import type { TextKind } from '../../core/texts.ts';
import { configFileName } from '../../engine/policy.ts';
import * as model from '../../scripted-model/index.ts';
import type { WatchedRun } from '../agent-session.ts';
import { canAnswerHere } from '../ask-at-terminal.ts';
import { type Command, eventsOption, plainOption } from '../command.ts';
import { answerPermission } from '../human-event.ts';
import { type Io, programVersion } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import { createPaint, printComplaint, printWrapped } from '../print.ts';
import { readArguments } from '../program.ts';
import { run, type Staging } from './run.ts';

// The story: an agent with bad habits, and its worker. The real engine answers both.

const goal =
  'Write greet.mjs so that greet.test.mjs passes, try it out, and get it ready for release.';

/** The file that the human's check runs. */
const humanTest = `import { greet } from './greet.mjs';

for (const [name, wanted] of [['world', 'Hello, world!'], ['', 'Hello, you!']]) {
  if (greet(name) === wanted) continue;
  console.error(\`greet('\${name}') says "\${greet(name)}", not "\${wanted}"\`);
  process.exitCode = 1;
}
`;

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
const whenSeen = (words: string, step: model.Step) =>
  model.when(({ results }) => results.some(({ text }) => text.includes(words)), step);

/** How many todos are completed when the scripted human presses Ctrl-C. */
const completedAtInterrupt = 2;

/**
 * @param readingMs how long a person needs to read the screen before the session goes on
 */
const agent = (readingMs: number) =>
  model.script('agent', [
    model.withText(
      'I will plan this first.',
      model.plan(
        todos.write,
        { title: todos.tryOut, agentType: 'tester' },
        todos.readme,
        todos.note,
      ),
    ),
    model.writeFile('greet.mjs', greeting),
    model.complete(todos.write, 'greet.mjs is written'),
    // It quits early, with three todos open.
    model.say('All done! The greeting works.'),
    model.react(({ todos: known }) => {
      const todoId = known.find(({ title }) => title === todos.tryOut)?.id;
      return model.callTool('delegate', {
        todoId,
        instructions: 'Run greet.mjs with the name "world".',
      });
    }),
    // If the human says no to the tester, nobody has tried it out, and the plan must say
    // so.
    model.firstOf(
      whenSeen(
        notTriedOut,
        model.blockTodo(todos.tryOut, 'the human did not allow node greet.mjs world'),
      ),
      model.complete(todos.tryOut, 'the tester has run it'),
    ),
    // The human presses Ctrl-C here. The step is finished first; the rest comes after the
    // resume.
    model.writeFile('README.md', '# greet\n\nSays hello.\n'),
    model.after(readingMs, model.complete(todos.readme, 'README.md is written')),
    // It drops a todo.
    model.drop(todos.note),
    model.say('The list is finished now.'),
    model.start(todos.note),
    model.ask('The changelog is missing, it seems. Shall I go on?'),
    model.writeFile('CHANGELOG.md', '# Changelog\n\n- The first greeting.\n'),
    model.complete(todos.note, 'CHANGELOG.md is written'),
    // No todo is open any more, but the human's check has not passed.
    model.say('Finished: the greeting, the README and the changelog are there.'),
    model.callTool('edit_file', {
      path: 'greet.mjs',
      oldText: `\${name}!`,
      newText: `\${name || 'you'}!`,
    }),
    model.say('Finished. A greeting without a name says "Hello, you!" now.'),
  ]);

/** The worker reports what it saw, whether the human allowed the command or not. */
const tester = model.script('tester', [
  model.runCommand('node greet.mjs world'),
  model.firstOf(
    whenSeen('Hello, world!', model.say('node greet.mjs world printed "Hello, world!".')),
    model.say(notTriedOut),
  ),
]);

/**
 * The bad habits in the order of the story, each with the continuation that answers it.
 */
const habits: readonly (readonly [answeredBy: TextKind, sentence: string])[] = [
  ['standard', 'It quit early: "All done!" with three todos open.'],
  ['dropped-todos', 'It dropped a todo, and called the list finished.'],
  ['text-question', 'It asked: "Shall I go on?"'],
  ['failed-check', 'It said "Finished" while the test failed.'],
];

/** The human's own settings. */
const demoSettings = (url: string) => ({
  model: 'scripted/agent',
  models: { scripted: { baseUrl: `${url}/v1`, api: 'chat', contextLimit: 100_000 } },
  workers: { tester: { model: 'scripted/tester' } },
  // The script answers within seconds, so nobody is there if it takes longer than this.
  permissions: { mode: 'ask', waitSeconds: 60 },
  checks: { 'the test passes': { command: ['node', 'greet.test.mjs'] } },
  goal: ['the test passes'],
});

/** How long a person at the terminal has to answer before the script does. */
const answerSeconds = 6;

/** The script's answer to the permission. */
type ScriptedAnswer = 'once' | 'no';

/** @param answer the script's answer to the permission if no person gives one */
export function createDemo(answer: ScriptedAnswer): Command {
  return {
    about: [
      'A scripted model plays an agent with bad habits: it quits early, drops a todo, asks whether to go on,\nand says "finished" while the test fails. A worker asks for a permission; on a terminal you can answer it. A script\npresses Ctrl-C, and the session is resumed. The engine, the store, the tools, the checks and the loop are the real ones.',
      'It works in a scratch folder that is removed afterwards. Exit code 0: the story ran as written.',
    ],
    options: { ...plainOption, ...eventsOption },
    async run(given, io) {
      const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-demo-')));
      const isJson = given.has('json');
      // At a pace that people can follow, or as fast as possible.
      const [latencyMs, readingMs] = io.isTTY && !isJson ? [600, 2500] : [0, 0];
      const server = await model.startScriptedModel({
        scripts: [agent(readingMs), tester],
        latencyMs,
      });
      const flags = ['plain', 'json']
        .filter((name) => given.has(name))
        .map((name) => `--${name}`);
      const print = (lines: readonly string[]) =>
        isJson ? undefined : printWrapped(io, lines);
      try {
        return await playStory(
          createStage(io, scratch, server.url),
          flags,
          print,
          answer,
        );
      } finally {
        await server.close();
        rmSync(scratch, { recursive: true, force: true });
      }
    },
  };
}

export const demo = createDemo('once');

/**
 * The demo has a store and settings of its own, so that it never shows up among the
 * human's sessions.
 */
function createStage(io: Io, scratch: string, url: string): Io {
  const cwd = join(scratch, 'work');
  const config = join(scratch, 'config', 'untildone');
  for (const folder of [cwd, config]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(cwd, 'greet.test.mjs'), humanTest);
  writeFileSync(join(config, configFileName), JSON.stringify(demoSettings(url)), {
    mode: 0o600,
  });
  const otherVariables = Object.entries(io.env).filter(
    ([name]) => !name.startsWith('UNTILDONE_'),
  );
  // The Node that runs this process goes first on the path: nobody knows whether another
  // one is on it.
  const PATH = [dirname(process.execPath), io.env['PATH']]
    .filter(Boolean)
    .join(delimiter);
  const ownVariables = {
    PATH,
    UNTILDONE_HOME: join(scratch, 'state'),
    XDG_CONFIG_HOME: dirname(config),
  };
  // The script must be able to resume its own session, even if an agent started the demo.
  return {
    ...io,
    cwd,
    env: { ...Object.fromEntries(otherVariables), ...ownVariables },
    agentAbove: async () => null,
  };
}

/**
 * The script plays the human: it answers the permission if no person does, presses Ctrl-C
 * once, as somebody in another terminal would, and says so each time. Words that a person
 * types are answered too.
 */
async function playStory(
  io: Io,
  flags: readonly string[],
  print: (lines: readonly string[]) => void,
  answer: ScriptedAnswer,
): Promise<number> {
  const isSomebodyHere = !flags.includes('--json') && (await canAnswerHere(io));
  const answeredKinds: TextKind[] = [];
  let completed = 0;
  let hasInterrupted = false;
  let hasRefused = false;
  let hasLeft = false;
  let cancelAnswer = (): void => {};

  const answerLater = (
    question: { sessionId: string; requestId: string },
    { tell }: WatchedRun,
  ): void => {
    const seconds = isSomebodyHere ? answerSeconds : 0;
    const word = answer === 'no' ? 'no' : 'yes';
    tell(
      isSomebodyHere
        ? `The script says ${word} in ${seconds} s, unless you answer first.`
        : `Nobody is here to answer, so the script says ${word}.`,
    );
    cancelAnswer = io.clock.wake(io.clock.now() + seconds * 1000, () => {
      withStore(io, (store) => answerPermission(io, store, question, answer)).catch(
        (error: unknown) => {
          // The question stays open, and the run ends as paused: the story did not run as
          // written, and the demo says so.
          tell(`The script could not answer: ${messageOf(error)}`);
        },
      );
    });
  };
  const staging: Staging = {
    hear(words, { tell, interrupt }) {
      const wantsEnd = words === null || /^\s*(?:stop|quit|exit|q)\s*$/iu.test(words);
      hasLeft ||= wantsEnd;
      if (words === null) return;
      if (wantsEnd) return interrupt();
      const noted = `Noted: "${oneLine(words, 60)}".`;
      tell(
        `${noted} A script plays this agent and cannot read it; a real one reads it after its step.`,
      );
    },
    watch(event, watched) {
      if (event.type === 'continuation') answeredKinds.push(event.textKind);
      if (event.type === 'permission-asked') answerLater(event, watched);
      if (event.type === 'permission-answered') {
        cancelAnswer();
        hasRefused ||= !event.granted;
      }
      if (event.type === 'plan-changed') completed = event.completed;
      const isTimeToInterrupt =
        event.type === 'step-started' && completed === completedAtInterrupt;
      if (isTimeToInterrupt && !hasInterrupted) {
        hasInterrupted = true;
        watched.tell('The script presses Ctrl-C.');
        watched.interrupt();
      }
    },
  };
  // The store is removed with the demo: only the script can resume its session.
  const playPart = (words: string, isKept = () => false): Promise<number> =>
    run.run(readArguments(run, [words, ...flags]), io, { ...staging, isKept });
  const onInterrupt = (): void => {
    hasLeft = true;
  };
  // Between the two parts no run handles the signal.
  process.on('SIGINT', onInterrupt);
  try {
    print(['A script plays the model and the human; everything else is real.', '']);
    const first = await playPart(goal, () => hasInterrupted);
    if (!hasLeft)
      print([
        '',
        'The script takes the session up again, as `untildone run --resume` does.',
        '',
      ]);
    const last = hasLeft ? first : await playPart('--resume');
    // A person who stops the demo wants it to end.
    if (hasLeft) {
      print([
        '',
        'You ended the demo; nothing of it is left. `untildone demo` plays it again.',
      ]);
      return 130;
    }
    const isAsWritten = hasRefused
      ? last === 4
      : last === 0 && answeredKinds.join() === habits.map(([kind]) => kind).join();
    if (first === 130 && isAsWritten) {
      print(closingLines(io, answeredKinds, hasRefused));
      return 0;
    }
    printComplaint(
      io,
      `The story did not run as written: ${answeredKinds.join(', ')}; it ended with ${first} and ${last}.`,
    );
    return 1;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** What the demo has just proved, and what to type now. */
function closingLines(
  io: Io,
  answeredKinds: readonly TextKind[],
  hasRefused: boolean,
): string[] {
  const bold = (text: string) => createPaint(io)('bold', text);
  // In a clone the command `untildone` does not exist yet.
  const isClone = io.env['npm_lifecycle_event'] === 'start';
  const install = `npm pack && npm install --global ./untildone-${programVersion}.tgz`;
  return [
    '',
    bold('What you just saw'),
    ...habits
      .filter(([kind]) => answeredKinds.includes(kind))
      .map(([, sentence]) => `  ${sentence}`),
    hasRefused
      ? 'You said no, so one todo is blocked, and nobody calls it done.'
      : 'It was sent back each time, and may stop now because the test passes.',
    '',
    ...(isClone ? [bold('Now, in this folder'), `  ${bold(install)}`] : []),
    bold(isClone ? 'Then in your own project' : 'Now in your own project'),
    `  ${bold('untildone init claude-code --check "npm test"')}   or another host, or --all`,
    `  ${bold('untildone run "fix the tests" --check "npm test"')}   with a key or a local model`,
  ];
}
