// Holding back alone, without streams or time: what goes in and what comes out, for any
// sequence of parts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holdBack } from './guard-transform.ts';

interface TestPart {
  readonly type: string;
  readonly text?: string;
  readonly index?: number;
}

const part = (type: string, text?: string): TestPart =>
  text === undefined ? { type } : { type, text };
const types = (parts: readonly TestPart[]) => parts.map(({ type }) => type);

const heldTypes = [
  'text-start',
  'text-delta',
  'text-end',
  'source',
  'file',
  'finish-step',
];
const passingTypes = [
  'start',
  'start-step',
  'reasoning-delta',
  'raw',
  'ping',
  'custom',
  'loop-alarm',
  'notice',
];
const toolTypes = [
  'tool-input-start',
  'tool-input-delta',
  'tool-call',
  'tool-result',
  'tool-error',
];
const anySequence = (kinds: readonly string[]) =>
  fc
    .array(fc.constantFrom(...kinds), { maxLength: 40 })
    .map((list) =>
      [...list, 'finish'].map(
        (type, index): TestPart => ({ type, index, text: `<${index}>` }),
      ),
    );

describe('holding back an answer', () => {
  it('I1: text, sources, files and the end of the step wait; everything else passes at once', () => {
    for (const type of heldTypes) expect(holdBack('answer').take(part(type))).toEqual([]);
    for (const type of passingTypes)
      expect(types(holdBack('answer').take(part(type)))).toEqual([type]);
  });

  it('I1: with the first part of a tool call everything held comes out before it, and nothing more is held', () => {
    const hold = holdBack<TestPart>('answer');
    for (const text of ['I will', ' look']) hold.take(part('text-delta', text));
    expect(hold.take(part('tool-input-start'))).toEqual([
      part('text-delta', 'I will'),
      part('text-delta', ' look'),
      part('tool-input-start'),
    ]);
    expect(types(hold.take(part('text-delta', 'more')))).toEqual(['text-delta']);
    expect(types(hold.take(part('finish-step')))).toEqual(['finish-step']);
    expect(types(hold.take(part('finish')))).toEqual([]);
    expect(types(hold.release())).toEqual(['finish']);
  });

  it('I1: an error or an abort lets the text out before it', () => {
    for (const type of ['error', 'abort']) {
      const hold = holdBack<TestPart>('answer');
      hold.take(part('text-delta', 'half a'));
      expect(types(hold.take(part(type)))).toEqual(['text-delta', type]);
    }
  });

  it('I1: without open todos only the end of the step waits', () => {
    const hold = holdBack<TestPart>('end');
    expect(types(hold.take(part('text-delta', 'hello')))).toEqual(['text-delta']);
    expect(types(hold.take(part('finish-step')))).toEqual([]);
    expect(types(hold.release())).toEqual(['finish-step']);
  });

  it('I1: an answer that is sent back gives its text and the end of its step, neither text parts nor a finish', () => {
    const hold = holdBack<TestPart>('answer');
    for (const given of [
      part('text-delta', 'All '),
      part('source'),
      part('text-delta', 'done'),
      part('finish-step'),
    ])
      hold.take(given);
    hold.take(part('finish'));
    expect(hold.withhold()).toEqual({ text: 'All done', passing: [part('finish-step')] });
    expect(hold.release()).toEqual([]);
  });
});

describe('for any sequence of parts', () => {
  const modes = fc.constantFrom('answer' as const, 'end' as const);

  it('I1: released, nothing is lost or doubled, each kind keeps its order, and one finish comes last', () => {
    fc.assert(
      fc.property(
        anySequence([
          ...heldTypes,
          ...passingTypes,
          ...toolTypes,
          'error',
          'abort',
          'finish',
        ]),
        modes,
        (given, mode) => {
          const hold = holdBack<TestPart>(mode);
          const out = [...given.flatMap((each) => hold.take(each)), ...hold.release()];
          const lastFinish = given.at(-1);
          const kept = given.filter(
            (each) => each.type !== 'finish' || each === lastFinish,
          );
          expect(new Set(out).size).toBe(out.length);
          expect([...out].sort(byIndex)).toEqual(kept);
          expect(out.at(-1)).toBe(lastFinish);
          const isHeld = ({ type }: TestPart) => heldTypes.includes(type);
          expect(out.filter((each) => !isHeld(each))).toEqual(
            kept.filter((each) => !isHeld(each)),
          );
          if (mode === 'answer') expect(out.filter(isHeld)).toEqual(kept.filter(isHeld));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('I1: a part that is not held leaves in the very call that brought it, as the last one', () => {
    fc.assert(
      fc.property(
        anySequence([...heldTypes, ...passingTypes, ...toolTypes, 'error']),
        modes,
        (given, mode) => {
          const hold = holdBack<TestPart>(mode);
          for (const each of given) {
            const out = hold.take(each);
            if (!heldTypes.includes(each.type) && each.type !== 'finish')
              expect(out.at(-1)).toBe(each);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('I1: sent back without any tool part, no text part ever leaves, and all of the text is handed over', () => {
    fc.assert(
      fc.property(anySequence([...heldTypes, ...passingTypes]), (given) => {
        const hold = holdBack<TestPart>('answer');
        const out = given.flatMap((each) => hold.take(each));
        const { text, passing } = hold.withhold();
        const shown = types([...out, ...passing, ...hold.release()]);
        expect(
          shown.filter((type) => type === 'finish' || type.startsWith('text-')),
        ).toEqual([]);
        const said = given
          .filter(({ type }) => type === 'text-delta')
          .map((each) => each.text);
        expect(text).toBe(said.join(''));
      }),
      { numRuns: 1000 },
    );
  });
});

function byIndex(left: TestPart, right: TestPart): number {
  return (left.index ?? 0) - (right.index ?? 0);
}
