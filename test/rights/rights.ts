// Runs every attempt of an agent to raise its own rights, for real, and prints what
// happened as the table of docs/permissions.md. Fails when one succeeds that must not, or
// when the page says something else.
// Usage: npm run test:extra -- rights [--write]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../support/bundled-program.ts';
import { type Row, renderTable } from './attempt.ts';
import { runCommandAttempts, runControl, runHostAttempts } from './command-attempts.ts';
import { runFileAttempts } from './file-attempts.ts';
import { runHoldAttempts, runHostHoldAttempts } from './hold-attempts.ts';
import {
  runCheckAttempt,
  runHiddenAttempt,
  runPlanFileAttempt,
  runStoreAttempts,
  runWorkerAttempt,
} from './other-attempts.ts';
import { createStage, type Stage } from './stage.ts';
import { makeAttempt, trustAttempts } from './trust-attempts.ts';
import { runWidenedAttempts } from './widened-attempts.ts';

const page = fileURLToPath(new URL('../../docs/permissions.md', import.meta.url));
const between = /(<!-- attempts -->\n)[\s\S]*(\n<!-- end of attempts -->)/u;
const bundle = mkdtempSync(join(tmpdir(), 'untildone-rights-program-'));
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Each in a folder of its own: what one leaves behind must not help or hinder another.
 */
async function onStage(
  program: string,
  work: (stage: Stage) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const stage = createStage(program);
  try {
    return [...(await work(stage))];
  } finally {
    stage.close();
  }
}

try {
  const program = await bundleProgram(bundle);
  const rows = [
    ...(await onStage(program, async (stage) => [await runHiddenAttempt(stage)])),
    ...(await onStage(program, runFileAttempts)),
    ...(await onStage(program, (stage) => runWidenedAttempts(stage, false))),
    ...(await onStage(program, (stage) => runWidenedAttempts(stage, true))),
    ...(await onStage(program, (stage) => runCommandAttempts(stage))),
    ...(await onStage(program, runHostAttempts)),
    ...(await onStage(program, runHoldAttempts)),
    ...(await onStage(program, runHostHoldAttempts)),
    ...(await onStage(program, async (stage) => [await runControl(stage)])),
    ...(await onStage(program, async (stage) => [await runWorkerAttempt(stage)])),
    ...(await onStage(program, async (stage) => [await runCheckAttempt(stage)])),
    ...(await onStage(program, async (stage) => [await runPlanFileAttempt(stage)])),
    ...(await onStage(program, runStoreAttempts)),
  ];
  for (const attempt of trustAttempts)
    rows.push(
      ...(await onStage(program, async (stage) => [await makeAttempt(stage, attempt)])),
    );
  for (const row of rows) {
    const resisted = row.isDetectedOnly ? 'seen  ' : 'held  ';
    const verb = row.raised ? 'RAISED' : resisted;
    print(`${verb}  ${row.way}: ${row.attempt}\n          ${row.happened}`);
  }
  const raised = rows.filter((row) => row.raised).length;
  const text = readFileSync(page, 'utf8');
  const fresh = text.replace(
    between,
    (_whole, start: string, end: string) => `${start}${renderTable(rows)}${end}`,
  );
  if (process.argv.includes('--write')) writeFileSync(page, fresh);
  else if (fresh !== text)
    print(
      'docs/permissions.md says something else: npm run test:extra -- rights --write',
    );
  print(`rights: ${rows.length} attempts, ${raised} raised`);
  process.exitCode =
    raised === 0 && (fresh === text || process.argv.includes('--write')) ? 0 : 1;
} finally {
  rmSync(bundle, { recursive: true, force: true });
}
