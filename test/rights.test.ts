// A few of the attempts of an agent to raise its own rights; `npm run test:extra --
// rights` makes all of them.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  commandAttempts,
  hostAttemptNames,
  runCommandAttempts,
  runHostAttempts,
} from './rights/command-attempts.ts';
import { fileAttempts } from './rights/file-attempts.ts';
import {
  holdAttemptNames,
  runHoldAttempts,
  runHostHoldAttempts,
} from './rights/hold-attempts.ts';
import { runHiddenAttempt, runStoreAttempts } from './rights/other-attempts.ts';
import { createStage, type Stage } from './rights/stage.ts';
import { makeAttempt, trustAttempts } from './rights/trust-attempts.ts';
import {
  runWidenedAttempts,
  widenedAttempt,
  widenedAttempts,
} from './rights/widened-attempts.ts';
import { sharedProgram } from './support/bundled-program.ts';

describe('design: an agent cannot raise its own rights', () => {
  let stage: Stage;
  let program: string;

  beforeAll(async () => {
    program = await sharedProgram();
    stage = createStage(program);
  });

  afterAll(() => stage.close());

  it('neither by a command from its own shell nor as a daemon on a terminal of its own', async () => {
    const some = commandAttempts.filter(({ attempt }) =>
      /^`approve --check|a second fork/u.test(attempt),
    );
    const rows = await runCommandAttempts(stage, some);
    expect(rows).toMatchObject([{ raised: false }, { raised: false }]);
    for (const { happened } of rows)
      expect(happened).toContain('Refused: Only a human may do this');
  });

  it.each([true, false])(
    'S7: nor by other arguments of a command that was allowed for good (files confined: %s)',
    async (isConfined) => {
      const own = createStage(program);
      const rows = await runWidenedAttempts(own, isConfined).finally(own.close);
      expect(rows.filter(({ raised }) => raised)).toEqual([]);
    },
  );

  it('G4: nor by a message to the hook from the shell of a host’s agent', async () => {
    expect((await runHostAttempts(stage)).filter(({ raised }) => raised)).toEqual([]);
  });

  it('P52: nor by `stop` and `pause`, which only pause its own session', async () => {
    const own = createStage(program);
    const rows = await runHoldAttempts(own).finally(own.close);
    expect(
      [...rows, ...(await runHostHoldAttempts(stage))].filter(({ raised }) => raised),
    ).toEqual([]);
  }, 60_000);

  it('S7: nor by a command that hides a part of itself from whoever is asked', async () => {
    const row = await runHiddenAttempt(stage);
    expect(row.happened).toContain('echo ok \\x1b]0; touch raised-hidden; echo \\x07');
    expect(row.raised).toBe(false);
    const page = readFileSync(new URL('../docs/permissions.md', import.meta.url), 'utf8');
    expect(page).toContain(`| ${row.attempt} |`);
  });

  it.each(trustAttempts.filter(({ way }) => way === 'git'))(
    'V10: nor by $attempt',
    async (attempt) => {
      const own = createStage(program);
      expect(await makeAttempt(own, attempt).finally(own.close)).toMatchObject({
        raised: false,
      });
    },
  );

  it('V4: what it changes in the store itself is seen', async () => {
    expect(await runStoreAttempts(stage)).toMatchObject([
      { raised: false },
      { raised: false },
    ]);
  });

  it('every attempt stands in docs/permissions.md', () => {
    const page = readFileSync(new URL('../docs/permissions.md', import.meta.url), 'utf8');
    const widened = widenedAttempts.flatMap((each) => [
      widenedAttempt(each, true),
      widenedAttempt(each, false),
    ]);
    const attempts = [...fileAttempts, ...commandAttempts, ...trustAttempts].map(
      ({ attempt }) => attempt,
    );
    for (const attempt of [
      ...attempts,
      ...widened,
      ...hostAttemptNames,
      ...holdAttemptNames,
    ])
      expect(page).toContain(`| ${attempt.replaceAll('|', '\\|')} |`);
  });
});
