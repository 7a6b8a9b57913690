// shell, and jobs beside the conversation. Nothing that a command started outlives its
// call, no job the agent.
import { EventEmitter, once } from 'node:events';
import { BoundedOutput } from '../../checks/output.ts';
import { type CommandEnd, endInTime, startCommand } from '../../checks/process.ts';
import { type Refusal, refuse } from '../../core/error.ts';
import { oneLine } from '../../core/safe-text.ts';
import { described, integer, optional, text } from '../../core/schema.ts';
import { type Answer, defineTool, type ToolContext } from './tool.ts';

const command = described(text(30_000, 1), 'The command line.');

export const shell = defineTool({
  name: 'shell',
  description:
    'Runs a command with /bin/sh in the workspace root and answers its exit code and output (standard output and errors ' +
    'together; of long output the beginning and the end). There is no input and no terminal: use flags that answer ' +
    'questions. Everything the command leaves running is stopped with it; for servers and watchers use start_job.',
  access: 'execute',
  input: {
    command,
    timeoutSeconds: optional(described(integer(1, 1800), 'When to end it; default 120.')),
  },
  async run({ command: line, timeoutSeconds }, context) {
    const { signal, limits } = context;
    if (signal.aborted)
      return refuse('The command was not started: the call was interrupted.');
    const wantedMs =
      timeoutSeconds === undefined ? limits.commandMs : timeoutSeconds * 1000;
    const milliseconds = Math.min(wantedMs, limits.maxCommandMs);
    const { running, output } = startBounded(line, context);
    const ended = await endInTime(running, milliseconds, signal);
    if (ended.startError !== null)
      return refuse(`The command could not be started: ${ended.startError}.`);
    const printed = output.take().trimEnd() || '(no output)';
    const rest =
      ended.notEnded === 0 ? '' : ` ${ended.notEnded} processes could not be stopped.`;
    const late =
      `The command did not end within ${milliseconds / 1000} s and was stopped. ` +
      'Give it more time with timeoutSeconds, or run it with start_job.';
    const stopped =
      ended.cause === 'time' ? late : 'The command was interrupted and stopped.';
    if (ended.cause !== null)
      return refuse(`${stopped}${rest} Output so far:\n${printed}`);
    const left = ended.leftRunning === 1 ? '1 process' : `${ended.leftRunning} processes`;
    const hint = ` It left ${left} running, which were stopped: use start_job for those.${rest}`;
    return `${describeEnd(ended)}${ended.leftRunning === 0 ? '' : hint}\n${printed}`;
  },
});

/** For people; to the model it is a result like any other (S6). */
export function isFailedCommand(tool: string, output: string): boolean {
  return tool === 'shell' && /^(?:Exit code (?!0\.)\d|Ended by signal )/.test(output);
}

function describeEnd(ended: CommandEnd): string {
  if (ended.exitCode === null && ended.signal === null) return 'It could not be stopped.';
  return ended.signal === null
    ? `Exit code ${ended.exitCode}.`
    : `Ended by signal ${ended.signal}.`;
}

const job = described(text(40, 1), 'The id that start_job answered.');

export const startJob = defineTool({
  name: 'start_job',
  description:
    'Starts a command with /bin/sh in the workspace root and returns at once, while it goes on: for servers, watchers and ' +
    'long builds. Answers an id for read_job and stop_job. The job ends when its command ends (do not add "&"), and at ' +
    'the latest with this session.',
  access: 'execute',
  input: {
    command,
    description: optional(described(text(200), 'What it is for, in a few words.')),
  },
  async run(input, { jobs }) {
    const started = jobs.start(
      input.command,
      oneLine(input.description || input.command, 80),
    );
    return typeof started === 'string'
      ? `Started ${started}. Read what it prints with read_job.`
      : started;
  },
});

export const readJob = defineTool({
  name: 'read_job',
  description:
    'Answers whether a job still runs and what it printed since the last time. With waitSeconds it waits for something new.',
  access: 'read',
  input: {
    job,
    waitSeconds: optional(
      described(integer(0, 30), 'How long to wait at most; default 0.'),
    ),
  },
  waits: (input, { jobs }) =>
    (input.waitSeconds ?? 0) > 0 && jobs.get(input.job)?.end === null,
  async run(input, { jobs, limits, signal }) {
    const read = jobs.get(input.job);
    if (read === undefined) return explainUnknown(jobs);
    const waitMs = Math.min((input.waitSeconds ?? 0) * 1000, limits.maxJobWaitMs);
    const output = await jobs.read(read, waitMs, signal);
    return `${describeJob(read)}\n${output.trimEnd() || '(nothing new)'}`;
  },
});

export const stopJob = defineTool({
  name: 'stop_job',
  description: 'Ends a job and every process it started.',
  access: 'execute',
  input: { job },
  async run(input, { jobs }) {
    const stopped = jobs.get(input.job);
    if (stopped === undefined) return explainUnknown(jobs);
    await jobs.stop(stopped);
    return describeJob(stopped);
  },
});

export const listJobs = defineTool({
  name: 'list_jobs',
  description: 'Lists the jobs of this session, running and ended.',
  access: 'read',
  input: {},
  run: async (_input, { jobs }) =>
    jobs.list().map(describeJob).join('\n') || 'There are no jobs.',
});

function describeJob({ id, description, end, isStopped }: Job): string {
  const name = `${id} (${description})`;
  if (end === null) return `${name}: running.`;
  if (end.startError !== null) return `${name}: could not be started: ${end.startError}.`;
  if (isStopped) return `${name}: stopped. ${describeEnd(end)}`;
  const left =
    end.leftRunning > 0 ? ` ${end.leftRunning} processes it left were stopped.` : '';
  return `${name}: ${describeEnd(end)}${left}`;
}

function explainUnknown(jobs: Jobs): Refusal {
  const ids = jobs.list().map(({ id }) => id);
  const known = ids.length === 0 ? ': none was started.' : `. Known: ${ids.join(', ')}.`;
  return refuse(`There is no such job${known}`);
}

type CommandPlace = Pick<ToolContext, 'environment' | 'limits' | 'root'>;

function startBounded(
  command: string,
  { root, environment, limits }: CommandPlace,
  onNews = () => {},
) {
  const { outputCharacters, endGraceMs } = limits;
  const output = new BoundedOutput(outputCharacters);
  const onOutput = (chunk: string) => {
    output.append(chunk);
    onNews();
  };
  return {
    output,
    running: startCommand({
      command,
      directory: root,
      environment,
      endGraceMs,
      onOutput,
    }),
  };
}

type Job = ReturnType<typeof startBounded> & {
  readonly id: string;
  readonly description: string;
  isStopped: boolean;
  end: CommandEnd | null;
};

/** Ended ones whose output can still be read. */
const rememberedJobs = 50;

export type Jobs = ReturnType<typeof openJobs>;

export function openJobs(place: CommandPlace) {
  const jobs = new Map<string, Job>();
  /** A job's id: it printed or ended. */
  const news = new EventEmitter().setMaxListeners(0);
  let count = 0;
  let isClosed = false;
  const list = (): Job[] => [...jobs.values()];
  const running = () =>
    list().flatMap(({ id, description, end }) =>
      end === null ? [{ id, kind: 'shell' as const, description }] : [],
    );
  const stop = async (job: Job) => {
    if (job.end !== null) return;
    job.isStopped = true;
    job.running.end();
    await job.running.ended;
  };
  return {
    list,
    running,
    stop,
    get: (id: string): Job | undefined => jobs.get(id),
    start(line: string, description: string): Answer {
      if (isClosed) return refuse('The agent is ending: no new jobs.');
      const others = running().map(({ id }) => id);
      if (others.length >= place.limits.runningJobs)
        return refuse(
          `${others.length} jobs run already (${others.join(', ')}), which is the limit: stop one with stop_job.`,
        );
      count += 1;
      const id = `job-${count}`;
      const command = startBounded(line, place, () => news.emit(id));
      const started: Job = { id, description, ...command, isStopped: false, end: null };
      jobs.set(id, started);
      void command.running.ended.then((end) => {
        started.end = end;
        news.emit(id);
      });
      const ended = list().filter(({ end }) => end !== null);
      for (const old of ended.slice(0, -rememberedJobs)) jobs.delete(old.id);
      return id;
    },
    /** What is new; waits for some, or for the job's end, at most `waitMs`. */
    async read(
      { id, end, output }: Job,
      waitMs: number,
      signal: AbortSignal,
    ): Promise<string> {
      if (end === null && output.isEmpty && waitMs > 0) {
        const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
        // Safe: time is over or the call interrupted; what there is by then is the
        // answer.
        await once(news, id, { signal: over }).catch(() => {});
      }
      return output.take();
    },
    /** None is left then, and none can be started. */
    async close() {
      isClosed = true;
      await Promise.all(list().map(stop));
    },
  };
}
