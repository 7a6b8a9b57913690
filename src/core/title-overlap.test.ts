import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bigramOverlap, bigrams, rewordedOverlap } from './reconcile.ts';
import { normaliseTitle } from './todo.ts';

const titleOverlap = (one: string, other: string) =>
  bigramOverlap(bigrams(one), bigrams(other));
const overlap = (one: string, other: string) =>
  titleOverlap(normaliseTitle(one), normaliseTitle(other));

describe('titleOverlap', () => {
  it.each([
    ['English', 'Write tests for the parser', 'Write unit tests for the parser'],
    ['German', 'Datenbankschema anlegen', 'Das Datenbankschema neu anlegen'],
    ['Chinese', '为解析器编写测试', '为新解析器编写单元测试'],
    ['Japanese', 'パーサーのテストを書く', 'パーサーの単体テストを書く'],
    ['Arabic', 'كتابة اختبارات المحلل', 'كتابة اختبارات وحدة المحلل'],
    ['Russian', 'Написать тесты парсера', 'Написать новые тесты парсера'],
    ['Korean', '파서 테스트 작성', '파서 단위 테스트 작성'],
    ['emoji', '🚀🚀 ship 🎉', '🚀🚀 ship it 🎉'],
  ])(
    'V4: a reworded title in %s overlaps by half or more',
    (_language, before, after) => {
      expect(overlap(before, after)).toBeGreaterThanOrEqual(rewordedOverlap);
    },
  );

  it.each([
    ['Migrate the payment service', 'Update the README'],
    ['Write tests for the parser', 'Delete old log files'],
    ['为解析器编写测试', '更新文档'],
    ['Написать тесты парсера', 'Обновить документацию'],
    ['Run the suite', ''],
  ])(
    'V4: an easy todo does not pass for the hard one it replaces: %s → %s',
    (before, after) => {
      expect(overlap(before, after)).toBeLessThan(rewordedOverlap);
    },
  );

  it('counts repeated pairs as often as they stand there', () => {
    expect(titleOverlap('aaaa', 'aa')).toBe(0.5);
    expect(titleOverlap('x', 'x')).toBe(1);
    expect(titleOverlap('x', 'y')).toBe(0);
    expect(titleOverlap('', '')).toBe(0);
  });

  it('is symmetric, 1 for itself, and never outside 0 to 1', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme' }),
        (one, other) => {
          const value = titleOverlap(one, other);
          expect(value).toBe(titleOverlap(other, one));
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
          if (one !== '') expect(titleOverlap(one, one)).toBe(1);
        },
      ),
    );
  });
});
