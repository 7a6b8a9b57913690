// The human's hand on a running agent, with real processes and signals: Ctrl-C once and
// twice, pause, resume and stop from another terminal, and going on afterwards (C3, G4);
// questions that are answered there, and words (S7, T3).
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import {
  callTool,
  complete,
  plan,
  rateLimit,
  runCommand,
  say,
  stall,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { type CommandLine, openCommandLine, type Running } from './command-line.ts';

const alpha = [writeFile('alpha.txt', 'a'), complete('Write alpha'), say('Written.')];
const run = ['run', 'Do the work.', '--auto', '--json', '--model', 'openai/story'];
const resume = ['run', '--resume', '--auto', '--json', '--model', 'openai/story'];

const startsShell = (event: AgentEvent) =>
  event.type === 'tool-started' && event.tool === 'shell';
const isStep = (step: number) => (event: AgentEvent) =>
  event.type === 'step-started' && event.step === step;

function lastEvent(running: Running): AgentEvent | undefined {
  return running.events().at(-1);
}

describe('Ctrl-C', () => {
  it('C3: once stops after the running step, latches the session, and run --resume goes on', async () => {
    const line = await openCommandLine({
      steps: [
        plan('Write alpha'),
        runCommand('sleep 0.8; echo finished > step.txt'),
        ...alpha,
      ],
    });
    const running = line.start(...run);
    await running.sees(startsShell);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(running.err()).toContain(
      'Stopping after this step; Ctrl-C again stops at once.',
    );
    expect(lastEvent(running)).toMatchObject({
      type: 'run-ended',
      outcome: 'aborted',
      exitCode: 130,
    });
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
    expect(lastEvent(again)).toMatchObject({
      outcome: 'claimed',
      todos: [{ status: 'completed' }],
    });
    expect((await line.session()).latch).toBeNull();
    // What was done is not done again: the model goes on where it was.
    expect(line.model.requests).toHaveLength(5);
  });

  const isSlowBaseline = (event: AgentEvent) =>
    event.type === 'notice' &&
    event.sentence.startsWith('Before the agent begins, each check is run once');
  for (const [when, fits] of [
    ['while the checks are looked at before the work, which is told', isSlowBaseline],
    ['before anything can be stopped', ({ type }: AgentEvent) => type === 'run-started'],
  ] as const)
    it(`C3: ${when}: no model is called`, async () => {
      const line = await openCommandLine({ steps: alpha });
      const running = line.start(...run, '--check', 'sleep 100');
      await running.sees(fits);
      running.child.kill('SIGINT');
      expect(await running.ended).toBe(130);
      expect(lastEvent(running)).toMatchObject({
        type: 'run-ended',
        outcome: 'aborted',
        steps: 0,
      });
      expect(line.model.requests).toHaveLength(0);
      expect((await line.session()).latch).toMatchObject({ how: 'Ctrl-C' });
    });

  it('C3: twice stops at once and ends the command that runs', async () => {
    const line = await openCommandLine({
      steps: [
        plan('Write alpha'),
        runCommand('sleep 20; echo late > late.txt'),
        ...alpha,
      ],
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
    expect(
      await again.sees(({ type }) => type === 'run-started'),
      'another one by name',
    ).toMatchObject({
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
    const line = await openCommandLine({
      steps: [plan('Write alpha'), rateLimit(60), ...alpha],
    });
    const running = line.start(...run);
    await running.sees(({ type }) => type === 'error');
    const before = Date.now();
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(Date.now() - before).toBeLessThan(5000);
    expect(lastEvent(running)).toMatchObject({ outcome: 'aborted', reason: 'aborted' });
  });

  it('C3: twice ends a model that does not answer', async () => {
    const line = await openCommandLine({
      steps: [plan('Write alpha'), stall(), ...alpha],
    });
    const running = line.start(...run);
    await running.sees(isStep(2));
    running.child.kill('SIGINT');
    setTimeout(() => running.child.kill('SIGINT'), 100);
    expect(await running.ended).toBe(130);
  });
});

describe('from another terminal', () => {
  it('C3: stop ends the running step within a second and latches', async () => {
    const line = await openCommandLine({
      steps: [plan('Write alpha'), runCommand('sleep 20'), ...alpha],
    });
    const running = line.start(...run);
    await running.sees(startsShell);
    const stopped = await line.run('stop');
    const before = Date.now();
    expect(stopped).toMatchObject({
      code: 0,
      out: expect.stringContaining('is stopped'),
    });
    expect(await running.ended).toBe(130);
    // A second, and what a busy machine needs to end a process tree.
    expect(Date.now() - before).toBeLessThan(5000);
    expect(lastEvent(running)).toMatchObject({ outcome: 'aborted', exitCode: 130 });
    const next = /untildone run --resume \w{6}/u.exec(stopped.out)?.[0] ?? 'no command';
    const { out } = await line.runOnTerminal('resume');
    expect(out, 'first-use 25: nothing was resumed, and it says what to type').toContain(
      `is no longer stopped. No run is at work in it: \`${next}\` takes it up again.`,
    );
    expect((await line.runOnTerminal('resume')).out).toContain(
      'is neither paused nor stopped',
    );
  });

  it('V12: a stop after the end leaves outcome, proofs and report as they were; run --resume goes on as ever', async () => {
    const steps = [plan('Write alpha'), ...alpha, plan('Write beta'), stall()];
    const line = await openCommandLine({ steps });
    expect(await line.start(...run, '--check', 'test -f alpha.txt').ended).toBe(0);
    const read = async () =>
      Promise.all(
        [['report'], ['plan', 'show']].map(
          async (words) => (await line.run(...words)).out,
        ),
      );
    const before = await read();
    expect(before[0]).toContain('## done: ');
    await line.run('stop');
    expect(await read()).toEqual(before);
    const { out } = await line.run('status');
    expect(out).toMatch(
      /state +ended: done; stopped by you since [\d:]+ \(untildone stop\)/u,
    );
    expect(out).toContain('1 todo: 1 checked by the goal check');
    // The run goes on, so a stop ends it as aborted.
    const again = line.start(...resume);
    await again.sees(
      (event) => event.type === 'plan-changed' && event.todos.length === 2,
    );
    await line.run('stop');
    expect(await again.ended).toBe(130);
    expect((await line.session()).settled?.outcome).toBe('aborted');
  });

  it('C3: pause holds the run where it is, resume on a terminal lets it go on, and a pipe may not resume', async () => {
    const line = await openCommandLine({
      steps: [plan('Write alpha'), stall(), ...alpha],
    });
    const running = line.start(...run);
    await running.sees(isStep(2));
    expect(await line.run('pause')).toMatchObject({
      code: 0,
      out: expect.stringContaining('is paused'),
    });
    await running.sees(
      (event) => event.type === 'waiting' && event.reason === 'paused-by-human',
    );
    const refused = await line.run('resume');
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining('Only a human may do this'),
    });
    // Nothing happens while it is paused: the step is not begun anew.
    expect(line.model.requests).toHaveLength(2);
    expect(running.child.exitCode).toBeNull();
    const resumed = await line.runOnTerminal('resume');
    expect(resumed.out).toContain('is resumed');
    expect(await running.ended).toBe(3);
    expect(lastEvent(running)).toMatchObject({ outcome: 'claimed' });
  });

  it('C3: pause holds a run that waits as well, and stop ends a run that is paused', async () => {
    const line = await openCommandLine({
      steps: [plan('Write alpha'), rateLimit(60), ...alpha],
    });
    const running = line.start(...run);
    await running.sees(({ type }) => type === 'error');
    await line.run('pause');
    await sleep(1000);
    expect(running.child.exitCode).toBeNull();
    await line.run('stop');
    expect(await running.ended).toBe(130);
    expect(line.model.requests).toHaveLength(2);
  });

  it('P18, P37: a job that never ends holds no run back: nobody waits for it, and the outcome is told', async () => {
    const steps = [
      plan('Run it'),
      callTool('start_job', { command: 'sleep 1000', description: 'the server' }),
      complete('Run it'),
      say('It runs.'),
      say('It is meant to stay.'),
    ];
    const line = await openCommandLine({ steps });
    const running = line.start(...run);
    expect(await running.ended).toBe(3);
    expect(running.events().filter(({ type }) => type === 'waiting')).toEqual([]);
  });
});

const asking = [
  plan('Write it'),
  runCommand('echo made > made.txt'),
  complete('Write it'),
  say('Written.'),
];
const ask = ['--ask', '--json', '--model', 'openai/story'];

/** On a terminal of its own; once a text is shown, its answer is typed. */
function typed(
  line: CommandLine,
  argv: readonly string[],
  answers: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly out: string }> {
  const words = line.words(...argv).map((word) => `'${word}'`);
  const child = spawn('script', ['-qec', words.join(' '), '/dev/null'], {
    cwd: line.project,
    env: line.environment,
  });
  const left = new Map(Object.entries(answers));
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    for (const [shown, answer] of left) {
      if (!out.includes(shown)) continue;
      left.delete(shown);
      child.stdin.write(answer);
    }
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out })));
}

describe('a run that asks, without a terminal', () => {
  it('S7: killed with SIGKILL, answered by `approve` in another terminal, and resumed: the call is made', async () => {
    const line = await openCommandLine({ steps: asking });
    const running = line.start(
      'run',
      'Do it.',
      ...ask,
      '--permissions-wait-seconds',
      '600',
    );
    const asked = await running.sees(({ type }) => type === 'permission-asked');
    running.child.kill('SIGKILL');
    await running.ended;
    expect((await line.run('status')).out).toContain('its process is gone (killed?)');
    const { id } = await line.session();
    expect((await line.run('status', id)).out).toContain(
      'waits for  permission for shell',
    );
    const requestId = asked.type === 'permission-asked' ? asked.requestId : '';
    const answered = await line.runOnTerminal('approve', '--request', requestId, '--yes');
    expect(answered.out).toContain('Allowed once: shell echo made > made.txt');
    expect(existsSync(join(line.project, 'made.txt'))).toBe(false);
    const again = line.start('run', '--resume', ...ask);
    expect(await again.ended).toBe(3);
    expect(existsSync(join(line.project, 'made.txt'))).toBe(true);
    expect(again.events().filter(({ type }) => type === 'permission-asked')).toEqual([]);
  });

  it('S7: taken up without a word about it, it asks the same question again; a flag still chooses', async () => {
    const line = await openCommandLine({ steps: asking });
    const asks = ['--json', '--model', 'openai/story'];
    expect(await line.start('run', 'Do it.', '--ask', ...asks).ended).toBe(7);
    const again = line.start('run', '--resume', ...asks);
    expect(await again.ended).toBe(7);
    expect(again.events()[0]).toMatchObject({ type: 'run-started', permissions: 'ask' });
    expect(again.events().filter(({ type }) => type === 'permission-asked')).toHaveLength(
      1,
    );
    const chosen = line.start('run', '--resume', '--allow-list', ...asks);
    await chosen.ended;
    expect(chosen.events()[0]).toMatchObject({
      type: 'run-started',
      permissions: 'allow-list',
    });
  });

  it('S7, P9: ends paused with exit code 7 and says how it is answered', async () => {
    const line = await openCommandLine({ steps: asking });
    const { code, out } = await line.run(
      'run',
      'Do it.',
      '--ask',
      '--model',
      'openai/story',
    );
    expect(code).toBe(7);
    expect(out).toContain('permission asked: shell');
    expect(out).toContain('`untildone approve` answers it');
  });
});

describe('a run that asks, on a terminal', () => {
  it('S7, C3: a person at a plain terminal is asked, and their yes is heard', async () => {
    const line = await openCommandLine({ steps: asking });
    const argv = ['run', 'Do it.', '--plain', '--model', 'openai/story'];
    const { code, out } = await typed(line, argv, { 'Allow?': 'y\n' });
    expect(out).toContain('allowed once');
    expect(code).toBe(3);
    expect(existsSync(join(line.project, 'made.txt'))).toBe(true);
  });
});

describe('words from another terminal', () => {
  it('T3, C3: `say` reaches a run that is at work, which goes on with them', async () => {
    const line = await openCommandLine({
      steps: [
        plan('Write it'),
        runCommand('until test -e said; do sleep 0.1; done'),
        complete('Write it'),
        say('Written.'),
      ],
    });
    const running = line.start(
      'run',
      'Do it.',
      '--auto',
      '--json',
      '--model',
      'openai/story',
    );
    await running.sees(startsShell);
    const said = await line.runOnTerminal('say', 'Use tabs.');
    // The step runs until the message was seen, however long that takes on a busy
    // machine.
    await running.sees((event) => event.type === 'human-message');
    writeFileSync(join(line.project, 'said'), '');
    expect(said.out).toContain('The agent reads it after its running step.');
    expect(await running.ended).toBe(3);
    const messages = running
      .events()
      .flatMap((event) => (event.type === 'human-message' ? [event] : []));
    expect(messages.map(({ text, state }) => `${state}: ${text}`)).toEqual([
      'queued: Use tabs.',
      'joined: Use tabs.',
    ]);
    expect(JSON.stringify(line.model.requests.at(-1)?.body)).toContain('Use tabs.');
  });
});

describe('Ctrl-C during a check', () => {
  it('C3: the first is acknowledged at once, and the run does not sit through the check', async () => {
    const line = await openCommandLine({ steps: [plan('Write alpha'), ...alpha] });
    const running = line.start(...run, '--check', 'sleep 10');
    await running.sees(({ type }) => type === 'check-started');
    const before = Date.now();
    running.child.kill('SIGINT');
    while (!running.err().includes('Stopping')) await sleep(10);
    expect(Date.now() - before).toBeLessThan(1000);
    const ended = await running.sees(({ type }) => type === 'run-ended');
    expect(ended).toMatchObject({ outcome: 'aborted', exitCode: 130 });
    expect(Date.now() - before).toBeLessThan(8000);
  });
});
