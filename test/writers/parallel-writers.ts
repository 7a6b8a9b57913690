// Many processes write the same session at once (V5): nothing is lost, the ledger is
// intact, and no "database is locked" reaches a caller. Usage:
// npm run test:extra -- writers [PROCESSES] [EVENTS]
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifyLedger } from '../../src/core/ledger.ts';
import { sha256, systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';

const writer = fileURLToPath(new URL('./writer.ts', import.meta.url));

export async function parallelWriters(
  processes: number,
  events: number,
): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'untildone-writers-'));
  const path = join(directory, 'store.db');
  try {
    const complaints = await Promise.all(
      Array.from({ length: processes }, (_, index) => write(path, `w${index}`, events)),
    );
    return [
      ...complaints.filter((complaint) => complaint !== ''),
      ...(await inspect(path, processes, events)),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function write(path: string, name: string, events: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--no-warnings', writer, path, name, String(events)],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let complaint = '';
    child.stderr.on('data', (chunk) => {
      complaint += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) =>
      resolve(code === 0 ? '' : `${name} failed: ${complaint.slice(0, 400)}`),
    );
  });
}

async function inspect(
  path: string,
  processes: number,
  events: number,
): Promise<string[]> {
  const store = await openSqliteStore({ path, clock: systemClock });
  try {
    const broken: string[] = [];
    const session = await store.state('shared');
    const todos = processes * Math.ceil(events / 4);
    const work = processes * events - todos;
    if (session?.plan.length !== todos)
      broken.push(`the plan has ${session?.plan.length} todos, not ${todos}`);
    if (session?.work.calls !== work)
      broken.push(`the session counts ${session?.work.calls} calls, not ${work}`);
    const rows = await store.todos({ planId: 'shared' });
    if (rows.length !== todos)
      broken.push(`there are ${rows.length} todos, not ${todos}`);
    const applied = await store.events({
      sessionId: 'shared',
      after: 0,
      limit: processes * events + 1,
    });
    if (applied.length !== processes * events)
      broken.push(`${applied.length} events are on record`);
    const ledger = verifyLedger(await store.ledger('shared'), sha256);
    if (!ledger.intact) broken.push(ledger.sentence);
    else if (ledger.length !== todos)
      broken.push(`the ledger has ${ledger.length} entries, not ${todos}`);
    return broken;
  } finally {
    await store.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const processes = Number(process.argv[2] ?? 32);
  const events = Number(process.argv[3] ?? 1000);
  const broken = await parallelWriters(processes, events);
  for (const sentence of broken) process.stdout.write(`${sentence}\n`);
  process.stdout.write(
    `${processes} processes × ${events} events: ${broken.length} broken promises\n`,
  );
  process.exitCode = broken.length === 0 ? 0 : 1;
}
