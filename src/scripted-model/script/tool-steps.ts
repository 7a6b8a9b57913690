// Steps that call tools other than the todo tools. Names may be given without a host's or server's prefix, and the
// arguments of file and shell tools are named as the offered schema names them.
import { isRecord, recordOf } from '../json-value.ts';
import { callReply, type PlannedCall } from '../model-reply.ts';
import type { ToolOffer } from '../model-request.ts';
import { learnFromCall } from '../todos/families.ts';
import { findOffer } from '../todos/todo-family.ts';
import type { Situation } from './situation.ts';
import { lastMove, oneReply, PASS, type Step } from './step.ts';

const WRITE_TOOLS = ['write_file', 'Write', 'write', 'create_file'];
const SHELL_TOOLS = [
  'run_command',
  'shell',
  'Bash',
  'bash',
  'run_shell_command',
  'exec_command',
  'local_shell',
];

function firstOffer(situation: Situation, names: readonly string[]): ToolOffer | undefined {
  return names.map((name) => findOffer(situation.request.tools, name)).find((offer) => offer !== undefined);
}

function propertiesOf(offer: ToolOffer | undefined): Readonly<Record<string, unknown>> {
  return recordOf(recordOf(offer?.schema)['properties']);
}

function propertyNamed(offer: ToolOffer | undefined, pattern: RegExp, fallback: string): string {
  return Object.keys(propertiesOf(offer)).find((name) => pattern.test(name)) ?? fallback;
}

/** A tool that is not offered is called all the same: models do that, and hosts must cope. */
export function callTool(name: string, input: unknown = {}): Step {
  return oneReply(true, (situation) =>
    callReply([{ name: findOffer(situation.request.tools, name)?.name ?? name, input }]),
  );
}

export function writeFile(path: string, content: string): Step {
  return oneReply(true, (situation) => {
    const offer = firstOffer(situation, WRITE_TOOLS);
    const input = {
      [propertyNamed(offer, /path|file/i, 'path')]: path,
      [propertyNamed(offer, /content|text/i, 'content')]: content,
    };
    return callReply([{ name: offer?.name ?? 'write_file', input }]);
  });
}

export function runCommand(command: string, more: Readonly<Record<string, unknown>> = {}): Step {
  return oneReply(true, (situation) => {
    const offer = firstOffer(situation, SHELL_TOOLS);
    const name = propertyNamed(offer, /command|cmd/i, 'command');
    const wantsWords = recordOf(propertiesOf(offer)[name])['type'] === 'array';
    const describes = isRecord(propertiesOf(offer)['description']) ? { description: 'Run a command' } : {};
    const input = { [name]: wantsWords ? ['bash', '-lc', command] : command, ...describes, ...more };
    return callReply([{ name: offer?.name ?? 'run_command', input }]);
  });
}

/** Several steps of one reply each, said in one reply; each sees what the ones before it are about to change. */
export function parallel(...steps: readonly Step[]): Step {
  return {
    needsTools: steps.some((step) => step.needsTools),
    next(position, situation) {
      let seen = situation;
      const calls: PlannedCall[] = [];
      const texts: string[] = [];
      for (const step of steps) {
        const move = step.next(position, seen);
        if (move.kind === 'pass') continue;
        // A step that first has to look something up does so for all; it answers at its second position.
        if (move.position !== 'over') return move;
        calls.push(...(move.reply.calls ?? []));
        if (move.reply.text) texts.push(move.reply.text);
        seen = { ...seen, todos: expectedTodos(seen, move.reply.calls ?? []) };
      }
      if (calls.length === 0 && texts.length === 0) return PASS;
      const text = texts.length > 0 ? { text: texts.join('\n') } : {};
      return lastMove(calls.length > 0 ? { ...text, ...callReply(calls) } : { ...text, finish: 'stop' });
    },
  };
}

/** The todos as they will be if the calls succeed; results that only the system can know are left out. */
function expectedTodos(situation: Situation, calls: readonly PlannedCall[]) {
  if (situation.family?.byId !== false) return situation.todos;
  return calls.reduce(
    (todos, call) => learnFromCall(todos, { id: '', ...call }, { id: '', text: '', isError: false }),
    situation.todos,
  );
}
