import { describe, expect, it } from 'vitest';
import { exchange } from '../../../test/support/history-cases.ts';
import {
  calibrateRatio,
  estimateMessages,
  estimateTokens,
  estimateValue,
} from './history.ts';

describe('G8: an estimate of tokens', () => {
  // The figures are by rule of thumb (a word or four letters, a mark, a CJK character
  // each about one token); what counts is that an estimate is never below them: that
  // would let a prompt overflow.
  it.each([
    [
      'English',
      'The quick brown fox jumps over the lazy dog and runs into the forest.',
      15,
    ],
    [
      'German',
      'Die Geschwindigkeitsbegrenzung gilt außerhalb geschlossener Ortschaften.',
      16,
    ],
    [
      'code',
      'export function f(a: number): number {\n  return a * 2 + (b ?? 0);\n}\n',
      25,
    ],
    ['JSON', '{"id":"a1b2","status":"pending","order":3,"title":"x"}', 22],
    ['Chinese', '今天我们需要完成所有的测试并更新文档', 14],
    ['Japanese', 'すべてのテストを完了してドキュメントを更新する', 16],
    ['Korean', '모든 테스트를 완료하고 문서를 업데이트합니다', 18],
    ['Russian', 'Нужно закончить все тесты и обновить документацию', 14],
    ['emoji', '🎉🚀✅🔥', 8],
  ])(
    'of %s is not below what it costs, nor beyond three times that',
    (_name, text, tokens) => {
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(tokens);
      expect(estimateTokens(text)).toBeLessThanOrEqual(3 * tokens);
    },
  );

  it('is nothing for nothing, and grows with the text', () => {
    expect(estimateTokens('')).toBe(0);
    expect(estimateTokens('word '.repeat(2000))).toBeGreaterThan(2000);
  });

  it('counts calls and results, and a picture by what it costs instead of by its bytes', () => {
    expect(estimateMessages(exchange(['x'], false, 'y'.repeat(3000)))).toBeGreaterThan(
      800,
    );
    const picture = { type: 'file', mediaType: 'image/png', data: 'A'.repeat(1_000_000) };
    expect(estimateValue([picture])).toBeLessThan(2000);
  });

  it('leaves out what only the provider reads', () => {
    expect(
      estimateValue({ text: 'a', providerOptions: { openai: 'x'.repeat(9000) } }),
    ).toBeLessThan(10);
  });

  it('takes a megabyte in its stride', () => {
    const started = performance.now();
    estimateTokens('import x from "y";\n'.repeat(55_000));
    expect(performance.now() - started).toBeLessThan(500);
  });

  it('learns from what the provider reports: up at once, down slowly', () => {
    expect(calibrateRatio(1, 1000, 1300)).toBeCloseTo(1.3);
    expect(calibrateRatio(1.3, 1000, 800)).toBeCloseTo(1.2);
    let ratio = 1.3;
    for (let call = 0; call < 40; call += 1) ratio = calibrateRatio(ratio, 1000, 800);
    expect(ratio).toBeCloseTo(0.8, 2);
  });

  it.each([
    [100, 900],
    [1000, 0],
    [1000, Number.NaN],
  ])('learns nothing from %i estimated and %i reported', (estimated, reported) => {
    expect(calibrateRatio(1.1, estimated, reported)).toBe(1.1);
  });
});
