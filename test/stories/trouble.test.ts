// Trouble that is nobody's fault or hides in the work: failing tools, cut answers,
// background jobs, loops, work that the plan does not show. Each ends bounded, and honest
// work goes through.
import { describe, expect, it } from 'vitest';
import {
  callTool,
  complete,
  cutOff,
  inOrder,
  plan,
  repeat,
  runCommand,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { play } from './play.ts';
import { oneProtocol, protocols } from './protocols.ts';
import { continuations, continuationText, ending, eventsOf, statuses } from './seen.ts';

const missing = callTool('read_file', { path: 'missing.txt' });
const alpha = [writeFile('alpha.txt', 'a'), complete('Write alpha'), say('Written.')];

describe.each(protocols)('$name', (protocol) => {
  it('P7: real work without touching the todos is progress, and the list is asked for', async () => {
    const rounds = Array.from({ length: 5 }, (_, index) => [
      writeFile('alpha.txt', `version ${index}`),
      say('I worked on it.'),
    ]).flat();
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), ...rounds, complete('Write alpha'), say('Ready.')],
    });
    // Five stops would be stagnant after three; each new state of the workspace takes
    // that back.
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(continuations(played)).toEqual(Array.from({ length: 5 }, () => 'standard'));
    expect(continuationText(played, 1)).toContain(
      'The workspace has changed but the todo list has not',
    );
    expect(eventsOf(played, 'continuation').map(({ level }) => level)).toEqual([
      1, 1, 1, 1, 1,
    ]);
  });

  it('P12, S6: a stop after a tool error gets one targeted retry; after a second one the todo is blocked and the rest goes on', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Read the notes', 'Write alpha'),
        missing,
        say('That did not work.'),
        missing,
        say('It failed again.'),
        ...alpha,
      ],
    });
    expect(continuations(played)).toEqual(['tool-error', 'standard']);
    expect(continuationText(played, 0)).toMatch(
      /The last tool call failed: .*missing\.txt/,
    );
    expect(continuationText(played, 1)).toContain('“Write alpha”');
    expect(statuses(played)).toEqual({
      'Read the notes': 'blocked',
      'Write alpha': 'completed',
    });
    expect(played.todos[0]?.reason).toContain('missing.txt');
    expect(ending(played)).toEqual({
      outcome: 'blocked',
      reason: 'all-blocked',
      exitCode: 4,
    });
  });

  it('P13: an answer cut off by the output limit is taken up at the same todo and is not stagnation', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), repeat(5, cutOff('The long answer goes')), ...alpha],
    });
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(continuations(played)).toEqual(
      Array.from({ length: 5 }, () => 'output-limit'),
    );
    expect(continuationText(played, 4)).toContain('“Write alpha”');
  });

  it('P18: a stop while a job runs is answered once with the other todo; nobody but the agent waits for it', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Run the long test', 'Write alpha'),
        callTool('start_job', {
          command: 'sleep 0.6; echo finished',
          description: 'the long test',
        }),
        say('The test is running.'),
        writeFile('alpha.txt', 'a'),
        complete('Write alpha'),
        say('Now I wait for the test.'),
        callTool('read_job', { job: 'job-1' }),
        complete('Run the long test'),
        say('The test passed.'),
      ],
    });
    expect(continuations(played)).toEqual(['background-job', 'standard']);
    expect(continuationText(played, 0)).toContain('the long test');
    expect(continuationText(played, 0)).toContain('wait for it with read_job');
    expect(eventsOf(played, 'waiting'), 'nobody waits for a shell job').toEqual([]);
    expect(statuses(played)).toEqual({
      'Run the long test': 'completed',
      'Write alpha': 'completed',
    });
  });

  it('P25, I8: calling A B A B is broken by another text, and going on with it ends the turn', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), writeFile('a.txt', 'a'), writeFile('b.txt', 'b')],
      afterwards: inOrder(
        callTool('read_file', { path: 'a.txt' }),
        callTool('read_file', { path: 'b.txt' }),
      ),
    });
    expect(ending(played)).toEqual({
      outcome: 'stagnant',
      reason: 'looping',
      exitCode: 5,
    });
    expect(continuations(played)).toEqual(['loop']);
    expect(eventsOf(played, 'notice').map(({ sentence }) => sentence)).toEqual([
      expect.stringContaining('read_file → read_file, 3 times'),
      expect.stringContaining('read_file → read_file, 3 times'),
    ]);
    expect(played.requests.length).toBeLessThan(20);
  });
});

describe('the twins of these stories', () => {
  const protocol = oneProtocol;

  it('P7: calls that leave the workspace as it was are no progress', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha')],
      afterwards: inOrder(writeFile('alpha.txt', 'the same'), say('I worked on it.')),
    });
    expect(ending(played)).toEqual({
      outcome: 'stagnant',
      reason: 'stagnant',
      exitCode: 5,
    });
    expect(continuations(played)).toHaveLength(3);
  });

  it('P12: a tool error that the agent works around by itself is none of our business', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), missing, ...alpha],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(continuations(played)).toEqual([]);
  });

  it('S6: a non-zero exit is a result, not a tool error', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha'),
        runCommand('exit 3'),
        say('It exits with 3.'),
        ...alpha,
      ],
    });
    expect(continuations(played)).toEqual(['standard']);
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
  });

  it('P18: a server that never ends is not waited for without bound', async () => {
    const played = await play({
      protocol,
      // Three seconds of the story's clock; the job would run for a minute.
      settings: { backgroundWaitMinutes: 0.05 },
      steps: [
        plan('Write alpha'),
        callTool('start_job', {
          command: 'sleep 60',
          description: 'the development server',
        }),
        say('The server runs.'),
        say('It still runs.'),
        ...alpha,
      ],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(continuations(played)).toEqual(['background-job', 'standard']);
    expect(played.ended.milliseconds).toBeLessThan(60_000);
  });

  it('P25: an agent that leaves the loop when it is told goes on undisturbed', async () => {
    const round = [
      callTool('read_file', { path: 'a.txt' }),
      callTool('list_directory', { path: '.' }),
    ];
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha'),
        writeFile('a.txt', 'a'),
        repeat(3, ...round),
        ...alpha,
      ],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(continuations(played)).toEqual(['loop']);
  });

  it('P25: the same tool with other inputs is work, not a loop', async () => {
    const reads = Array.from({ length: 12 }, (_, index) =>
      callTool('read_file', { path: `${index}.txt` }),
    );
    const writes = Array.from({ length: 12 }, (_, index) =>
      writeFile(`${index}.txt`, `${index}`),
    );
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), ...writes, ...reads, ...alpha],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(continuations(played)).toEqual([]);
    expect(eventsOf(played, 'notice')).toEqual([]);
  });
});

describe('a job that takes its time', () => {
  const wait = callTool('read_job', { job: 'job-1', waitSeconds: 1 });
  const job = callTool('start_job', {
    command: 'sleep 6; touch built',
    description: 'the build',
  });
  const steps = [
    plan('Build it'),
    job,
    repeat(7, wait),
    complete('Build it'),
    say('Built.'),
  ];
  const iterations = { base: 6, extend: 0, cap: 6 };

  it('P18: waiting for it while it lives is neither a loop nor stagnation', async () => {
    const played = await play({ protocol: oneProtocol, settings: { iterations }, steps });
    expect(eventsOf(played, 'notice')).toEqual([]);
    expect(continuations(played)).toEqual([]);
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
  });

  it('P18: waiting longer than backgroundWaitMinutes counts like any other step', async () => {
    const settings = { iterations, backgroundWaitMinutes: 0 };
    const played = await play({ protocol: oneProtocol, settings, steps });
    expect(eventsOf(played, 'notice')).toEqual([]);
    expect(continuations(played)[0]).toBe('iteration-budget');
  });

  it('I8: looking at it without waiting, or at one that has ended, again and again is a loop', async () => {
    const look = (waitSeconds: number) =>
      repeat(5, callTool('read_job', { job: 'job-1', waitSeconds }));
    const start = (command: string) => callTool('start_job', { command });
    for (const [command, seconds] of [
      ['sleep 60', 0],
      ['true', 1],
    ] as const) {
      const played = await play({
        protocol: oneProtocol,
        settings: { backgroundWaitMinutes: 0.05 },
        steps: [
          plan('Build it'),
          start(command),
          runCommand('sleep 0.3'),
          look(seconds),
          say('Hm.'),
        ],
      });
      expect(continuations(played)[0]).toBe('loop');
    }
  });
});

describe('a server beside the work', () => {
  it('P18: is no reason to wait when the steps of a busy agent are cut', async () => {
    const files = Array.from({ length: 8 }, (_, index) =>
      writeFile(`${index}.txt`, `${index}`),
    );
    const played = await play({
      protocol: oneProtocol,
      settings: { iterations: { base: 4, extend: 0, cap: 4 } },
      steps: [
        plan('Write alpha'),
        callTool('start_job', {
          command: 'sleep 60',
          description: 'the development server',
        }),
        say('The server runs.'),
        ...files,
        ...alpha,
      ],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(continuations(played)).toEqual([
      'background-job',
      'iteration-budget',
      'iteration-budget',
    ]);
    expect(eventsOf(played, 'waiting'), 'nor at the end').toEqual([]);
  });
});
