// The work that is done while the agent is killed: one file and one line of an
// append-only log for each todo, and a stop after each. The model behaves as one that
// reads its history: what was interrupted, or what the history does not show because the
// agent died before the call began, it does again.
import {
  complete,
  listTodos,
  parallel,
  plan,
  react,
  repeat,
  runCommand,
  type Script,
  type Situation,
  type Step,
  say,
  script,
  untilAllDone,
  when,
  whenTold,
  whenToolFailed,
  writeFile,
} from '../../src/scripted-model/index.ts';

export const goal = 'Write all of the notes, one by one.';

/** Beside the workspace's notes; each line names the very call that wrote it. */
export const logName = 'calls.log';

const titles = (todos: number) =>
  Array.from(
    { length: todos },
    (_, index) => `Write note ${String(index + 1).padStart(2, '0')}`,
  );

const numberOf = (title: string): string => title.slice(-2);

export function killedStory(todos: number): Script {
  let calls = 0;
  // No two calls write the same line, so that the log tells which of them were made, and
  // how often. The line is there a while before the call ends: a kill in between is the
  // case that matters most.
  const append = (number: string): Step =>
    react(() => runCommand(`echo ${number}-${calls++} >> ${logName}; sleep 0.04`));
  const write = (number: string): Step =>
    writeFile(`notes/${number}.md`, `note ${number}\n`.repeat(20));
  const planAll = plan(...titles(todos));
  const planMissing = react(({ todos: known }) =>
    plan(...titles(todos).filter((title) => !known.some((todo) => todo.title === title))),
  );
  // A host that was killed puts words of its own behind the calls whose results it lost.
  const lookAgain = whenTold('You were interrupted', listTodos());
  return script('kills', [
    planAll,
    repeat(
      Number.POSITIVE_INFINITY,
      whenToolFailed(listTodos()),
      lookAgain,
      when(({ todos: known }) => known.length < todos, planMissing),
    ),
    untilAllDone((title) => [
      parallel(write(numberOf(title)), append(numberOf(title))),
      repeat(
        Number.POSITIVE_INFINITY,
        when(
          (situation) => !hasDone(situation, `notes/${numberOf(title)}.md`),
          write(numberOf(title)),
        ),
        when(
          (situation) => !hasDone(situation, `echo ${numberOf(title)}-`),
          append(numberOf(title)),
        ),
      ),
      complete(title, `notes/${numberOf(title)}.md is written`),
      // Whether an interrupted completion took effect only the list can tell; an open
      // todo is then worked on again.
      whenToolFailed(listTodos()),
      lookAgain,
      say('This one is done.'),
    ]),
    say('All notes are written.'),
  ]);
}

/** A call with this in its input succeeded, as far as the model can see. */
function hasDone({ request }: Situation, inInput: string): boolean {
  const succeeded = new Set(
    request.messages.flatMap(({ toolResults }) =>
      toolResults.filter(({ isError }) => !isError).map(({ id }) => id),
    ),
  );
  return request.messages
    .flatMap(({ toolCalls }) => toolCalls)
    .some(
      ({ id, input }) => succeeded.has(id) && JSON.stringify(input).includes(inInput),
    );
}
