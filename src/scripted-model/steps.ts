// The words of the script language. Steps are pure and their whole state is the position,
// so a story can be replayed.
import { createHash } from 'node:crypto';
import type {
  Breakage,
  ModelFailure,
  ModelReply,
  ModelRequest,
  ToolResult,
  Usage,
} from './model.ts';
import { callReply, textReply } from './model.ts';
import type {
  Intention,
  KnownTodo,
  KnownTodos,
  NewTodo,
  TodoFamily,
  TodoStatus,
} from './todo-families.ts';
import {
  expressIntention,
  findOffer,
  findTodo,
  firstNamed,
  isOpen,
  learnFromCall,
  nextOpen,
  normalised,
} from './todo-families.ts';
import { isRecord, joinTexts, recordOf } from './values.ts';

/** What the model sees when it is its turn. */
export type Situation = Readonly<{
  request: ModelRequest;
  family: TodoFamily | undefined;
  todos: KnownTodos;
  /** What people and systems said since the model last spoke. */
  heard: string;
  results: readonly ToolResult[];
  /** It had stopped without a call, and someone spoke to it again. */
  isContinued: boolean;
}>;

/**
 * Empty at the beginning. Numbers and short lower-case words: it travels inside tool call
 * ids.
 */
export type Position = readonly (number | string)[];

type Move = Readonly<{ reply: ModelReply; position: Position | 'over' }>;

/** A part of a script: one answer, or several. */
export interface Step {
  /** A request without tools is then no request for this script. */
  readonly needsTools: boolean;
  /** Replies, or passes (undefined) to the step after it. */
  next(position: Position, now: Situation): Move | undefined;
}

const madeOf = (steps: readonly Step[], next: Step['next']): Step => ({
  needsTools: steps.some(({ needsTools }) => needsTools),
  next,
});

const lastMove = (reply: ModelReply | undefined): Move | undefined =>
  reply && { reply, position: 'over' };
const withTools = (next: Step['next']): Step => ({ needsTools: true, next });
const onlyMove = (build: (now: Situation) => ModelReply | undefined) =>
  withTools((_position, now) => lastMove(build(now)));
const numberAt = ([value]: Position) => (typeof value === 'number' ? value : 0);

/** Plays `count` steps, in rounds. A whole round that passes would pass for ever. */
function inRounds(steps: readonly Step[], count: number): Step {
  return madeOf(steps, (position, now) => {
    let inner: Position = position.slice(1);
    for (let index = numberAt(position); index < count; index += 1) {
      const move = steps[index % steps.length]?.next(inner, now);
      if (move && move.position !== 'over')
        return { ...move, position: [index, ...move.position] };
      if (move) return { ...move, position: index + 1 < count ? [index + 1] : 'over' };
      if (count > steps.length && inner.length === 0) return undefined;
      inner = [];
    }
    return undefined;
  });
}

/** One after the other. */
export const inOrder = (...steps: Step[]) => inRounds(steps, steps.length);
/** The steps, so many times over. */
export const repeat = (times: number, ...steps: Step[]) =>
  inRounds([inOrder(...steps)], times);
/** The steps, over and over. */
export const always = (...steps: Step[]) => repeat(Number.POSITIVE_INFINITY, ...steps);

/** The first that has something to say now; only that one is played to its end. */
export function firstOf(...steps: Step[]): Step {
  return madeOf(steps, (position, now) => {
    for (const index of position.length > 0 ? [numberAt(position)] : steps.keys()) {
      const move = steps[index]?.next(position.slice(1), now);
      if (move)
        return move.position === 'over'
          ? move
          : { ...move, position: [index, ...move.position] };
    }
    return undefined;
  });
}

/** Only if the condition holds; once begun, it is played to its end. */
export function when(condition: (now: Situation) => boolean, ...steps: Step[]): Step {
  const { next } = inOrder(...steps);
  return madeOf(steps, (position, now) =>
    position.length > 0 || condition(now) ? next(position, now) : undefined,
  );
}

/** Only if the model had stopped and was spoken to again. */
export const whenContinued = (...steps: Step[]) =>
  when(({ isContinued }) => isContinued, ...steps);
/** Only if a tool that it just called answered with an error. */
export const whenToolFailed = (...steps: Step[]) =>
  when(({ results }) => results.some(({ isError }) => isError), ...steps);
/** Only if what was said since the model last spoke has this text or pattern. */
export const whenTold = (wanted: string | RegExp, ...steps: Step[]) =>
  when(
    ({ heard }) =>
      typeof wanted === 'string' ? heard.includes(wanted) : wanted.test(heard),
    ...steps,
  );

/** Only if what was said since the model last spoke names this todo, by title or id. */
export function whenNamed(title: string, ...steps: Step[]): Step {
  const wanted = normalised(title);
  const isNamed = ({ todos, heard }: Situation) =>
    normalised(heard).includes(wanted) ||
    normalised(firstNamed(todos, heard)?.title ?? '') === wanted;
  return when(isNamed, ...steps);
}

/** The step that this pure function chooses; one reply. */
export const react = (choose: (now: Situation) => Step | undefined) =>
  withTools((position, now) => choose(now)?.next(position, now));

const speech = (reply: ModelReply) => madeOf([], () => lastMove(reply));
/** Says this, and stops. */
export const say = (text: string) => speech(textReply(text));
/** Asks in plain text, which no tool carries. */
export const ask = (question: string) => say(question);
/** Refuses. */
export const refuse = (text = 'I cannot help with that.') =>
  speech(textReply(text, 'refusal'));
/** Is ended by the filter of its provider. */
export const filtered = (text = '') => speech(textReply(text, 'content-filter'));
/** Is cut off at the output limit. */
export const cutOff = (text = 'I was just about to') => speech(textReply(text, 'length'));
/** Stops without a word. */
export const empty = () => speech({ finish: 'stop' });
/** Thinks, and stops without a word. */
export const thinkOnly = (thinking = 'Let me think about what is left.') =>
  speech({ thinking, finish: 'stop' });

function changing(step: Step, change: (reply: ModelReply) => Partial<ModelReply>): Step {
  return madeOf([step], (position, now) => {
    const move = step.next(position, now);
    return move && { ...move, reply: { ...move.reply, ...change(move.reply) } };
  });
}

/** With this text before whatever else the reply holds. */
export const withText = (text: string, step: Step) => changing(step, () => ({ text }));
/** With these thoughts before whatever else the reply holds. */
export const withThinking = (thinking: string, step: Step) =>
  changing(step, () => ({ thinking }));
/** With exactly these tokens. */
export const withUsage = (usage: Usage, step: Step) => changing(step, () => ({ usage }));
/** With a pause before each event of the stream. */
export const slowly = (perEventMs: number, step: Step) =>
  changing(step, ({ delays }) => ({ delays: { ...delays, perEventMs } }));
/** Begins only after this time. */
export const after = (beforeMs: number, step: Step) =>
  changing(step, ({ delays }) => ({ delays: { ...delays, beforeMs } }));

/**
 * Clients show no trace of a failure: it happens so often per conversation and server,
 * then the script goes on.
 */
type FailureOptions = Pick<ModelFailure, 'retryAfterSeconds' | 'message'> & {
  readonly times?: number;
};

function failing(failure: ModelFailure, { times = 1, ...more }: FailureOptions): Step {
  return repeat(times, speech({ finish: 'stop', error: { ...failure, ...more } }));
}

const kindByStatus: Readonly<Record<number, ModelFailure['kind']>> = {
  401: 'authentication',
  403: 'permission',
  404: 'unknown-model',
  429: 'rate-limit',
  503: 'overload',
  529: 'overload',
};

/** Fails with this HTTP status, in the words of the provider. */
export function fail(status: number, options: FailureOptions = {}): Step {
  const kind =
    kindByStatus[status] ?? (status >= 500 ? 'server-error' : 'invalid-request');
  return failing({ kind, status }, options);
}

/** Is rate-limited: status 429, with the time to wait. */
export const rateLimit = (retryAfterSeconds: number, options: FailureOptions = {}) =>
  fail(429, { ...options, retryAfterSeconds });
/** Is overloaded, with each provider's own status (529 or 503). */
export const overload = (options: FailureOptions = {}) =>
  failing({ kind: 'overload' }, options);
/** Says that the conversation is too long. */
export const contextOverflow = (options: FailureOptions = {}) =>
  failing({ kind: 'context-length' }, options);

/** The stream breaks after so many events, in the middle of this text. */
type BreakageOptions = Readonly<{ afterEvents?: number; text?: string }>;

function breaking(kind: Breakage, usualEvents = 3) {
  const usualText = 'I am in the middle of a longer answer';
  return ({ afterEvents = usualEvents, text = usualText }: BreakageOptions = {}) =>
    speech({ text, finish: 'stop', breakage: { kind, afterEvents } });
}

/** The connection breaks in the middle of the stream. */
export const reset = breaking('reset');
/** The connection stays open; with `afterEvents` 0 nothing comes at all. */
export const stall = breaking('stall', 0);
/** The stream has an event that cannot be read. */
export const malformed = breaking('malformed');
/** The stream ends with an error of its provider. */
export const overloadMidStream = breaking('error-event');

/** The todo in progress, else the first pending one. */
export const theNext = { pick: 'next' } as const;
/** The open todo named first since the model last spoke, else the next one. */
export const theNamed = { pick: 'named' } as const;
type TodoReference = string | typeof theNext | typeof theNamed;

function express(
  { family, todos, request }: Situation,
  intention: Intention,
): ModelReply | undefined {
  if (!family) return textReply('I have no todo tool.');
  const calls = expressIntention(family, intention, todos, request.tools);
  return calls.length > 0 ? callReply(calls) : undefined;
}

/** Looks the list up first when the model cannot know what it needs. */
function lookingUp(
  needsList: (now: Situation) => boolean,
  then: (now: Situation, position: Position) => Move | undefined,
): Step {
  return withTools((position, now) => {
    const mayLook = position[0] !== 'looked' && now.family?.byId && needsList(now);
    const reply = mayLook ? express(now, { kind: 'list' }) : undefined;
    return reply ? { reply, position: ['looked'] } : then(now, position);
  });
}

const hasNoList = ({ todos }: Situation) => todos.length === 0;

function setting(
  reference: TodoReference,
  statusOf: (todo: KnownTodo) => TodoStatus,
  note?: string,
): Step {
  const isTitle = typeof reference === 'string';
  function find({ todos, heard }: Situation) {
    if (isTitle) return findTodo(todos, reference);
    return (
      (reference.pick === 'named' ? firstNamed(todos, heard) : undefined) ??
      nextOpen(todos)
    );
  }
  function needsList(now: Situation) {
    const known = find(now);
    return known ? known.id === undefined : isTitle || hasNoList(now);
  }
  return lookingUp(needsList, (now) => {
    const todo =
      find(now) ??
      (isTitle ? { title: reference, status: 'pending' as const } : undefined);
    if (!todo) return undefined;
    const outcome = note ?? `Finished: ${todo.title}`;
    return lastMove(
      express(now, { kind: 'set', todo, status: statusOf(todo), note: outcome }),
    );
  });
}

/** Writes these todos down. */
export function plan(...items: (string | NewTodo)[]): Step {
  const todos = items.map((item) => (typeof item === 'string' ? { title: item } : item));
  return onlyMove((now) => express(now, { kind: 'create', items: todos }));
}

/** Begins a todo. */
export const start = (todo: TodoReference = theNext) =>
  setting(todo, () => 'in_progress', '');
/** Completes a todo. */
export const complete = (todo: TodoReference = theNext, outcome?: string) =>
  setting(todo, () => 'completed', outcome);
/** Cancels a todo, with the reason. */
export const cancel = (todo: TodoReference, reason: string) =>
  setting(todo, () => 'cancelled', reason);
/** Says that a todo is blocked, with the reason. */
export const blockTodo = (todo: TodoReference, reason: string) =>
  setting(todo, () => 'blocked', reason);
/** Moves a todo between pending and in progress; a settled one is reopened. */
export const toggle = (todo: TodoReference = theNext) =>
  setting(
    todo,
    ({ status }) => (status === 'in_progress' ? 'pending' : 'in_progress'),
    'toggled',
  );

/**
 * Writes a whole list, made from the known one. Single-call families say the differences.
 */
export const rewriteList = (change: (todos: KnownTodos) => KnownTodos) =>
  lookingUp(hasNoList, (now) =>
    lastMove(express(now, { kind: 'write', todos: change(now.todos) })),
  );

/** Writes the list without this todo. */
export const drop = (title: string) =>
  rewriteList((todos) => todos.filter((todo) => todo !== findTodo(todos, title)));
/** Writes the list with another title for this todo. */
export const reword = (title: string, newTitle: string) =>
  rewriteList((todos) =>
    todos.map((todo) =>
      todo === findTodo(todos, title) ? { ...todo, title: newTitle } : todo,
    ),
  );
/** Writes the list as it is. */
export const duplicateWrite = () => rewriteList((todos) => todos);

/** Claims these todos in one reply; default: all open ones. */
export function bulkClaim(...titles: string[]): Step {
  const hasNoId = ({ todos }: Situation) => !todos.some(({ id }) => id !== undefined);
  return lookingUp(hasNoId, (now) => {
    const { todos, family } = now;
    const named = titles
      .map((title) => findTodo(todos, title))
      .filter((todo) => todo !== undefined);
    const claimed = titles.length > 0 ? named : todos.filter(isOpen);
    if (family?.byId)
      return parallel(...claimed.map(({ id, title }) => complete(id ?? title))).next(
        ['looked'],
        now,
      );
    const status = 'completed' as const;
    const list = todos.map((todo) =>
      claimed.includes(todo) ? { ...todo, status } : todo,
    );
    return lastMove(express(now, { kind: 'write', todos: list }));
  });
}

/** Looks the list up. */
export const listTodos = () => onlyMove((now) => express(now, { kind: 'list' }));
/**
 * Asks the human by `todo_pause`; without such a tool the reason is said in plain text.
 */
export const pause = (reason: string) =>
  onlyMove((now) => express(now, { kind: 'pause', reason }) ?? textReply(reason));
/** Asks for the checks of a todo, or of all. */
export const verify = (title?: string) =>
  onlyMove((now) => {
    const todo = title === undefined ? undefined : findTodo(now.todos, title);
    return express(now, { kind: 'verify', todo });
  });

/**
 * The honest worker: these steps for each open todo, those added or reopened on the way
 * too, until none is left.
 */
export function untilAllDone(perTodo: (title: string) => readonly Step[]): Step {
  // Short, since it travels in the position.
  const tokenOf = ({ title }: KnownTodo) =>
    `t${createHash('sha1').update(title).digest('hex').slice(0, 8)}`;
  function workOn(
    todo: KnownTodo | undefined,
    inner: Position,
    now: Situation,
  ): Move | undefined {
    const move = todo && inOrder(...perTodo(todo.title)).next(inner, now);
    if (!move) return undefined;
    return {
      ...move,
      position: move.position === 'over' ? ['next'] : [tokenOf(todo), ...move.position],
    };
  }
  return lookingUp(hasNoList, (now, position) => {
    const current = now.todos.find((todo) => tokenOf(todo) === position[0]);
    const begun = workOn(current, position.slice(1), now);
    return begun ?? workOn(nextOpen(now.todos), [], now);
  });
}

/** Calls any tool. Models call tools that are not offered too, and hosts must cope. */
export const callTool = (name: string, input: unknown = {}) =>
  callFirst([name], () => input);

/**
 * The first that is offered, else the first; `build` names arguments as its schema does.
 */
function callFirst(
  names: readonly string[],
  build: (
    named: (pattern: RegExp, usual: string) => string,
    properties: object,
    tool: string,
  ) => unknown,
): Step {
  return onlyMove(({ request }) => {
    const tool = names.find((name) => findOffer(request.tools, name)) ?? names[0] ?? '';
    const offer = findOffer(request.tools, tool);
    const properties = recordOf(offer?.schema, 'properties');
    const named = (pattern: RegExp, usual: string) =>
      Object.keys(properties).find((name) => pattern.test(name)) ?? usual;
    const input = inFolder(request, properties, build(named, properties, tool));
    return callReply([{ name: offer?.name ?? tool, input }]);
  });
}

/**
 * Where a tool takes only absolute paths, they stand in the folder that the host told the
 * model.
 */
function inFolder(
  { messages }: ModelRequest,
  properties: object,
  input: unknown,
): unknown {
  if (!isRecord(input)) return input;
  const told = messages
    .map(({ text }) => /working in the directory: (\/\S*)/.exec(text)?.[1])
    .find(Boolean);
  const placed = Object.entries(input).map(([name, value]) => {
    const { description } = recordOf(properties, name);
    const isRelative = typeof value === 'string' && !value.startsWith('/');
    const isPlaced =
      told && isRelative && /^the absolute path/i.test(String(description));
    return [name, isPlaced ? `${told}/${value}` : value];
  });
  return Object.fromEntries(placed);
}

const shells = [
  'run_command',
  'shell',
  'Bash',
  'bash',
  'run_shell_command',
  'exec_command',
  'local_shell',
];
const fileTools = ['write_file', 'Write', 'write', 'create_file', 'create'];

/** Writes a file with the tool that is offered for it; without one, by a command. */
export function writeFile(path: string, content: string): Step {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return callFirst([...fileTools, ...shells], (named, properties, tool) => {
    if (!fileTools.includes(tool))
      return commandInput(`printf %s ${quote(content)} > ${quote(path)}`)(
        named,
        properties,
      );
    return {
      [named(/path|file/i, 'path')]: path,
      [named(/content|text/i, 'content')]: content,
    };
  });
}

/** Runs a command with the tool that is offered for it. */
export function runCommand(
  command: string,
  more: Readonly<Record<string, unknown>> = {},
): Step {
  return callFirst(shells, commandInput(command, more));
}

function commandInput(command: string, more: Readonly<Record<string, unknown>> = {}) {
  return (named: (pattern: RegExp, usual: string) => string, properties: object) => {
    const name = named(/command|cmd/i, 'command');
    const wantsWords = recordOf(properties, name)['type'] === 'array';
    const description = isRecord(recordOf(properties)['description'])
      ? 'Run a command'
      : undefined;
    return {
      [name]: wantsWords ? ['bash', '-lc', command] : command,
      description,
      ...more,
    };
  };
}

/** Several steps in one reply; each sees what those before it are about to change. */
export function parallel(...steps: Step[]): Step {
  return madeOf(steps, (position, now) => {
    const replies: ModelReply[] = [];
    let { todos } = now;
    for (const step of steps) {
      const move = step.next(position, { ...now, todos });
      if (!move) continue;
      // It looks something up for all, and answers at its second position.
      if (move.position !== 'over') return move;
      replies.push(move.reply);
      // What only the system knows, such as ids, is not foreseen.
      if (now.family?.byId !== false) continue;
      const result = { id: '', text: '', isError: false };
      for (const call of move.reply.calls ?? [])
        todos = learnFromCall(todos, call, result);
    }
    const calls = replies.flatMap((reply) => reply.calls ?? []);
    const text = joinTexts(replies.map((reply) => reply.text ?? ''));
    if (calls.length === 0) return text === '' ? undefined : lastMove(textReply(text));
    return lastMove(text === '' ? callReply(calls) : { ...callReply(calls), text });
  });
}
