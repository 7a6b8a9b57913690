import { describe, expect, it } from 'vitest';
import {
  createTemporaryWorkspace,
  errorOf,
  outputOf,
} from '../../../test/support/temporary-workspace.ts';
import { findProcessTree, sessionVariable } from '../../checks/process.ts';

describe('jobs', () => {
  it('P18: a job goes on beside the conversation; each read gives what is new; the registry names it', async () => {
    const { context, call } = createTemporaryWorkspace();
    const command = 'echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 4';
    expect(
      outputOf(await call('start_job', { command, description: 'count\nslowly' })),
    ).toContain('Started job-1.');
    expect(context.jobs.running()).toEqual([
      { id: 'job-1', kind: 'shell', description: 'count slowly' },
    ]);
    const first = outputOf(await call('read_job', { job: 'job-1', waitSeconds: 10 }));
    expect(first).toBe('job-1 (count slowly): running.\none');
    expect(outputOf(await call('read_job', { job: 'job-1' }))).toContain('(nothing new)');
    await call('write_file', { path: 'go', content: '' });
    await expect.poll(() => context.jobs.running()).toEqual([]);
    expect(outputOf(await call('read_job', { job: 'job-1' }))).toBe(
      'job-1 (count slowly): Exit code 4.\ntwo',
    );
    expect(outputOf(await call('list_jobs', {}))).toBe(
      'job-1 (count slowly): Exit code 4.',
    );
  });

  it('P18: a job that is stopped says so', async () => {
    const { context, call } = createTemporaryWorkspace();
    await call('start_job', { command: 'sleep 100', description: 'long' });
    expect(outputOf(await call('stop_job', { job: 'job-1' }))).toBe(
      'job-1 (long): stopped. Ended by signal SIGTERM.',
    );
    expect(context.jobs.running()).toEqual([]);
  });

  it('a wait ends with the job, with the signal, or with its time', async () => {
    const controller = new AbortController();
    const { call } = createTemporaryWorkspace({ maxJobWaitMs: 200 }, controller.signal);
    await call('start_job', { command: 'sleep 0.05' });
    expect(outputOf(await call('read_job', { job: 'job-1', waitSeconds: 30 }))).toMatch(
      /running|Exit code 0/u,
    );
    await call('start_job', { command: 'sleep 100' });
    expect(outputOf(await call('read_job', { job: 'job-2', waitSeconds: 30 }))).toContain(
      'running',
    );
    controller.abort();
    expect(outputOf(await call('read_job', { job: 'job-2', waitSeconds: 30 }))).toContain(
      'running',
    );
  });

  it('keeps the head and the tail of what nobody reads', async () => {
    const { context, call } = createTemporaryWorkspace({ outputCharacters: 200 });
    await call('start_job', { command: 'echo first; yes | head -n 200000; echo last' });
    await expect.poll(() => context.jobs.running()).toEqual([]);
    const output = outputOf(await call('read_job', { job: 'job-1' }));
    expect(output).toMatch(/\nfirst\n(?:y\n)+\n?… \d+ characters left out …\n/u);
    expect(output).toMatch(/y\nlast$/u);
    expect(output.length).toBeLessThan(400);
  });

  it('all end with the agent, children included, and no new one starts', async () => {
    const { context, call } = createTemporaryWorkspace();
    for (let count = 0; count < 3; count += 1)
      await call('start_job', { command: 'sleep 100 & sleep 100' });
    await context.jobs.close();
    expect(context.jobs.running()).toEqual([]);
    const mark = `${sessionVariable}=${context.environment[sessionVariable]}`;
    expect(findProcessTree({ group: -1, mark })).toEqual([]);
    expect(errorOf(await call('start_job', { command: 'true' }))).toContain('ending');
  });

  it('are limited in number, and a wrong id is answered with the known ones', async () => {
    const { call } = createTemporaryWorkspace({ runningJobs: 2 });
    expect(errorOf(await call('read_job', { job: 'job-9' }))).toContain(
      'none was started',
    );
    expect(outputOf(await call('list_jobs', {}))).toBe('There are no jobs.');
    await call('start_job', { command: 'sleep 100' });
    await call('start_job', { command: 'sleep 100' });
    expect(errorOf(await call('start_job', { command: 'true' }))).toContain(
      '2 jobs run already (job-1, job-2)',
    );
    expect(errorOf(await call('stop_job', { job: 'job-9' }))).toContain(
      'Known: job-1, job-2',
    );
  });

  it('forget the oldest ended ones', async () => {
    const { context } = createTemporaryWorkspace({ runningJobs: 100 });
    for (let count = 0; count < 60; count += 1) context.jobs.start('true', 'short');
    await expect.poll(() => context.jobs.running(), { timeout: 20_000 }).toEqual([]);
    context.jobs.start('true', 'one more');
    expect(context.jobs.list()).toHaveLength(51);
    expect(context.jobs.list()[0]?.id).toBe('job-11');
  });
});
