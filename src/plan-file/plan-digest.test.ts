import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { knownDocument, soup } from '../../test/support/document-cases.ts';
import { digestFile } from '../engine/policy.ts';
import { parsePlanFile, writeBoxes } from './plan-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'untildone-digest-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function digest(text: string): string | null {
  const path = join(folder, 'PLAN.md');
  writeFileSync(path, text);
  return digestFile(path, 'plan');
}

const anyDocument = fc.oneof(
  knownDocument.map(({ text }) => text),
  soup,
);

describe('what a plan file held at the human’s message', () => {
  it('V2: does not change with any box that a plan can tick or empty', () => {
    fc.assert(
      fc.property(anyDocument, fc.boolean(), (text, ticks) => {
        const parsed = parsePlanFile(text);
        if (!parsed.ok) return;
        const boxes = parsed.plan.items.map(() => ticks);
        expect(digest(writeBoxes(text, parsed.plan, boxes))).toBe(digest(text));
      }),
      { numRuns: 300 },
    );
  });

  it('V2: changes with a check, a title, a line more or less, and with what looks like a box in a check', () => {
    const text = '- [ ] One\n  check: ls [x]\n';
    for (const other of [
      '- [ ] One\n  check: ls [ ]\n',
      '- [x] One\n  check: true\n',
      '- [ ] Two\n  check: ls [x]\n',
      '- [ ] One\n',
      `${text}- [ ] Two\n`,
    ]) {
      expect(digest(other)).not.toBe(digest(text));
    }
    expect(digestFile(join(folder, 'none.md'), 'plan')).toBeNull();
    expect(digestFile(folder, 'plan')).toBeNull();
  });

  it('V2: is taken within a second of a line made of nothing but marks', () => {
    const startedAt = performance.now();
    digest('-  '.repeat(1_000_000));
    digest(`${' '.repeat(1_000_000)}[`);
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});
