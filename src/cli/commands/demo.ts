// `untildone demo`: the product doing its main job, with a scripted model on loopback, a scratch folder and a store
// of its own. No key, no network, nothing left behind. Fails if the story did not run as written.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentEvent, RunEnded } from '../../agent/agent-event.ts';
import { resolveModel } from '../../agent/models/resolve-model.ts';
import { createCommandCheck } from '../../core/check-specs.ts';
import { messageOf, UntildoneError } from '../../core/error.ts';
import { oneLine } from '../../core/safe-text.ts';
import { defaultSettings, type Settings } from '../../core/settings.ts';
import type { TextKind } from '../../core/texts.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers } from '../../engine/system.ts';
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
  startScriptedModel,
  when,
  withText,
  writeFile,
} from '../../scripted-model/index.ts';
import { askingOf, prepareWorkers } from '../agent-policy.ts';
import { type AgentSession, runSession, type WatchedRun } from '../agent-session.ts';
import { canAnswerHere } from '../ask-at-terminal.ts';
import { type Command, jsonOption, plainOption } from '../command.ts';
import { answerPermission } from '../human-event.ts';
import type { Io } from '../io.ts';
import { programVersion } from '../io.ts';
import { openOrCreateStore } from '../open-runtime.ts';
import { complain, createPaint, printWrapped } from '../print.ts';

// The story: an agent with bad habits, and its worker. What is answered to each of them comes from the real engine.

const storyGoal = 'Write greet.mjs so that greet.test.mjs passes, try it out, and get it ready for release.';

/** What the human brings: the file that the check runs. */
const humanTest = {
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
const completedAtInterrupt = 2;

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

const scripts: readonly Script[] = [agent, tester];

/** The bad habits in the order in which the story shows them, each with the continuation that answers it. */
const habits: readonly (readonly [answeredBy: TextKind, told: string])[] = [
  ['standard', 'It quit early: "All done!" with three todos open.'],
  ['dropped-todos', 'It dropped a todo, and called the list finished.'],
  ['text-question', 'It asked: "Shall I go on?"'],
  ['failed-check', 'It said "Finished" while the test failed.'],
];

function delegate(title: string, instructions: string): Step {
  return react(({ todos: known }) => {
    const todo = known.find((one) => one.title === title);
    return callTool('delegate', { todoId: todo?.id ?? title, instructions });
  });
}

/** How fast it goes: with a pace that eyes can follow, or as fast as it can. */
const paces = { watched: { answerMs: 600, betweenMs: 2500 }, unwatched: { answerMs: 0, betweenMs: 0 } };

/** What the script says to the permission. */
type ScriptedAnswer = 'once' | 'no';

/** @param answer what the script says to the permission, where no person does */
export function createDemo(answer: ScriptedAnswer): Command {
  return {
    about: [
      'A scripted model plays an agent with bad habits: it quits early, drops a todo, asks whether to go on,\nand says "finished" while the test fails. A worker asks for a permission; on a terminal you can answer it. A script\npresses Ctrl-C, and the session is resumed. The engine, the store, the tools, the checks and the loop are the real ones.',
      'It works in a scratch folder that is removed afterwards. Exit code 0: the story ran as written.',
    ],
    options: { ...plainOption, ...jsonOption },
    async run(given, io) {
      const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-demo-')));
      const json = given.has('json');
      const pace = io.isTTY && !json ? paces.watched : paces.unwatched;
      const server = await startScriptedModel({ scripts, latencyMs: pace.answerMs });
      // The demo's store is its own: it must not show up among the sessions of the human.
      const own: Io = {
        ...io,
        env: { ...io.env, PATH: withOwnNode(io.env['PATH']), UNTILDONE_HOME: join(scratch, 'state') },
        cwd: join(scratch, 'work'),
      };
      mkdirSync(own.cwd);
      writeFileSync(join(own.cwd, humanTest.name), humanTest.content);
      const store = await openOrCreateStore(own);
      try {
        if (!json) printWrapped(io, ['A script plays the model and the human; everything else is real.', '']);
        const session = await prepareSession(own, store, server.url);
        const shown = { ...session, json, plain: given.has('plain') };
        return await play(own, store, shown, pace.betweenMs, answer);
      } finally {
        await store.close();
        await server.close();
        rmSync(scratch, { recursive: true, force: true });
      }
    },
  };
}

export const demo = createDemo('once');

/** The human's check on the goal: the system runs it before the agent may stop. */
const proof = createCommandCheck('the test passes', ['node', humanTest.name]);

/** The Node that runs this is there, under its own name; whether another one is in the path is not known. */
function withOwnNode(path: string | undefined): string {
  return [dirname(process.execPath), ...(path === undefined ? [] : [path])].join(delimiter);
}

async function prepareSession(
  io: Io,
  store: Store,
  url: string,
): Promise<Omit<AgentSession, 'json' | 'plain'>> {
  const settings: Settings = {
    ...defaultSettings,
    scope: 'turn',
    models: { scripted: { baseUrl: `${url}/v1`, api: 'chat', contextLimit: 100_000 } },
    workers: { tester: { model: 'scripted/tester' } },
    // The script answers within seconds; whoever waits longer than this waits for nobody.
    permissions: { ...defaultSettings.permissions, waitSeconds: 60 },
  };
  const model = await resolveModel('scripted/agent', { settings, origins: {}, environment: {} });
  if (!model.ok) throw new UntildoneError('usage', model.error);
  return {
    goal: storyGoal,
    sessionId: createIdentifiers(io.clock).next(),
    resume: false,
    model,
    policy: { settings, goalChecks: [proof.id], checks: { [proof.id]: proof } },
    directory: io.cwd,
    permissions: { mode: 'ask', shellAllow: [] },
    asking: await askingOf(io, store, io.cwd, settings),
    workers: await prepareWorkers(io, settings, {}),
    acceptClaims: false,
  };
}

async function play(io: Io, store: Store, session: AgentSession, betweenMs: number, answer: ScriptedAnswer) {
  const isSomebodyHere = !session.json && (await canAnswerHere(io));
  const human = createScriptedHuman(io, store, isSomebodyHere, answer);
  const told: TextKind[] = [];
  const act = (part: Partial<AgentSession>): Promise<RunEnded> =>
    runSession(io, store, { ...session, ...part, hear: human.hear }, (event, run) => {
      if (event.type === 'continuation') told.push(event.textKind);
      human.watch(event, run);
    });
  const leave = (): number => {
    const ended = 'You ended the demo; nothing of it is left. `untildone demo` plays it again.';
    if (!session.json) printWrapped(io, ['', ended]);
    return 130;
  };
  // Between the parts nobody else listens.
  process.on('SIGINT', human.leave);
  try {
    // Its store goes with it: only the script takes a session of the demo up again.
    const first = await act({ isKept: () => human.hasInterrupted });
    if (!human.hasLeft) await pauseBetween(io, betweenMs, isSomebodyHere ? human.leave : null);
    // A person who stops the demo wants it to end.
    if (human.hasLeft) return leave();
    if (!session.json)
      printWrapped(io, ['', 'The script takes the session up again, as `untildone run --resume` does.', '']);
    const last = await act({ goal: null, resume: true, isKept: () => false });
    if (human.hasLeft) return leave();
    const asExpected =
      human.hasHelp || human.hasRefused || told.join() === habits.map(([kind]) => kind).join();
    const wanted = human.hasRefused ? 'blocked' : 'done';
    if (first.outcome === 'aborted' && last.outcome === wanted && asExpected) {
      if (!session.json) printWrapped(io, closing(io, told, human.hasRefused));
      return 0;
    }
    const outcomes = `${first.outcome} and ${last.outcome}`;
    complain(io, `The story did not run as written: ${told.join(', ')}; it ended ${outcomes}.`);
    return 1;
  } finally {
    process.off('SIGINT', human.leave);
  }
}

/** Keys are answered here too, and do not land raw on the screen. @param leave null: nobody is here to press any */
async function pauseBetween(io: Io, ms: number, leave: (() => void) | null): Promise<void> {
  const { stdin } = process;
  if (leave === null || stdin.setRawMode === undefined) return sleep(ms);
  const ending = new AbortController();
  let hasAnswered = false;
  const hear = (keys: Buffer | string): void => {
    // The view has left the stream in text mode; lines have not.
    const text = String(keys);
    const [isInterrupt, isEnter] = [text.includes('\u0003'), text.includes('\r')];
    if (isInterrupt) leave();
    if (isInterrupt || isEnter) ending.abort();
    else if (!hasAnswered)
      printWrapped(io, ['It goes on by itself in a moment. Enter goes on now, Ctrl-C ends the demo.']);
    hasAnswered = true;
  };
  stdin.setRawMode(true);
  stdin.on('data', hear);
  stdin.resume();
  try {
    await sleep(ms, null, { signal: ending.signal });
  } catch {
    // Safe: a key ended the pause.
  } finally {
    stdin.off('data', hear);
    stdin.setRawMode(false);
    stdin.pause();
  }
}

/** What was just proved, as it happened, and what to type now. */
function closing(io: Io, told: readonly TextKind[], hasRefused: boolean): string[] {
  const bold = (text: string) => createPaint(io)('bold', text);
  const seen = habits.filter(([kind]) => told.includes(kind)).map(([, sentence]) => `  ${sentence}`);
  const end = hasRefused
    ? 'You said no, so one todo is blocked, and nobody calls it done.'
    : 'It was sent back each time, and may stop now because the test passes.';
  // Whoever started it in a clone has no command of that name yet.
  const isClone = io.env['npm_lifecycle_event'] === 'start';
  const install = isClone
    ? [`  ${bold(`npm pack && npm install --global ./untildone-${programVersion}.tgz`)}`]
    : [];
  return [
    '',
    bold('What you just saw'),
    ...seen,
    end,
    '',
    bold('Now in your own project'),
    ...install,
    `  ${bold('untildone init claude-code --check "npm test"')}   or: opencode`,
    `  ${bold('untildone run "fix the tests" --check "npm test"')}   with a key or a local model`,
  ];
}

/** How long a person who sits here has for an answer of their own. */
const answerSeconds = 6;

/**
 * For everyone who only watches: answers the permission if nobody else does, and presses Ctrl-C once. It acts as a human in
 * another terminal would, and says so each time.
 */
function createScriptedHuman(io: Io, store: Store, isSomebodyHere: boolean, answer: ScriptedAnswer) {
  let completed = 0;
  let cancelAnswer = (): void => {};
  const human = {
    /** It was the script that stopped the run. */
    hasInterrupted: false,
    /** A person did something: the story may run otherwise than written. */
    hasHelp: false,
    /** The permission was refused: one todo cannot be done. */
    hasRefused: false,
    /** A person wants the demo to end. */
    hasLeft: false,
    leave(): void {
      human.hasLeft = true;
    },
    /** To type is the first thing that a curious person does: it must neither be lost nor upset the story. */
    hear(words: string | null, run: WatchedRun): void {
      const wantsEnd = words === null || /^\s*(?:stop|quit|exit|q)\s*$/iu.test(words);
      human.hasLeft ||= wantsEnd;
      if (wantsEnd && words !== null) run.interrupt();
      if (wantsEnd) return;
      const noted = `Noted: "${oneLine(words, 60)}".`;
      run.tell(`${noted} A script plays this agent and cannot read it; a real one reads it after its step.`);
    },
    watch(event: AgentEvent, run: WatchedRun): void {
      if (event.type === 'permission-asked') answerLater(event.sessionId, event.requestId, run);
      if (event.type === 'permission-answered') {
        cancelAnswer();
        human.hasHelp ||= event.by === 'terminal';
        human.hasRefused ||= !event.granted;
      }
      if (event.type === 'plan-changed') completed = event.completed;
      if (event.type === 'step-started' && completed === completedAtInterrupt && !human.hasInterrupted) {
        human.hasInterrupted = true;
        run.tell('The script presses Ctrl-C.');
        run.interrupt();
      }
    },
  };

  function answerLater(sessionId: string, requestId: string, run: WatchedRun): void {
    const seconds = isSomebodyHere ? answerSeconds : 0;
    const word = answer === 'no' ? 'no' : 'yes';
    run.tell(
      isSomebodyHere
        ? `The script says ${word} in ${seconds} s, unless you answer first.`
        : `Nobody is here to answer, so the script says ${word}.`,
    );
    cancelAnswer = io.clock.wake(io.clock.now() + seconds * 1000, () => {
      answerPermission(io, store, { sessionId, requestId }, answer).catch((error: unknown) => {
        // The question stays open, and the run ends as paused: the story did not run as written, which is told.
        run.tell(`The script could not answer: ${messageOf(error)}`);
      });
    });
  }

  return human;
}
