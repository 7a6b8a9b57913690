// start_job, read_job, stop_job, list_jobs: commands that run beside the conversation, such as servers.

import { refuse } from '../../core/refusal.ts';
import { oneLine } from '../../core/safe-text.ts';
import type { JobRegistry, JobView } from './job-registry.ts';
import { describeEnd } from './shell.ts';
import { defineTool } from './tool.ts';

const jobField = {
  type: 'string',
  minLength: 1,
  maxLength: 40,
  description: 'The id that start_job answered.',
} as const;

export const startJob = defineTool({
  name: 'start_job',
  description:
    'Starts a command with /bin/sh in the workspace root and returns at once, while it goes on: for servers, watchers and ' +
    'long builds. Answers an id for read_job and stop_job. The job ends when its command ends (do not add "&"), and at ' +
    'the latest with this session.',
  access: 'execute',
  inputSchema: {
    type: 'object',
    properties: {
      command: { type: 'string', minLength: 1, maxLength: 30_000, description: 'The command line.' },
      description: { type: 'string', maxLength: 200, description: 'What it is for, in a few words.' },
    },
    required: ['command'],
    additionalProperties: false,
  },
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
  inputSchema: {
    type: 'object',
    properties: {
      job: jobField,
      waitSeconds: {
        type: 'integer',
        minimum: 0,
        maximum: 30,
        description: 'How long to wait at most; default 0.',
      },
    },
    required: ['job'],
    additionalProperties: false,
  },
  async run(input, { jobs, limits, signal }) {
    const waitMs = Math.min((input.waitSeconds ?? 0) * 1000, limits.maxJobWaitMs);
    const read = await jobs.read(input.job, waitMs, signal);
    if (read === null) return refuse(explainUnknown(jobs));
    return { ok: true, output: `${describeJob(read.job)}\n${read.output.trimEnd() || '(nothing new)'}` };
  },
});

export const stopJob = defineTool({
  name: 'stop_job',
  description: 'Ends a job and every process it started.',
  access: 'execute',
  inputSchema: {
    type: 'object',
    properties: { job: jobField },
    required: ['job'],
    additionalProperties: false,
  },
  async run(input, { jobs }) {
    const job = await jobs.stop(input.job);
    return job === null ? refuse(explainUnknown(jobs)) : { ok: true, output: describeJob(job) };
  },
});

export const listJobs = defineTool({
  name: 'list_jobs',
  description: 'Lists the jobs of this session, running and ended.',
  access: 'read',
  inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
  async run(_input, { jobs }) {
    return { ok: true, output: jobs.list().map(describeJob).join('\n') || 'There are no jobs.' };
  },
});

function describeJob(job: JobView): string {
  const name = `${job.id} (${job.description})`;
  if (job.ended === null) return `${name}: running.`;
  if (job.ended.startError !== null) return `${name}: could not be started: ${job.ended.startError}.`;
  const stopped = job.isStopped ? 'stopped. ' : '';
  const left =
    job.ended.leftRunning > 0 && !job.isStopped
      ? ` ${job.ended.leftRunning} processes it left were ended.`
      : '';
  return `${name}: ${stopped}${describeEnd(job.ended)}${left}`;
}

function explainUnknown(jobs: JobRegistry): string {
  const ids = jobs.list().map((job) => job.id);
  return ids.length === 0
    ? 'There is no such job: none was started.'
    : `There is no such job. Known: ${ids.join(', ')}.`;
}
