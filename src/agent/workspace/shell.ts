// shell runs one command until it ends or its time is up; start_job, read_job, stop_job and list_jobs run commands beside
// the conversation, such as servers. A failing command is a result. Nothing that a command started outlives its call,
// and no job outlives the agent. Whether the agent waits for a job is decided elsewhere (P18).
import { EventEmitter, once } from 'node:events';
import { BoundedOutput } from '../../checks/output.ts';
import { type CommandEnd, startCommand } from '../../checks/process.ts';
import { type Refusal, refuse } from '../../core/error.ts';
import { oneLine } from '../../core/safe-text.ts';
import { described, integer, optional, text } from '../../core/schema.ts';
import { defineTool, type ToolContext } from './tool.ts';

const command = described(text(30_000, 1), 'The command line.');

export const shell = defineTool({
  name: 'shell',
  description:
    'Runs a command with /bin/sh in the workspace root and answers its exit code and output (standard output and errors ' +
    'together; of long output the beginning and the end). There is no input and no terminal: use flags that answer ' +
    'questions. Everything the command leaves running is ended with it; for servers and watchers use start_job.',
  access: 'execute',
  input: { command, timeoutSeconds: optional(described(integer(1, 1800), 'When to end it; default 120.')) },
  async run({ command: line, timeoutSeconds }, { root: directory, signal, limits, environment }) {
    if (signal.aborted) return refuse('The command was not started: the call was interrupted.');
    const wantedMs = timeoutSeconds === undefined ? limits.commandMs : timeoutSeconds * 1000;
    const milliseconds = Math.min(wantedMs, limits.maxCommandMs);
    const { running, output } = startBounded(line, { directory, environment, limits });
    const timeout =
      `The command did not end within ${milliseconds / 1000} s and was ended. ` +
      'Give it more time with timeoutSeconds, or run it with start_job.';
    let stopped: string | null = null;
    const stop = (sentence: string) => {
      stopped ??= sentence;
      running.end();
    };
    const timer = setTimeout(() => stop(timeout), milliseconds);
    const onAbort = () => stop('The command was interrupted and ended.');
    signal.addEventListener('abort', onAbort);
    const ended = await running.ended;
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    if (ended.startError !== null) return refuse(`The command could not be started: ${ended.startError}.`);
    const printed = output.take().trimEnd() || '(no output)';
    const rest = ended.notEnded === 0 ? '' : ` ${ended.notEnded} processes could not be ended.`;
    if (stopped !== null) return refuse(`${stopped}${rest} Output so far:\n${printed}`);
    const left = ended.leftRunning === 1 ? '1 process' : `${ended.leftRunning} processes`;
    const hint = ` It left ${left} running, which were ended: use start_job for those.${rest}`;
    const end = `${describeEnd(ended)}${ended.leftRunning === 0 ? '' : hint}`;
    return { ok: true, output: `${end}\n${printed}` };
  },
});

function describeEnd(ended: CommandEnd): string {
  if (ended.exitCode === null && ended.signal === null) return 'It could not be ended.';
  return ended.signal === null ? `Exit code ${ended.exitCode}.` : `Ended by signal ${ended.signal}.`;
}

const job = described(text(40, 1), 'The id that start_job answered.');

export const startJob = defineTool({
  name: 'start_job',
  description:
    'Starts a command with /bin/sh in the workspace root and returns at once, while it goes on: for servers, watchers and ' +
    'long builds. Answers an id for read_job and stop_job. The job ends when its command ends (do not add "&"), and at ' +
    'the latest with this session.',
  access: 'execute',
  input: { command, description: optional(described(text(200), 'What it is for, in a few words.')) },
  async run(input, { jobs }) {
    const started = jobs.start(input.command, oneLine(input.description || input.command, 80));
    if (!started.ok) return started;
    return { ok: true, output: `Started ${started.id}. Read what it prints with read_job.` };
  },
});

export const readJob = defineTool({
  name: 'read_job',
  description:
    'Answers whether a job still runs and what it printed since the last time. With waitSeconds it waits for something new.',
  access: 'read',
  input: { job, waitSeconds: optional(described(integer(0, 30), 'How long to wait at most; default 0.')) },
  async run(input, { jobs, limits, signal }) {
    const waitMs = Math.min((input.waitSeconds ?? 0) * 1000, limits.maxJobWaitMs);
    const read = await jobs.read(input.job, waitMs, signal);
    if (read === null) return explainUnknown(jobs);
    return { ok: true, output: `${describeJob(read.job)}\n${read.output.trimEnd() || '(nothing new)'}` };
  },
});

export const stopJob = defineTool({
  name: 'stop_job',
  description: 'Ends a job and every process it started.',
  access: 'execute',
  input: { job },
  async run(input, { jobs }) {
    const stopped = await jobs.stop(input.job);
    return stopped === null ? explainUnknown(jobs) : { ok: true, output: describeJob(stopped) };
  },
});

export const listJobs = defineTool({
  name: 'list_jobs',
  description: 'Lists the jobs of this session, running and ended.',
  access: 'read',
  input: {},
  async run(_input, { jobs }) {
    return { ok: true, output: jobs.list().map(describeJob).join('\n') || 'There are no jobs.' };
  },
});

function describeJob({ id, description, ended, isStopped }: Job): string {
  const name = `${id} (${description})`;
  if (ended === null) return `${name}: running.`;
  if (ended.startError !== null) return `${name}: could not be started: ${ended.startError}.`;
  if (isStopped) return `${name}: stopped. ${describeEnd(ended)}`;
  const left = ended.leftRunning > 0 ? ` ${ended.leftRunning} processes it left were ended.` : '';
  return `${name}: ${describeEnd(ended)}${left}`;
}

function explainUnknown(jobs: JobRegistry): Refusal {
  const ids = jobs.list().map(({ id }) => id);
  const known = ids.length === 0 ? ': none was started.' : `. Known: ${ids.join(', ')}.`;
  return refuse(`There is no such job${known}`);
}

type CommandPlace = Pick<ToolContext, 'environment' | 'limits'> & { readonly directory: string };

function startBounded(line: string, { directory, environment, limits }: CommandPlace, onNews = () => {}) {
  const { outputCharacters, endGraceMs } = limits;
  const output = new BoundedOutput(outputCharacters);
  const onOutput = (chunk: string): void => {
    output.append(chunk);
    onNews();
  };
  return { output, running: startCommand({ command: line, directory, environment, endGraceMs, onOutput }) };
}

type Job = ReturnType<typeof startBounded> & {
  readonly id: string;
  readonly description: string;
  /** True when stop_job or the end of the agent ended it. */
  isStopped: boolean;
  ended: CommandEnd | null;
};
export type EndedJob = Pick<Job, 'id' | 'description' | 'isStopped'> & { readonly end: CommandEnd };

/** Ended jobs whose output can still be read; older ones are forgotten. */
const rememberedJobs = 50;

/** The background jobs of one agent: started, read in pieces, stopped, and all ended with the agent. */
export class JobRegistry {
  readonly #place: CommandPlace;
  readonly #jobs = new Map<string, Job>();
  readonly #listeners = new Set<(job: EndedJob) => void>();
  /** Tells of a job, by its id, that it printed something or ended. */
  readonly #news = new EventEmitter().setMaxListeners(0);
  #started = 0;
  #isClosed = false;

  constructor(place: CommandPlace) {
    this.#place = place;
  }

  start(line: string, description: string): { ok: true; id: string } | Refusal {
    if (this.#isClosed) return refuse('The agent is ending: no new jobs.');
    const others = this.running().map(({ id }) => id);
    if (others.length >= this.#place.limits.runningJobs)
      return refuse(
        `${others.length} jobs run already (${others.join(', ')}), which is the limit: stop one with stop_job.`,
      );
    this.#started += 1;
    const id = `job-${this.#started}`;
    const command = startBounded(line, this.#place, () => this.#news.emit(id));
    const started: Job = { id, description, ...command, isStopped: false, ended: null };
    this.#jobs.set(id, started);
    void command.running.ended.then((end) => {
      started.ended = end;
      this.#news.emit(id);
      const { isStopped } = started;
      for (const listener of this.#listeners) listener({ id, description, end, isStopped });
    });
    const ended = this.list().filter((one) => one.ended !== null);
    for (const one of ended.slice(0, Math.max(0, ended.length - rememberedJobs))) this.#jobs.delete(one.id);
    return { ok: true, id };
  }

  /** New output since the last read; waits for some, or for the job's end, at most `waitMs`. Null: no such job. */
  async read(id: string, waitMs: number, signal: AbortSignal): Promise<{ job: Job; output: string } | null> {
    const job = this.#jobs.get(id);
    if (job === undefined) return null;
    if (job.ended === null && job.output.isEmpty && waitMs > 0) {
      const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
      // Safe: the time is over, or the call was interrupted; what there is by then is the answer.
      await once(this.#news, id, { signal: over }).catch(() => {});
    }
    return { job, output: job.output.take() };
  }

  /** Ends the job and all its processes, and waits until that is so. Null: no such job. */
  async stop(id: string): Promise<Job | null> {
    const job = this.#jobs.get(id);
    if (job?.ended === null) {
      job.isStopped = true;
      job.running.end();
      await job.running.ended;
    }
    return job ?? null;
  }

  list(): Job[] {
    return [...this.#jobs.values()];
  }

  running() {
    const running = this.list().filter(({ ended }) => ended === null);
    return running.map(({ id, description }) => ({ id, kind: 'shell' as const, description }));
  }

  /** The listener must not throw. Returns how to stop listening. */
  onEnd(listener: (ended: EndedJob) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For the agent's end: no job is left, and none can be started any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#jobs.keys()].map((id) => this.stop(id)));
  }
}
