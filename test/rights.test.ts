// A few of the attempts of an agent to raise its own rights; `npm run test:rights` makes all of them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandAttempts, runCommandAttempts } from './rights/command-attempts.ts';
import { fileAttempts } from './rights/file-attempts.ts';
import { runHiddenAttempt, runStoreAttempts } from './rights/other-attempts.ts';
import { createStage, type Stage } from './rights/stage.ts';
import { bundleProgram } from './support/bundled-program.ts';

describe('design: an agent cannot raise its own rights', () => {
  let stage: Stage;
  let bundle: string;

  beforeAll(async () => {
    bundle = mkdtempSync(join(tmpdir(), 'untildone-rights-program-'));
    stage = createStage(await bundleProgram(bundle));
  });

  afterAll(() => {
    stage.close();
    rmSync(bundle, { recursive: true, force: true });
  });

  it('neither by a command from its own shell nor as a daemon on a terminal of its own', async () => {
    const some = commandAttempts.filter(({ attempt }) => /^`approve --check|a second fork/u.test(attempt));
    const rows = await runCommandAttempts(stage, some);
    expect(rows).toMatchObject([{ raised: false }, { raised: false }]);
    for (const { happened } of rows) expect(happened).toContain('Refused: Only a human may say this');
  });

  it('S7: nor by a command that hides a part of itself from whoever is asked', async () => {
    const row = await runHiddenAttempt(stage);
    expect(row.happened).toContain('echo ok \\x1b]0; touch raised-hidden; echo \\x07');
    expect(row.raised).toBe(false);
    const page = readFileSync(new URL('../docs/permissions.md', import.meta.url), 'utf8');
    expect(page).toContain(`| ${row.attempt} |`);
  });

  it('V4: what it changes in the store itself is seen', async () => {
    expect(await runStoreAttempts(stage)).toMatchObject([{ raised: false }, { raised: false }]);
  });

  it('every attempt stands in docs/permissions.md', () => {
    const page = readFileSync(new URL('../docs/permissions.md', import.meta.url), 'utf8');
    for (const { attempt } of [...fileAttempts, ...commandAttempts])
      expect(page).toContain(`| ${attempt.replaceAll('|', '\\|')} |`);
  });
});
