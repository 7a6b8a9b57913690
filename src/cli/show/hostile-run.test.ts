// Must hold 6: whatever stands in any field of any event, the terminal stays intact.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attacks, poison } from '../../../test/support/hostile-texts.ts';
import { sampleRun } from '../../../test/support/sample-run.ts';
import type { AgentEvent } from '../../agent/agent-event.ts';
import { createJsonPrinter } from './events.ts';
import { createLinePrinter } from './lines.ts';

const ESC = '\u001b';
const megabyte = 'x'.repeat(1_000_000);
const floods: Readonly<Record<string, string>> = {
  'a megabyte on one line': megabyte,
  'a megabyte of spaces': `a${' '.repeat(1_000_000)}b`,
  'a flood of openers': `${`${ESC}]`.repeat(200_000)}${'\u009d'.repeat(200_000)}\n`,
  'a heap of marks': `e${'\u0301'.repeat(300_000)}`,
  'a megabyte of line breaks': '\n'.repeat(1_000_000),
  'a megabyte of code on one line': `\`\`\`\n${'x'.repeat(1_000_000)}`,
  'fences without an end': `${'`'.repeat(2000)}\n`.repeat(100),
};

interface Look {
  readonly columns: number | null;
  readonly color: boolean;
  readonly unicode: boolean;
  readonly isTTY: boolean;
}
const looks: readonly Look[] = [
  { columns: 80, color: true, unicode: true, isTTY: true },
  { columns: 40, color: false, unicode: true, isTTY: true },
  { columns: 1, color: false, unicode: false, isTTY: true },
  { columns: null, color: false, unicode: true, isTTY: false },
  { columns: null, color: false, unicode: false, isTTY: false },
];

function printed(events: readonly AgentEvent[], look: Look): string {
  const writes: string[] = [];
  const { print } = createLinePrinter({
    look,
    ...look,
    write: (text) => writes.push(text),
  });
  for (const event of events) print(event);
  return writes.join('');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the claim is that none of these is left
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours are escape sequences
const ours = /\u001b\[(?:1|2|22|31|32|33|39)m/gu;

function expectIntact(output: string, look: Look): void {
  const rest = look.color ? output.replace(ours, '') : output;
  const at = rest.search(control);
  expect(at === -1 ? null : rest.slice(Math.max(0, at - 40), at + 40)).toBeNull();
  if (!look.unicode) expect(/[^\n\x20-\x7e]/.exec(rest)).toBeNull();
}

describe('Must hold 6: a hostile run', () => {
  it.each(Object.entries(attacks))(
    '%s in every field of every event reaches no terminal',
    (_name, attack) => {
      const events = sampleRun.map((event) => poison(event, attack));
      for (const look of looks) expectIntact(printed(events, look), look);
    },
  );

  it.each(Object.entries(floods))(
    '%s in every field is shown in no time',
    (_name, flood) => {
      const events = sampleRun.map((event) => poison(event, flood));
      const began = process.cpuUsage();
      for (const look of looks.slice(1, 4)) expectIntact(printed(events, look), look);
      // Of the processor, since a busy machine makes anything wait; what it guards
      // against takes minutes.
      expect(process.cpuUsage(began).user / 1000).toBeLessThan(15_000);
    },
  );

  it.each(Object.entries(attacks))(
    '%s leaves JSON that means the same and acts on nothing',
    (_name, attack) => {
      const writes: string[] = [];
      const print = createJsonPrinter((text) => writes.push(text));
      const events = sampleRun.map((event) => poison(event, attack));
      for (const event of events) print(event);
      expect(writes).toHaveLength(events.length);
      for (const [index, line] of writes.entries()) {
        expect(control.test(line.slice(0, -1))).toBe(false);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(JSON.parse(line)).toEqual({ v: 1, ...events[index] });
      }
    },
  );

  it('no line of a stranger stands where a line of ours would', () => {
    const events = sampleRun.map((event) => poison(event, attacks['fake lines'] ?? ''));
    for (const look of looks) {
      const lines = printed(events, look).split('\n');
      const outcomes = lines.filter((line) =>
        line.replace(ours, '').startsWith('outcome: '),
      );
      expect(outcomes).toHaveLength(1);
      expect(outcomes[0]).toContain('blocked');
      expect(
        lines.filter((line) => /^(?:\[x\]|plan \[[█#]{8})/u.test(line.replace(ours, ''))),
      ).toEqual([]);
    }
  });

  it('a megabyte in any field but the answer is cut, and takes no time', () => {
    const events = sampleRun
      .filter(({ type }) => type !== 'text')
      .map((event) => poison(event, megabyte));
    const began = performance.now();
    for (const look of looks) expect(printed(events, look).length).toBeLessThan(60_000);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('an escape sequence that is spread over pieces is removed as if it were whole', () => {
    const hostile = `one ${ESC}]52;c;ZXZpbA==\u0007two ${ESC}[1;31mthree${ESC}(B fo\u009b31mur\r\nfive 👩‍👩‍👧 six`;
    const [start] = sampleRun;
    fc.assert(
      fc.property(
        fc.array(fc.nat(hostile.length), { maxLength: 12 }),
        fc.constantFrom(...looks),
        (cuts, look) => {
          const at = [0, ...cuts.toSorted((one, other) => one - other), hostile.length];
          const pieces = at.slice(1).map((end, index) => hostile.slice(at[index], end));
          const texts = pieces.map(
            (text) => ({ ...start, type: 'text', text }) as AgentEvent,
          );
          const end = { ...start, type: 'notice', sentence: 'x' } as AgentEvent;
          const whole = { ...start, type: 'text', text: hostile } as AgentEvent;
          expect(printed([...texts, end], look)).toBe(printed([whole, end], look));
          expect(printed([whole, end], look)).toContain('one two');
        },
      ),
    );
  });
});
