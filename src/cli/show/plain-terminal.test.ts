import { PassThrough } from 'node:stream';
import { setImmediate as soon } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createCommandBench } from '../../../test/support/command-bench.ts';
import { event } from '../../../test/support/sample-run.ts';
import type { Hand } from './keys.ts';
import { plainTerminalOutput } from './output.ts';

function openTerminal() {
  const heard: string[] = [];
  const hand: { -readonly [Act in keyof Hand]: Hand[Act] } = {
    say: async ({ text }) => void heard.push(`say ${text}`),
    answer: async ({ requestId, remembered }) =>
      void heard.push(`answer ${requestId} ${remembered}`),
  };
  let shown = '';
  const input = new PassThrough();
  const { clock } = createCommandBench();
  const io = {
    stdout: { write: () => {} },
    stderr: { write: (text: string) => (shown += text) },
    env: {},
    cwd: '/',
    isTTY: true,
    clock,
    whyNoHuman: async () => null,
    agentAbove: async () => null,
    agentSessions: async () => [],
  };
  const output = plainTerminalOutput(io, () => {}, hand, input);
  const type = async (line: string): Promise<void> => {
    input.write(`${line}\n`);
    for (let turn = 0; turn < 5; turn += 1) await soon();
  };
  return { output, type, heard, hand, shown: () => shown, input };
}

const asked = (requestId: string) =>
  event(1, {
    type: 'permission-asked',
    requestId,
    tool: 'shell',
    subject: 'x',
    pattern: '= x',
    choices: ['once', 'session', 'always', 'no'],
  });

describe('a person at a plain terminal', () => {
  it('T3: speaks to the agent with every line that answers nothing', async () => {
    const { type, heard } = openTerminal();
    await type('use tabs');
    expect(heard).toEqual(['say use tabs']);
  });

  it('T3: is told why what they typed was not taken', async () => {
    const { type, hand, shown } = openTerminal();
    hand.say = async () => 'The run has not begun: say it again in a moment.';
    await type('use tabs');
    expect(shown()).toBe('The run has not begun: say it again in a moment.\n');
  });

  it('S7: answers the permission that is asked for, one after the other', async () => {
    const { output, type, heard, shown } = openTerminal();
    output.emit(asked('r1'));
    output.emit(asked('r2'));
    await type('s');
    output.emit(
      event(2, {
        type: 'permission-answered',
        requestId: 'r1',
        granted: true,
        remembered: 'session',
        by: 'terminal',
      }),
    );
    await type('n');
    expect(heard).toEqual(['answer r1 session', 'answer r2 no']);
    expect(shown().match(/Allow\?/gu)).toHaveLength(2);
  });

  it.each([
    ['elsewhere', 1],
    ['terminal', 0],
  ] as const)(
    'C3: the prompt of a question that was answered %s gets %i line breaks',
    (by, breaks) => {
      const { output, shown } = openTerminal();
      output.emit(asked('r1'));
      const answer = { granted: true, remembered: 'once', by } as const;
      output.emit(event(2, { type: 'permission-answered', requestId: 'r1', ...answer }));
      expect(shown().split('\n')).toHaveLength(breaks + 1);
    },
  );

  it('C3: a bare Enter leaves a permission open, and other words go to the agent', async () => {
    const { output, type, heard, shown } = openTerminal();
    output.emit(asked('r1'));
    await type('');
    expect(shown()).toContain('Left open');
    await type('why do you need that?');
    await type('y');
    expect(heard).toEqual(['say why do you need that?', 'answer r1 once']);
  });

  it.each(['q', 'maybe', 'OK', '?'])(
    'C3: %j is no answer, and is not sent to the agent',
    async (line) => {
      const { output, type, heard, shown } = openTerminal();
      output.emit(asked('r1'));
      await type(line);
      expect(heard).toEqual([]);
      expect(shown()).toContain(`"${line}" was not understood`);
      expect(shown().match(/Allow\?/gu)).toHaveLength(2);
      await type('stop');
      expect(heard).toEqual(['say stop']);
    },
  );

  it.each([
    ['y', { approved: true, reason: '' }],
    ['it is blue', { approved: false, reason: 'it is blue' }],
    ['', null],
  ])('V1: answers a check for a human with %j', async (line, answer) => {
    const { output, type, shown } = openTerminal();
    const answered = output.ask?.('Is it \u001b[31mred?');
    await type(line);
    expect(await answered).toEqual(answer);
    expect(shown()).not.toContain('\u001b');
    expect(shown()).toContain('Is it \\x1b[31mred?');
  });

  it('V1: a terminal that is closed leaves the question open', async () => {
    const { output, input } = openTerminal();
    const answered = output.ask?.('Is it red?');
    input.end();
    expect(await answered).toBeNull();
  });
});
