// The calls of one answer: in which order they are made, and what a model hears about one
// that cannot be made.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  callTool,
  complete,
  parallel,
  plan,
  repeat,
  runCommand,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { play } from './play.ts';
import { oneProtocol, protocols } from './protocols.ts';
import { continuations, ending, eventsOf, lastResults, statuses } from './seen.ts';

describe.each(protocols)('$name', (protocol) => {
  it('S6: two commands of one answer write in the order of the answer', async () => {
    const played = await play({
      protocol,
      steps: [
        parallel(runCommand('sleep 0.4; echo one >> log'), runCommand('echo two >> log')),
        say('Written.'),
      ],
    });
    expect(readFileSync(join(played.root, 'log'), 'utf8')).toBe('one\ntwo\n');
  });
});

describe('the order of the calls of one answer', () => {
  it('S6: a todo is claimed, and a file read, only after the command in front of it has ended', async () => {
    const played = await play({
      protocol: oneProtocol,
      steps: [
        plan('Make it'),
        parallel(
          runCommand('sleep 0.4; echo made > made.txt'),
          callTool('read_file', { path: 'made.txt' }),
          complete('Make it'),
        ),
        say('Made.'),
      ],
    });
    expect(continuations(played)).toEqual([]);
    expect(statuses(played)).toEqual({ 'Make it': 'completed' });
    const results = played.requests.flatMap((request) =>
      lastResults(request).map(({ text }) => text),
    );
    expect(
      results.some((text) => text.includes('made') && !text.includes('There is no')),
    ).toBe(true);
    const ends = eventsOf(played, 'tool-ended').map(({ tool, ok }) => `${tool} ${ok}`);
    expect(ends.slice(-3)).toEqual([
      'shell true',
      'read_file true',
      'complete_todo true',
    ]);
  });

  it('S6: what only reads overlaps', async () => {
    const read = (job: string) => callTool('read_job', { job, waitSeconds: 5 });
    const played = await play({
      protocol: oneProtocol,
      steps: [
        parallel(
          callTool('start_job', { command: 'sleep 1; echo a' }),
          callTool('start_job', { command: 'sleep 1; echo b' }),
        ),
        parallel(read('job-1'), read('job-2')),
        say('Both are over.'),
      ],
    });
    const order = played.events.flatMap(({ type }) =>
      type.startsWith('tool-') ? [type] : [],
    );
    expect(order.slice(-4)).toEqual([
      'tool-started',
      'tool-started',
      'tool-ended',
      'tool-ended',
    ]);
  });

  it('S7: behind a call that waits for a human in vain nothing of the answer is done', async () => {
    const played = await play({
      protocol: oneProtocol,
      permissions: { mode: 'ask', shellAllow: [] },
      steps: [
        plan('Ask'),
        parallel(runCommand('rm -r build'), complete('Ask')),
        say('Ready.'),
      ],
    });
    expect(ending(played)).toMatchObject({ outcome: 'paused' });
    expect(statuses(played)).toEqual({ Ask: 'pending' });
  });
});

describe('a call that cannot be read', () => {
  // Gemini's wire carries objects: there an input cannot be cut off.
  it.each(protocols.filter(({ api }) => api !== 'google'))(
    'S6: input that is no JSON is answered with one sentence ($name)',
    async (protocol) => {
      const played = await play({
        protocol,
        steps: [
          callTool('write_file', '{"path": "a.txt", "content": "half'),
          say('I give up.'),
        ],
      });
      const [result] = lastResults(played.requests[1]!);
      expect(result?.text).toContain(
        'The input of write_file is not valid JSON, or it was cut off: send one JSON object with path, content.',
      );
      expect(JSON.stringify(played.requests[1]!.body)).not.toMatch(
        /AI_|JSONParse|Error message|half/,
      );
      expect(eventsOf(played, 'tool-ended')).toMatchObject([
        { tool: 'write_file', ok: false },
      ]);
    },
  );

  it('S6: an unknown tool is answered with those that there are', async () => {
    const played = await play({
      protocol: oneProtocol,
      steps: [callTool('bash', { command: 'ls' }), say('I see.')],
    });
    const [result] = lastResults(played.requests[1]!);
    expect(result?.text).toMatch(
      /^There is no tool “bash”; there are create_todo, .*shell/,
    );
  });

  it('I8: the same one again and again is a loop', async () => {
    const played = await play({
      protocol: oneProtocol,
      steps: [
        plan('Write alpha'),
        repeat(9, callTool('write_file', '{"path')),
        say('No.'),
      ],
    });
    expect(ending(played)).toMatchObject({ outcome: 'stagnant', reason: 'looping' });
  });

  it.each([
    ['a wrong id', { todoId: 'none', outcome: 'x' }],
    ['a missing outcome', { todoId: 'none' }],
    ['an input that is no JSON', '{"todoId'],
  ])('S6: a slip with a todo tool blocks no todo: %s', async (_, input) => {
    const slip = callTool('complete_todo', input);
    const played = await play({
      protocol: oneProtocol,
      steps: [
        plan('Write alpha'),
        slip,
        say('Hm.'),
        slip,
        say('Hm, again.'),
        writeFile('alpha.txt', 'a'),
        complete('Write alpha'),
        say('Written.'),
      ],
    });
    expect(continuations(played)).toEqual(['standard', 'standard']);
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
  });
});
