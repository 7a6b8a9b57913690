// shell: one command of the model's own, run by /bin/sh in the workspace root until it ends or its time is up.
// A failing command is a result. Nothing it started outlives the call: for that there is start_job.
import { BoundedOutput } from '../../checks/output.ts';
import { type CommandEnd, startCommand } from '../../checks/process.ts';
import { refuse } from '../../core/refusal.ts';
import { defineTool, type ToolContext, type ToolOutcome } from './tool.ts';

export const shell = defineTool({
  name: 'shell',
  description:
    'Runs a command with /bin/sh in the workspace root and answers its exit code and output (standard output and errors ' +
    'together; of long output the beginning and the end). There is no input and no terminal: use flags that answer ' +
    'questions. Everything the command leaves running is ended with it; for servers and watchers use start_job.',
  access: 'execute',
  inputSchema: {
    type: 'object',
    properties: {
      command: { type: 'string', minLength: 1, maxLength: 30_000, description: 'The command line.' },
      timeoutSeconds: {
        type: 'integer',
        minimum: 1,
        maximum: 1800,
        description: 'When to end it; default 120.',
      },
    },
    required: ['command'],
    additionalProperties: false,
  },
  async run(input, context) {
    const milliseconds =
      input.timeoutSeconds === undefined ? context.limits.commandMs : input.timeoutSeconds * 1000;
    return runToEnd(input.command, Math.min(milliseconds, context.limits.maxCommandMs), context);
  },
});

async function runToEnd(command: string, milliseconds: number, context: ToolContext): Promise<ToolOutcome> {
  const { root, signal, limits, environment } = context;
  if (signal.aborted) return refuse('The command was not started: the call was interrupted.');
  const output = new BoundedOutput(limits.outputCharacters);
  const running = startCommand({
    command,
    directory: root,
    environment,
    endGraceMs: limits.endGraceMs,
    onOutput: (text) => output.append(text),
  });
  let cause: 'time' | 'interruption' | null = null;
  const endFor = (reason: 'time' | 'interruption') => {
    cause ??= reason;
    running.end();
  };
  const timer = setTimeout(() => endFor('time'), milliseconds);
  const onAbort = () => endFor('interruption');
  signal.addEventListener('abort', onAbort);
  const ended = await running.ended;
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  if (ended.startError !== null) return refuse(`The command could not be started: ${ended.startError}.`);
  const text = output.take().trimEnd() || '(no output)';
  const stopped = describeStop(cause, milliseconds);
  if (stopped !== null) return refuse(`${stopped}${describeRest(ended)} Output so far:\n${text}`);
  return { ok: true, output: `${describeEnd(ended)}${describeLeft(ended)}\n${text}` };
}

function describeStop(cause: 'time' | 'interruption' | null, milliseconds: number): string | null {
  if (cause === null) return null;
  if (cause === 'interruption') return 'The command was interrupted and ended.';
  return (
    `The command did not end within ${milliseconds / 1000} s and was ended. ` +
    'Give it more time with timeoutSeconds, or run it with start_job.'
  );
}

export function describeEnd(ended: CommandEnd): string {
  if (ended.exitCode === null && ended.signal === null) return 'It could not be ended.';
  return ended.signal === null ? `Exit code ${ended.exitCode}.` : `Ended by signal ${ended.signal}.`;
}

function describeLeft(ended: CommandEnd): string {
  const left = ended.leftRunning;
  if (left === 0) return '';
  return ` It left ${left} ${left === 1 ? 'process' : 'processes'} running, which were ended: use start_job for those.${describeRest(ended)}`;
}

function describeRest(ended: CommandEnd): string {
  return ended.notEnded === 0 ? '' : ` ${ended.notEnded} processes could not be ended.`;
}
