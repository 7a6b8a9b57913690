// The words of the script language: how steps are put together, what the model says, how it fails, what it does to its
// todos, honestly or not, in whichever todo tools the request offers, and which other tools it calls. Steps are pure and
// their whole state is the position, so that a conversation can be replayed from its messages.
import { createHash } from 'node:crypto';
import {
  callReply,
  type FailureKind,
  type ModelFailure,
  type ModelReply,
  type ModelRequest,
  type PlannedCall,
  type ToolResult,
  textReply,
  type Usage,
} from './model.ts';
import {
  expressIntention,
  findOffer,
  findTodo,
  firstNamed,
  type Intention,
  isOpen,
  type KnownTodo,
  type KnownTodos,
  learnFromCall,
  type NewTodo,
  nextOpen,
  normalised,
  type TodoFamily,
  type TodoStatus,
} from './todo-families.ts';
import { isRecord, recordOf } from './values.ts';

/** What the model sees at one moment of a conversation. */
export interface Situation {
  readonly request: ModelRequest;
  readonly family: TodoFamily | undefined;
  readonly todos: KnownTodos;
  /** All that people and systems said since the model last spoke. */
  readonly heard: string;
  /** What its tools answered since then. */
  readonly results: readonly ToolResult[];
  /** The model had stopped without a call, and someone spoke to it again. */
  readonly isContinued: boolean;
}

/** Empty at the beginning. Numbers and short lower-case words only: it travels inside tool call ids. */
export type Position = readonly (number | string)[];

interface Move {
  readonly reply: ModelReply;
  readonly position: Position | 'over';
}

export interface Step {
  /** Whether the step may call tools: a request without tools is then no request for this script. */
  readonly needsTools: boolean;
  /** Given where it stands and what the model sees, a step replies, or passes (undefined) to the step after it. */
  next(position: Position, situation: Situation): Move | undefined;
}

function lastMove(reply: ModelReply | undefined): Move | undefined {
  return reply && { reply, position: 'over' };
}

function onlyMove(build: (situation: Situation) => ModelReply | undefined): Step {
  return { needsTools: true, next: (_position, situation) => lastMove(build(situation)) };
}

/** `steps` for those of which it is made. */
function madeOf(steps: readonly Step[], next: Step['next']): Step {
  return { needsTools: steps.some(({ needsTools }) => needsTools), next };
}

function numberAt([value]: Position): number {
  return typeof value === 'number' ? value : 0;
}

/** `isRound`: all of them are the same one, and a whole round that passes would pass for ever. */
function sequence(count: number, isRound: boolean, stepAt: (index: number) => Step | undefined) {
  return (position: Position, situation: Situation): Move | undefined => {
    let inner: Position = position.slice(1);
    for (let index = numberAt(position); index < count; index += 1) {
      const move = stepAt(index)?.next(inner, situation);
      if (move && move.position !== 'over') return { ...move, position: [index, ...move.position] };
      if (move) return { ...move, position: index + 1 < count ? [index + 1] : 'over' };
      if (isRound && inner.length === 0) return undefined;
      inner = [];
    }
    return undefined;
  };
}

/** One after the other; a step that passes is skipped. */
export function inOrder(...steps: readonly Step[]): Step {
  return madeOf(
    steps,
    sequence(steps.length, false, (index) => steps[index]),
  );
}

export function repeat(times: number, ...steps: readonly Step[]): Step {
  const body = inOrder(...steps);
  return madeOf(
    steps,
    sequence(times, true, () => body),
  );
}

export function always(...steps: readonly Step[]): Step {
  return repeat(Number.POSITIVE_INFINITY, ...steps);
}

/** The first step that has something to say now; only that one is played to its end. */
export function firstOf(...steps: readonly Step[]): Step {
  return madeOf(steps, (position, situation) => {
    for (const index of position.length > 0 ? [numberAt(position)] : steps.keys()) {
      const move = steps[index]?.next(position.slice(1), situation);
      if (move) return move.position === 'over' ? move : { ...move, position: [index, ...move.position] };
    }
    return undefined;
  });
}

/** Played only if the condition holds when its turn comes; once begun, it is played to its end. */
export function when(condition: (situation: Situation) => boolean, ...steps: readonly Step[]): Step {
  const { next } = inOrder(...steps);
  return madeOf(steps, (position, now) =>
    position.length > 0 || condition(now) ? next(position, now) : undefined,
  );
}

/** The model had stopped and was spoken to again. */
export const whenContinued = (...steps: readonly Step[]): Step =>
  when(({ isContinued }) => isContinued, ...steps);
/** One of the tools that the model just called answered with an error. */
export const whenToolFailed = (...steps: readonly Step[]): Step =>
  when(({ results }) => results.some(({ isError }) => isError), ...steps);
/** A text or a pattern occurs in what was said to the model since it last spoke. */
export const whenTold = (wanted: string | RegExp, ...steps: readonly Step[]): Step =>
  when(({ heard }) => (typeof wanted === 'string' ? heard.includes(wanted) : wanted.test(heard)), ...steps);

/** What was said to the model since it last spoke names this todo, by its title or its id. */
export function whenNamed(title: string, ...steps: readonly Step[]): Step {
  const wanted = normalised(title);
  const isNamed = ({ todos, heard }: Situation): boolean =>
    normalised(heard).includes(wanted) || normalised(firstNamed(todos, heard)?.title ?? '') === wanted;
  return when(isNamed, ...steps);
}

/** The step for this very situation, chosen by a pure function; a step of one reply. */
export function react(choose: (situation: Situation) => Step | undefined): Step {
  return { needsTools: true, next: (position, now) => choose(now)?.next(position, now) };
}

const speech = (reply: ModelReply): Step => madeOf([], () => lastMove(reply));

export const say = (text: string): Step => speech(textReply(text));
/** The same as `say`: a question in plain text, which no tool carries. */
export const ask = (question: string): Step => say(question);
export const refuse = (text = 'I cannot help with that.'): Step => speech(textReply(text, 'refusal'));
/** The provider's filter ends the answer. */
export const filtered = (text = ''): Step => speech(textReply(text, 'content-filter'));
/** The answer reaches the output limit. */
export const cutOff = (text = 'I was just about to'): Step => speech(textReply(text, 'length'));
export const empty = (): Step => speech({ finish: 'stop' });
export const thinkOnly = (thinking = 'Let me think about what is left.'): Step =>
  speech({ thinking, finish: 'stop' });

/** The same step with every reply changed. */
function changing(step: Step, change: (reply: ModelReply) => Partial<ModelReply>): Step {
  return madeOf([step], (position, situation) => {
    const move = step.next(position, situation);
    return move && { ...move, reply: { ...move.reply, ...change(move.reply) } };
  });
}

/** The step's reply opens with this text. */
export const withText = (text: string, step: Step): Step => changing(step, () => ({ text }));
export const withThinking = (thinking: string, step: Step): Step => changing(step, () => ({ thinking }));
/** Exact token counts instead of the estimate. */
export const withUsage = (usage: Usage, step: Step): Step => changing(step, () => ({ usage }));
/** The stream pauses so long before each event. */
export const slowly = (perEventMs: number, step: Step): Step =>
  changing(step, ({ delays }) => ({ delays: { ...delays, perEventMs } }));
/** The answer begins so much later. */
export const after = (beforeMs: number, step: Step): Step =>
  changing(step, ({ delays }) => ({ delays: { ...delays, beforeMs } }));

/** Clients show no trace of a failure: it happens so often per conversation and server, then the script goes on. */
type FailureOptions = Pick<ModelFailure, 'retryAfterSeconds' | 'message'> & { readonly times?: number };

function failing(failure: ModelFailure, { times = 1, ...more }: FailureOptions): Step {
  return repeat(times, speech({ finish: 'stop', error: { ...failure, ...more } }));
}

const kindByStatus: Readonly<Record<number, FailureKind>> = {
  ...{ 401: 'authentication', 403: 'permission', 404: 'unknown-model', 429: 'rate-limit' },
  ...{ 503: 'overload', 529: 'overload' },
};

/** An HTTP error in the protocol's own shape. */
export function fail(status: number, options: FailureOptions = {}): Step {
  const kind = kindByStatus[status] ?? (status >= 500 ? 'server-error' : 'invalid-request');
  return failing({ kind, status }, options);
}

export const rateLimit = (retryAfterSeconds: number, options: FailureOptions = {}): Step =>
  fail(429, { ...options, retryAfterSeconds });
/** Overload with the status that each provider uses for it (529 or 503). */
export const overload = (options: FailureOptions = {}): Step => failing({ kind: 'overload' }, options);
/** The conversation no longer fits into the model's window. */
export const contextOverflow = (options: FailureOptions = {}): Step =>
  failing({ kind: 'context-length' }, options);

/** So many events of the stream arrive before it breaks, in the middle of this text. */
interface BreakageOptions {
  readonly afterEvents?: number;
  readonly text?: string;
}

function breaking(kind: NonNullable<ModelReply['breakage']>['kind'], usualEvents = 3) {
  return ({
    afterEvents = usualEvents,
    text = 'I am in the middle of a longer answer',
  }: BreakageOptions = {}) => speech({ text, finish: 'stop', breakage: { kind, afterEvents } });
}

/** The connection is cut in mid-stream. */
export const reset = breaking('reset');
/** Nothing comes any more, and the connection stays open; with `afterEvents` 0 nothing comes at all. */
export const stall = breaking('stall', 0);
/** The stream turns into something that is no JSON. */
export const malformed = breaking('malformed');
/** A stream that began well reports overload in an event of its own. */
export const overloadMidStream = breaking('error-event');

/** The todo in progress, else the first pending one. */
export const theNext = { pick: 'next' } as const;
/** The open todo that was named first since the model last spoke, else the next one. */
export const theNamed = { pick: 'named' } as const;
type TodoReference = string | typeof theNext | typeof theNamed;

function express({ family, todos, request }: Situation, intention: Intention): ModelReply | undefined {
  if (!family) return textReply('I have no todo tool.');
  const calls = expressIntention(family, intention, todos, request.tools);
  return calls && calls.length > 0 ? callReply(calls) : undefined;
}

/** Looks the list up when the model cannot know what it needs; a step that has just done so goes on without. */
function lookingUp(needsList: (situation: Situation) => boolean, next: Step['next']): Step {
  const looked = 'looked';
  return {
    needsTools: true,
    next(position, situation) {
      const mayLook = position[0] !== looked && situation.family?.byId === true && needsList(situation);
      const reply = mayLook ? express(situation, { kind: 'list' }) : undefined;
      return reply ? { reply, position: [looked] } : next(position, situation);
    },
  };
}

function setting(
  reference: TodoReference,
  status: TodoStatus | ((todo: KnownTodo) => TodoStatus),
  note?: string,
): Step {
  const isTitle = typeof reference === 'string';
  function find({ todos, heard }: Situation): KnownTodo | undefined {
    if (isTitle) return findTodo(todos, reference);
    return (reference.pick === 'named' ? firstNamed(todos, heard) : undefined) ?? nextOpen(todos);
  }
  return lookingUp(
    (situation) => {
      const known = find(situation);
      return known ? known.id === undefined : isTitle || situation.todos.length === 0;
    },
    (_position, situation) => {
      const named = isTitle ? ({ title: reference, status: 'pending' } as const) : undefined;
      const todo = find(situation) ?? named;
      const intend = (by: KnownTodo) => ({
        status: typeof status === 'string' ? status : status(by),
        note: note ?? finished(by),
      });
      return todo && lastMove(express(situation, { kind: 'set', todo, ...intend(todo) }));
    },
  );
}

const finished = ({ title }: KnownTodo): string => `Finished: ${title}`;

export function plan(...items: readonly (string | NewTodo)[]): Step {
  const todos = items.map((item) => (typeof item === 'string' ? { title: item } : item));
  return onlyMove((situation) => express(situation, { kind: 'create', items: todos }));
}

export const start = (todo: TodoReference = theNext): Step => setting(todo, 'in_progress', '');
export const complete = (todo: TodoReference = theNext, outcome?: string): Step =>
  setting(todo, 'completed', outcome);
export const cancel = (todo: TodoReference, reason: string): Step => setting(todo, 'cancelled', reason);
export const blockTodo = (todo: TodoReference, reason: string): Step => setting(todo, 'blocked', reason);
/** Between pending and in progress, for ever back and forth; a settled todo is reopened. */
export const toggle = (todo: TodoReference = theNext): Step =>
  setting(todo, ({ status }) => (status === 'in_progress' ? 'pending' : 'in_progress'), 'toggled');

/** Any whole list, made from the known one. Single-call families say the differences. */
export function rewriteList(change: (todos: KnownTodos) => KnownTodos): Step {
  return lookingUp(
    ({ todos }) => todos.length === 0,
    (_position, situation) => lastMove(express(situation, { kind: 'write', todos: change(situation.todos) })),
  );
}

/** Writes the list without this todo. */
export const drop = (title: string): Step =>
  rewriteList((todos) => todos.filter((todo) => todo !== findTodo(todos, title)));
/** Writes the list with this todo in other words. */
export const reword = (title: string, newTitle: string): Step =>
  rewriteList((todos) =>
    todos.map((todo) => (todo === findTodo(todos, title) ? { ...todo, title: newTitle } : todo)),
  );
/** Writes the list exactly as it is. */
export const duplicateWrite = (): Step => rewriteList((todos) => todos);

/** Claims several todos (default: all open ones) in one reply. */
export function bulkClaim(...titles: readonly string[]): Step {
  return lookingUp(
    ({ todos }) => !todos.some(({ id }) => id !== undefined),
    (_position, situation) => {
      const { todos, family } = situation;
      const named = titles.map((title) => findTodo(todos, title)).filter((todo) => todo !== undefined);
      const claimed = titles.length > 0 ? named : todos.filter(isOpen);
      const status = 'completed' as const;
      if (!family?.byId) {
        const list = todos.map((todo) => (claimed.includes(todo) ? { ...todo, status } : todo));
        return lastMove(express(situation, { kind: 'write', todos: list }));
      }
      const claim = (todo: KnownTodo) =>
        express(situation, { kind: 'set', todo, status, note: finished(todo) });
      const calls = claimed.flatMap((todo) => claim(todo)?.calls ?? []);
      return calls.length > 0 ? lastMove(callReply(calls)) : undefined;
    },
  );
}

export const listTodos = (): Step => onlyMove((situation) => express(situation, { kind: 'list' }));
/** The model's escape hatch; without such a tool the reason is said in plain text. */
export const pause = (reason: string): Step =>
  onlyMove((situation) => express(situation, { kind: 'pause', reason }) ?? textReply(reason));
export const verify = (title?: string): Step =>
  onlyMove((situation) => {
    const todo = title === undefined ? undefined : findTodo(situation.todos, title);
    return express(situation, { kind: 'verify', todo });
  });

/**
 * The honest worker: the same few steps for each open todo until none is left. It goes by the todos it knows, not by a
 * count, so that todos added, reopened or imported on the way are worked on as well.
 */
export function untilAllDone(perTodo: (title: string) => readonly Step[]): Step {
  // Lower-case and short, since it travels in the position.
  const tokenOf = ({ title }: KnownTodo): string =>
    `t${createHash('sha1').update(title).digest('hex').slice(0, 8)}`;
  function workOn(todo: KnownTodo | undefined, inner: Position, situation: Situation): Move | undefined {
    const move = todo && inOrder(...perTodo(todo.title)).next(inner, situation);
    if (!move) return undefined;
    return { ...move, position: move.position === 'over' ? ['next'] : [tokenOf(todo), ...move.position] };
  }
  return lookingUp(
    ({ todos }) => todos.length === 0,
    (position, situation) => {
      const current = situation.todos.find((todo) => tokenOf(todo) === position[0]);
      const begun = workOn(current, position.slice(1), situation);
      return begun ?? workOn(nextOpen(situation.todos), [], situation);
    },
  );
}

/** A tool that is not offered is called all the same: models do that, and hosts must cope. */
export const callTool = (name: string, input: unknown = {}): Step => callFirst([name], () => input);

/** The first of these tools that is offered, else the first; `build` names its arguments as the offered schema does. */
function callFirst(
  names: readonly string[],
  build: (named: (pattern: RegExp, usual: string) => string, properties: object) => unknown,
): Step {
  return onlyMove(({ request }) => {
    const offers = names.map((name) => findOffer(request.tools, name));
    const offer = offers.find((one) => one !== undefined);
    const properties = recordOf(offer?.schema, 'properties');
    const named = (pattern: RegExp, usual: string): string =>
      Object.keys(properties).find((name) => pattern.test(name)) ?? usual;
    return callReply([{ name: offer?.name ?? names[0] ?? '', input: build(named, properties) }]);
  });
}

export function writeFile(path: string, content: string): Step {
  return callFirst(['write_file', 'Write', 'write', 'create_file'], (named) => ({
    [named(/path|file/i, 'path')]: path,
    [named(/content|text/i, 'content')]: content,
  }));
}

const shells = ['run_command', 'shell', 'Bash', 'bash', 'run_shell_command', 'exec_command', 'local_shell'];

export function runCommand(command: string, more: Readonly<Record<string, unknown>> = {}): Step {
  return callFirst(shells, (named, properties) => {
    const name = named(/command|cmd/i, 'command');
    const wantsWords = recordOf(properties, name)['type'] === 'array';
    const describes = isRecord(recordOf(properties)['description']) ? { description: 'Run a command' } : {};
    return { [name]: wantsWords ? ['bash', '-lc', command] : command, ...describes, ...more };
  });
}

/** Several steps of one reply each, said in one reply; each sees what the ones before it are about to change. */
export function parallel(...steps: readonly Step[]): Step {
  return madeOf(steps, (position, situation) => {
    const calls: PlannedCall[] = [];
    const texts: string[] = [];
    let { todos } = situation;
    for (const step of steps) {
      const move = step.next(position, { ...situation, todos });
      // A step that first has to look something up does so for all; it answers at its second position.
      if (move && move.position !== 'over') return move;
      const { calls: made = [], text } = move?.reply ?? {};
      calls.push(...made);
      if (text) texts.push(text);
      // Results that only the system can know, such as ids, are not foreseen.
      if (situation.family?.byId !== false) continue;
      const result = { id: '', text: '', isError: false };
      todos = made.reduce((known, call) => learnFromCall(known, { id: '', ...call }, result), todos);
    }
    if (calls.length === 0 && texts.length === 0) return undefined;
    const text = texts.length > 0 ? { text: texts.join('\n') } : {};
    return lastMove({ ...text, ...(calls.length > 0 ? callReply(calls) : { finish: 'stop' }) });
  });
}
