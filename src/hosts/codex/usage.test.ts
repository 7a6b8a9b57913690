// The tokens in Codex's rollout (G8). The fixture holds the token counts of a run of
// 0.166.0 against the scripted model, without its rate limits.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { codex } from './host.ts';

const recorded = fileURLToPath(new URL('fixtures/rollout.jsonl', import.meta.url));

it('G8: each call of the model counts once, from the message of the human on', () => {
  const all = codex.readUsage?.(recorded, 0) ?? [];
  expect(all.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual(
    [
      [8123, 30],
      [8212, 15],
      [8322, 12],
      [8418, 30],
      [8507, 3],
    ],
  );
  expect(new Set(all.map(({ key }) => key)).size).toBe(5);
  expect(codex.readUsage?.(recorded, Date.parse('2026-11-18T00:53:00.500Z'))).toEqual(
    all.slice(-2),
  );
});

it('G8: a rollout that is not there tells nothing', () => {
  expect(codex.readUsage?.(`${recorded}.none`, 0)).toEqual([]);
});
