// Twelve todos over three workers, one of which cannot do one of its todos (issue Agent,
// must hold 1). The agent that delegates reads its history: what was interrupted it hands
// over again, what failed twice it leaves blocked.
import {
  callTool,
  complete,
  firstOf,
  listTodos,
  plan,
  react,
  refuse,
  repeat,
  type Script,
  type Situation,
  type Step,
  say,
  script,
  untilAllDone,
  when,
  whenToolFailed,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { logName } from './story.ts';

export const workerNames = ['explorer', 'coder', 'tester'];

/** No tester ever reports on it. */
export const hopeless = 'Try part 08';

const verbs: Readonly<Record<string, string>> = {
  explorer: 'Look into',
  coder: 'Write',
  tester: 'Try',
};

export const workerTodos = Array.from({ length: 12 }, (_, index) => {
  const agentType = workerNames[index % workerNames.length] ?? 'coder';
  const number = String(index + 1).padStart(2, '0');
  return index === 7
    ? { title: hopeless, agentType: 'tester' }
    : { title: `${verbs[agentType]} part ${number}`, agentType };
});

function briefOf({ request }: Situation): string {
  return request.messages.find(({ role }) => role === 'user')?.text ?? '';
}

const numberIn = (situation: Situation): string =>
  /part (\d\d)/.exec(briefOf(situation))?.[1] ?? '00';

/**
 * The scripts of the agent that delegates and of its workers, whose models have their
 * names.
 */
export function workerScripts(): Script[] {
  let calls = 0;
  const append: Step = react((situation) =>
    callTool('shell', {
      command: `echo ${numberIn(situation)}-${calls++} >> ${logName}; sleep 0.03`,
    }),
  );
  const write: Step = react((situation) =>
    writeFile(`parts/${numberIn(situation)}.md`, `part ${numberIn(situation)}\n`),
  );
  const planAll = plan(...workerTodos);
  const delegate = (title: string): Step =>
    react(({ todos }) => {
      const known = todos.find((todo) => todo.title === title);
      return callTool('delegate', { todoId: known?.id ?? title });
    });
  // Words that a history shows: what leaves no trace there would happen once in all, not
  // once for each worker.
  const cannot = when(
    (situation) => briefOf(situation).includes(hopeless),
    refuse('I cannot do that.'),
  );
  const twice = (step: Step): Step => repeat(2, whenToolFailed(step));
  return [
    script('supervisor', [
      planAll,
      repeat(
        Number.POSITIVE_INFINITY,
        whenToolFailed(listTodos()),
        when(({ todos }) => todos.length === 0, planAll),
      ),
      untilAllDone((title) => [
        delegate(title),
        firstOf(whenToolFailed(listTodos()), complete(title, 'its worker reported')),
        // Whether an interrupted completion took effect only the list can tell.
        whenToolFailed(listTodos()),
        say('One more is settled.'),
      ]),
      say('All that can be done is done.'),
    ]),
    script('explorer', [
      callTool('list_directory', { path: '.' }),
      say('There is not much.'),
    ]),
    script('coder', [write, twice(write), append, twice(append), say('It is written.')]),
    script('tester', [cannot, append, twice(append), say('It works.')]),
  ];
}
