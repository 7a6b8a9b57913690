// The human's hand on a running agent, with real processes and signals: Ctrl-C once and twice, pause, resume and stop
// from another terminal, and going on afterwards (C3, G4).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import {
  complete,
  plan,
  rateLimit,
  runCommand,
  say,
  stall,
  writeFile,
} from '../../src/testing/model/index.ts';
import { openCommandLine, type Running } from './command-line.ts';

const alpha = [writeFile('alpha.txt', 'a'), complete('Write alpha'), say('Written.')];
const run = ['run', 'Do the work.', '--auto', '--json', '--model', 'openai/story'];
const resume = ['run', '--resume', '--auto', '--json', '--model', 'openai/story'];

const startsShell = (event: AgentEvent) => event.type === 'tool-started' && event.tool === 'shell';
const isStep = (step: number) => (event: AgentEvent) => event.type === 'step-started' && event.step === step;

function lastEvent(running: Running): AgentEvent | undefined {
  return running.events().at(-1);
}

describe('Ctrl-C', () => {
  it('C3: once stops after the running step, latches the session, and run --resume goes on', async () => {
    const line = await openCommandLine({
      steps: [plan('Write alpha'), runCommand('sleep 0.8; echo finished > step.txt'), ...alpha],
    });
    const running = line.start(...run);
    await running.sees(startsShell);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(running.err()).toContain('Stopping after this step; Ctrl-C again stops at once.');
    expect(lastEvent(running)).toMatchObject({ type: 'run-ended', outcome: 'aborted', exitCode: 130 });
    // The step was finished, and no other was begun.
    expect(existsSync(join(line.project, 'step.txt'))).toBe(true);
    expect(line.model.requests).toHaveLength(2);
    expect((await line.session()).latch).toMatchObject({ how: 'Ctrl-C' });

    const again = line.start('run', '--resume', '--auto', '--json');
    expect(
      await again.sees(({ type }) => type === 'run-started'),
      'the model it was begun with',
    ).toMatchObject({
      model: 'openai/story',
    });
    expect(await again.ended).toBe(3);
    expect(lastEvent(again)).toMatchObject({ outcome: 'claimed', todos: [{ status: 'completed' }] });
    expect((await line.session()).latch).toBeNull();
    // What was done is not done again: the model goes on where it was.
    expect(line.model.requests).toHaveLength(5);
  });

  it('C3: twice stops at once and ends the command that runs', async () => {
    const line = await openCommandLine({
      steps: [plan('Write alpha'), runCommand('sleep 20; echo late > late.txt'), ...alpha],
    });
    const running = line.start(...run);
    await running.sees(startsShell);
    const before = Date.now();
    running.child.kill('SIGINT');
    setTimeout(() => running.child.kill('SIGINT'), 100);
    expect(await running.ended).toBe(130);
    expect(Date.now() - before).toBeLessThan(6000);
    expect(existsSync(join(line.project, 'late.txt'))).toBe(false);
    expect((await line.session()).latch).not.toBeNull();

    // A call that was cut is told as such, and never made again by itself.
    const again = line.start(...resume.slice(0, -1), 'openai/another');
    expect(await again.sees(({ type }) => type === 'run-started'), 'another one by name').toMatchObject({
      model: 'openai/another',
    });
    expect(await again.ended).toBe(3);
    const told = JSON.stringify(line.model.requests[2]?.body);
    expect(told).toMatch(/interrupted|ended|stopped/);
    expect(
      line.model.requests.filter(({ body }) => JSON.stringify(body).includes('sleep 20')),
    ).not.toHaveLength(0);
  });

  it('C3: once ends a wait, which is no step: nobody sits through a rate limit', async () => {
    const line = await openCommandLine({ steps: [plan('Write alpha'), rateLimit(60), ...alpha] });
    const running = line.start(...run);
    await running.sees(({ type }) => type === 'error');
    const before = Date.now();
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(Date.now() - before).toBeLessThan(5000);
    expect(lastEvent(running)).toMatchObject({ outcome: 'aborted', reason: 'aborted' });
  });

  it('C3: twice ends a model that does not answer', async () => {
    const line = await openCommandLine({ steps: [plan('Write alpha'), stall(), ...alpha] });
    const running = line.start(...run);
    await running.sees(isStep(2));
    running.child.kill('SIGINT');
    setTimeout(() => running.child.kill('SIGINT'), 100);
    expect(await running.ended).toBe(130);
  });
});

describe('from another terminal', () => {
  it('C3: stop ends the running step within a second and latches', async () => {
    const line = await openCommandLine({ steps: [plan('Write alpha'), runCommand('sleep 20'), ...alpha] });
    const running = line.start(...run);
    await running.sees(startsShell);
    const stopped = await line.run('stop');
    const before = Date.now();
    expect(stopped).toMatchObject({ code: 0, out: expect.stringContaining('is latched') });
    expect(await running.ended).toBe(130);
    // A second, and what a busy machine needs to end a process tree.
    expect(Date.now() - before).toBeLessThan(5000);
    expect(lastEvent(running)).toMatchObject({ outcome: 'aborted', exitCode: 130 });
  });

  it('C3: pause holds the run where it is, resume on a terminal lets it go on, and a pipe may not resume', async () => {
    const line = await openCommandLine({ steps: [plan('Write alpha'), stall(), ...alpha] });
    const running = line.start(...run);
    await running.sees(isStep(2));
    expect(await line.run('pause')).toMatchObject({ code: 0, out: expect.stringContaining('is paused') });
    await running.sees((event) => event.type === 'notice' && event.sentence.startsWith('Paused by a human'));
    const refused = await line.run('resume');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Only a human may say this') });
    // Nothing happens while it is paused: the step is not begun anew.
    expect(line.model.requests).toHaveLength(2);
    expect(running.child.exitCode).toBeNull();
    const resumed = await line.runOnTerminal('resume');
    expect(resumed.out).toContain('is resumed');
    expect(await running.ended).toBe(3);
    expect(lastEvent(running)).toMatchObject({ outcome: 'claimed' });
  });

  it('C3: pause holds a run that waits as well, and stop ends a run that is paused', async () => {
    const line = await openCommandLine({ steps: [plan('Write alpha'), rateLimit(60), ...alpha] });
    const running = line.start(...run);
    await running.sees(({ type }) => type === 'error');
    await line.run('pause');
    await sleep(1000);
    expect(running.child.exitCode).toBeNull();
    await line.run('stop');
    expect(await running.ended).toBe(130);
    expect(line.model.requests).toHaveLength(2);
  });
});
