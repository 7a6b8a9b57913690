import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { knownDocument, soup } from '../../test/support/document-cases.ts';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { createSyncBench } from '../../test/support/sync-bench.ts';
import { type PlanFile, parsePlanFile, writeBoxes } from './plan-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'untildone-round-trip-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runs = { numRuns: 500 };
const anyDocument = fc.oneof(
  knownDocument.map(({ text }) => text),
  soup,
);

function parsed(text: string): PlanFile {
  const result = parsePlanFile(text);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.plan;
}

/** Everything but the boxes of the plan, with a mark in their place. */
function withoutBoxes(text: string, plan: PlanFile): string {
  const units = text.split('');
  for (const { boxOffset } of plan.items) units[boxOffset] = '□';
  return units.join('');
}

describe('plan files, over random documents', () => {
  it('V1: finds exactly the todos that a document was built from, whatever stands around them', () => {
    fc.assert(
      fc.property(knownDocument, ({ text, todos }) => {
        const { items } = parsed(text);
        expect(items.map(({ title, checked }) => ({ title, checked }))).toEqual(todos);
        for (const { boxOffset } of items)
          expect(text.slice(boxOffset - 1, boxOffset + 2)).toMatch(/^\[[ xX]\]$/);
      }),
      runs,
    );
  });

  it('V1: writing what the boxes say already changes nothing, writing otherwise changes only boxes', () => {
    fc.assert(
      fc.property(
        anyDocument,
        fc.array(fc.constantFrom(true, false, null), { minLength: 1 }),
        (text, wanted) => {
          const result = parsePlanFile(text);
          if (!result.ok) return;
          const { plan } = result;
          const same = plan.items.map(({ checked }) => checked);
          expect(writeBoxes(text, plan, same)).toBe(text);
          const other = same.map(
            (checked, index) => wanted[index % wanted.length] ?? checked,
          );
          const written = writeBoxes(text, plan, other);
          expect(withoutBoxes(written, plan)).toBe(withoutBoxes(text, plan));
          const again = parsed(written);
          expect(again.items.map(({ checked }) => checked)).toEqual(other);
          expect(again.items.map(({ title, boxOffset }) => [title, boxOffset])).toEqual(
            plan.items.map(({ title, boxOffset }) => [title, boxOffset]),
          );
        },
      ),
      runs,
    );
  });

  it('V1: import and write-back leave the bytes of a file alone; a completed todo changes its box and nothing else', async () => {
    let ticked = 0;
    await fc.assert(
      fc.asyncProperty(anyDocument, fc.nat(), async (text, choice) => {
        const path = join(folder, 'PLAN.md');
        writeFileSync(path, text);
        const bytes = readFileSync(path);
        // A soup may hold what is no UTF-16 text; what is on the disk counts.
        const onDisk = bytes.toString('utf8');
        const bench = createSyncBench(path, createMemoryStore());
        const first = await bench.sync.sync();
        expect(readFileSync(path).equals(bytes)).toBe(true);
        if (!first.ok) return;
        expect(first.boxes).toBe(0);
        expect((await bench.sync.sync()).ok).toBe(true);
        expect(readFileSync(path).equals(bytes)).toBe(true);
        const open = (await bench.todos()).filter(({ status }) => status === 'pending');
        const todo = open[choice % Math.max(1, open.length)];
        if (todo === undefined) return;
        ticked += 1;
        await bench.happens({
          type: 'todo-completed',
          actor: 'agent',
          todoId: todo.id,
          status: 'completed',
          outcome: 'x',
        });
        expect(await bench.sync.sync()).toMatchObject({
          ok: true,
          boxes: 1,
          changed: 0,
          created: 0,
          dropped: 0,
        });
        const after = readFileSync(path, 'utf8');
        expect(withoutBoxes(after, first.plan)).toBe(withoutBoxes(onDisk, first.plan));
        expect(
          parsed(after).items.filter(
            ({ checked }, index) => checked !== first.plan.items[index]?.checked,
          ),
        ).toHaveLength(1);
      }),
      runs,
    );
    expect(ticked).toBeGreaterThan(100);
  });
});
