// Recorded events of pi 0.87.1, in our words.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  describeTools,
  isAnswered,
  isEscape,
  readCall,
  readInput,
  readMessage,
  readTurn,
  withPlan,
} from './translate.ts';

type Recorded = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly message?: { readonly stopReason?: string; readonly errorMessage?: string };
};
const recorded = JSON.parse(
  readFileSync(new URL('./fixtures/events.json', import.meta.url), 'utf8'),
) as readonly Recorded[];
const of = (type: string) => recorded.filter((event) => event.type === type);
const turn = (stopReason: string, error = '') => {
  const found = of('turn_end').find(
    ({ message }) =>
      message?.stopReason === stopReason && (message.errorMessage ?? '').includes(error),
  );
  return readTurn(found, 1000);
};

describe('steps of the model', () => {
  it('G2: an answer without calls is a stop, one with calls goes on', () => {
    expect(turn('stop')).toMatchObject({ end: 'normal', goesOn: false, error: null });
    expect(turn('toolUse')).toMatchObject({ goesOn: true });
    expect(turn('length')).toMatchObject({ end: 'length', goesOn: false });
  });

  it('G4: what the human broke off is cancelled, and no error', () => {
    expect(turn('aborted')).toMatchObject({
      end: 'cancelled',
      goesOn: false,
      error: null,
    });
  });

  it('P21 P15: errors of the provider are told apart', () => {
    expect(turn('error', '400')).toMatchObject({
      end: 'error',
      error: { kind: 'other' },
    });
    expect(turn('error', '429')).toMatchObject({
      end: 'error',
      error: { kind: 'rate-limit' },
    });
    expect(turn('error', 'content_filter')).toMatchObject({ end: 'content-filter' });
  });

  it('P14: a step with thoughts alone is empty', () => {
    const content = [{ type: 'thinking', thinking: 'What is left?' }];
    expect(
      readTurn({ message: { role: 'assistant', stopReason: 'stop', content } }, 0).end,
    ).toBe('empty');
  });

  it('P8: a question at the end is seen', () => {
    const content = [{ type: 'text', text: 'Shall I go on?' }];
    expect(
      readTurn({ message: { role: 'assistant', stopReason: 'stop', content } }, 0)
        .question,
    ).toBe(true);
  });

  it('G8: tokens of the cache count as read', () => {
    expect(turn('stop').usage).toMatchObject({ type: 'usage-reported', cost: 0 });
    const usage = {
      input: 10,
      output: 5,
      cacheRead: 7,
      cacheWrite: 3,
      cost: { total: 0.5 },
    };
    expect(readTurn({ message: { usage } }, 0).usage).toMatchObject({
      inputTokens: 20,
      outputTokens: 5,
      cost: 0.5,
    });
  });
});

describe('calls', () => {
  it('V4: what may write is told from what reads, and ours from both', () => {
    const accesses = of('tool_execution_start').map((event) => readCall(event)?.call);
    expect(accesses).toEqual([
      { tool: 'write', access: 'write' },
      { tool: 'read', access: 'read' },
    ]);
    expect(readCall({ toolCallId: 'a', toolName: 'bash' })?.call.access).toBe('unknown');
    expect(readCall({ toolCallId: 'a', toolName: 'todo_write' })?.call.access).toBe(
      'todo',
    );
  });

  it('P12: an error comes in the words that the model reads', () => {
    const errors = of('tool_execution_end').map((event) => readCall(event)?.error);
    expect(errors).toEqual([null, expect.stringContaining('ENOENT')]);
  });
});

describe('words', () => {
  it('E6: what an extension sends is not a human, whatever it says', () => {
    expect(of('input').map(readInput)).toEqual(['Do it [script:s]']);
    expect(readInput({ text: 'Go on.', source: 'interactive' })).toBe('Go on.');
    expect(readInput({ text: 'Go on.', source: 'extension' })).toBeNull();
  });

  it('V5: a text counts as answered only if the model spoke after it, and not before it was sent', () => {
    const entry = (role: string, text: string, second: number) => ({
      type: 'message',
      timestamp: new Date(second * 1000).toISOString(),
      message: { role, content: [{ type: 'text', text }] },
    });
    const entries = [
      entry('user', 'Go on.', 1),
      entry('assistant', 'Yes.', 2),
      entry('user', 'Go on.', 3),
    ];
    expect(isAnswered(entries, 'Go on.', 0)).toBe(false);
    expect(isAnswered([...entries, entry('assistant', 'Yes.', 4)], 'Go on.', 3000)).toBe(
      true,
    );
    expect(isAnswered(entries.slice(0, 2), 'Go on.', 3000)).toBe(false);
    expect(isAnswered([null, 7, { message: 'x' }], 'Go on.', 0)).toBe(false);
  });

  it('P23: the plan stands behind the last summary, and nowhere without one', () => {
    const messages = [{ role: 'compactionSummary' }, { role: 'user' }];
    const note = expect.objectContaining({ role: 'custom', content: 'the plan' });
    expect(withPlan(messages, 'the plan', 0)).toEqual({
      messages: [messages[0], note, messages[1]],
    });
    expect(withPlan([{ role: 'user' }], 'the plan', 0)).toBeUndefined();
    expect(withPlan('garbage', 'the plan', 0)).toBeUndefined();
  });

  it('C3: Escape is known in both ways in which terminals send it, and arrows are not Escape', () => {
    expect(
      ['\u001b', '\u001b[27u', '\u001b[27;1u', '\u001b[27;1:1u'].every(isEscape),
    ).toBe(true);
    expect(['\u001b[A', 'x', '', '\u001b\u001b'].some(isEscape)).toBe(false);
  });
});

describe('who may write', () => {
  it('P26: a start with tools that read is a reader; any other tool makes a writer', () => {
    expect(describeTools(['read', 'grep', 'find', 'ls'])).toMatchObject({
      canWrite: 'no',
    });
    expect(describeTools(['read', 'todo_write'])).toMatchObject({ canWrite: 'no' });
    for (const tool of ['bash', 'edit', 'write', 'of_another_extension'])
      expect(describeTools(['read', tool])).toMatchObject({ canWrite: 'yes' });
  });

  it('E6: only tools that the model has are named to it', () => {
    expect(describeTools(['bash', 'todo_pause']).tools).toEqual({
      pause: 'todo_pause',
      verify: null,
    });
  });
});

describe('what nobody expected', () => {
  it('is missing, and throws nothing', () => {
    for (const garbage of [
      null,
      undefined,
      7,
      'x',
      [],
      {},
      { message: [] },
      { message: { content: 'x' } },
    ]) {
      expect(readTurn(garbage, 0)).toMatchObject({ goesOn: false });
      expect([readCall(garbage), readInput(garbage), readMessage(garbage)]).toEqual([
        null,
        null,
        null,
      ]);
    }
  });
});
