// The background jobs of one agent: started, read in pieces, stopped, and all ended with the agent.
// It tells who listens when one ends; whether the agent waits for it is decided elsewhere (P18).
import { BoundedOutput } from '../../checks/output.ts';
import { type CommandEnd, type RunningCommand, startCommand } from '../../checks/process.ts';

export interface JobSettings {
  /** The workspace root. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: {
    readonly outputCharacters: number;
    readonly endGraceMs: number;
    readonly runningJobs: number;
  };
}
export interface RunningJob {
  readonly id: string;
  readonly kind: 'shell';
  readonly description: string;
}
export interface EndedJob extends RunningJob {
  readonly end: CommandEnd;
  /** True when stop_job or the end of the agent ended it. */
  readonly isStopped: boolean;
}
interface Job extends RunningJob {
  readonly command: string;
  readonly output: BoundedOutput;
  readonly running: RunningCommand;
  /** Called whenever something new came; what read_job waits for. */
  readonly wakers: Set<() => void>;
  isStopped: boolean;
  ended: CommandEnd | null;
}
export type JobView = Pick<Job, 'id' | 'description' | 'command' | 'isStopped' | 'ended'>;

/** Ended jobs whose output can still be read; older ones are forgotten. */
const rememberedJobs = 50;

export class JobRegistry {
  readonly #settings: JobSettings;
  readonly #jobs = new Map<string, Job>();
  readonly #listeners = new Set<(job: EndedJob) => void>();
  #started = 0;
  #isClosed = false;

  constructor(settings: JobSettings) {
    this.#settings = settings;
  }

  start(command: string, description: string): { ok: true; id: string } | { ok: false; error: string } {
    const { directory, environment, limits } = this.#settings;
    if (this.#isClosed) return { ok: false, error: 'The agent is ending: no new jobs.' };
    const running = this.running();
    if (running.length >= limits.runningJobs) {
      const ids = running.map((job) => job.id).join(', ');
      return {
        ok: false,
        error: `${running.length} jobs run already (${ids}), which is the limit: stop one with stop_job.`,
      };
    }
    this.#started += 1;
    const id = `job-${this.#started}`;
    const output = new BoundedOutput(limits.outputCharacters);
    const wakers = new Set<() => void>();
    const onOutput = (text: string) => {
      output.append(text);
      for (const wake of wakers) wake();
    };
    const started = startCommand({
      command,
      directory,
      environment,
      endGraceMs: limits.endGraceMs,
      onOutput,
    });
    const job: Job = {
      id,
      kind: 'shell',
      description,
      command,
      output,
      running: started,
      wakers,
      isStopped: false,
      ended: null,
    };
    this.#jobs.set(id, job);
    void started.ended.then((end) => this.#settle(job, end));
    this.#forgetOldest();
    return { ok: true, id };
  }

  /** New output since the last read; waits for some, or for the job's end, at most `waitMs`. Null: no such job. */
  async read(
    id: string,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<{ job: JobView; output: string } | null> {
    const job = this.#jobs.get(id);
    if (job === undefined) return null;
    if (job.ended === null && job.output.isEmpty && waitMs > 0) await waitForNews(job, waitMs, signal);
    return { job, output: job.output.take() };
  }

  /** Ends the job and all its processes, and waits until that is so. Null: no such job. */
  async stop(id: string): Promise<JobView | null> {
    const job = this.#jobs.get(id);
    if (job === undefined) return null;
    if (job.ended === null) {
      job.isStopped = true;
      job.running.end();
      await job.running.ended;
    }
    return job;
  }

  list(): JobView[] {
    return [...this.#jobs.values()];
  }

  running(): RunningJob[] {
    const running = [...this.#jobs.values()].filter((job) => job.ended === null);
    return running.map(({ id, kind, description }) => ({ id, kind, description }));
  }

  /** The listener must not throw. Returns how to stop listening. */
  onEnd(listener: (job: EndedJob) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For the agent's end: no job is left, and none can be started any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#jobs.keys()].map((id) => this.stop(id)));
  }

  #settle(job: Job, end: CommandEnd): void {
    job.ended = end;
    for (const wake of job.wakers) wake();
    const { id, kind, description, isStopped } = job;
    for (const listener of this.#listeners) listener({ id, kind, description, end, isStopped });
  }

  #forgetOldest(): void {
    const ended = [...this.#jobs.values()].filter((job) => job.ended !== null);
    for (const job of ended.slice(0, Math.max(0, ended.length - rememberedJobs))) this.#jobs.delete(job.id);
  }
}

function waitForNews(job: Job, waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      job.wakers.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, waitMs);
    job.wakers.add(wake);
    signal.addEventListener('abort', wake);
    if (signal.aborted) wake();
  });
}
