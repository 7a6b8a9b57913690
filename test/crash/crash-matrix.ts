// The crash matrix (V5): kills the victim with SIGKILL at every named point and at random
// moments, lets it run to the end afterwards, and compares what the outside world saw
// with what the store says. In every fourth run the store is put back to an earlier
// commit in between, or is gone (P43).
// Usage: npm run test:extra -- crash [KILLS] [SEED]
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifyLedger } from '../../src/core/ledger.ts';
import { sha256, systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';

const victim = fileURLToPath(new URL('./victim.ts', import.meta.url));
const points = [
  'before-commit',
  'after-commit',
  'before-send',
  'after-send',
  'after-record',
];
const todos = 4;

export interface CrashReport {
  readonly kills: number;
  /** One sentence per broken promise. */
  readonly broken: readonly string[];
}

export async function crashMatrix(kills: number, seed = 1): Promise<CrashReport> {
  const broken: string[] = [];
  let killed = 0;
  for (let index = 0; killed < kills; index++) {
    const result = await crashOnce(index, seed);
    killed += result.killed;
    broken.push(...result.broken);
    if (index > kills * 3)
      throw new Error('too few runs were killed; the matrix does not test what it says');
  }
  return { kills: killed, broken };
}

async function crashOnce(
  index: number,
  seed: number,
): Promise<{ killed: number; broken: string[] }> {
  const goesBack = index % 4 === 3;
  const mode = index % 3 === 2 || goesBack ? 'asked' : 'told';
  const directory = mkdtempSync(join(tmpdir(), 'untildone-crash-'));
  try {
    const atRandom = index % 2 === 1 && !goesBack;
    const point = atRandom
      ? 'none'
      : (points[Math.floor(index / 2) % points.length] ?? 'none');
    const usable = mode === 'asked' && point.includes('send') ? 'after-commit' : point;
    // Late enough that there is something to lose.
    const nth = 1 + ((index * 7 + seed) % 9) + (goesBack ? 6 : 0);
    const delay = atRandom ? 60 + ((index * 131 + seed * 17) % 240) : null;
    const where = `${mode}${goesBack ? ', put back' : ''}, ${atRandom ? `after ${delay} ms` : `${usable} #${nth}`}`;
    const killed = await run(directory, mode, usable, nth, delay, index + seed, goesBack);
    if (goesBack) putBack(directory, index * 31 + seed);
    const finished = await run(directory, mode, 'none', 1, null, index + seed + 1000);
    if (finished)
      return { killed: 0, broken: [`${where}: the second run did not end by itself`] };
    const broken = goesBack
      ? await inspectPutBack(directory)
      : await inspect(directory, mode);
    return {
      killed: killed ? 1 : 0,
      broken: broken.map((sentence) => `${where}: ${sentence}`),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** True: the process was killed. */
function run(
  directory: string,
  mode: string,
  point: string,
  nth: number,
  delay: number | null,
  seed: number,
  copies = false,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [
        '--no-warnings',
        victim,
        directory,
        mode,
        point,
        String(nth),
        String(todos),
        String(seed),
        ...(copies ? ['copies'] : []),
      ],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let complaint = '';
    child.stderr.on('data', (chunk) => {
      complaint += chunk;
    });
    const timer = delay === null ? null : setTimeout(() => child.kill('SIGKILL'), delay);
    const overdue = setTimeout(() => child.kill('SIGKILL'), 60_000);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (timer !== null) clearTimeout(timer);
      clearTimeout(overdue);
      if (signal === 'SIGKILL') resolve(true);
      else if (code === 0) resolve(false);
      else reject(new Error(`the victim failed by itself: ${complaint}`));
    });
  });
}

const storeFiles = ['store.db', 'store.db-wal', 'store.db-shm'];

/** To the store after any earlier commit, or to none at all. */
function putBack(directory: string, random: number): void {
  const copies = readdirSync(directory).filter((name) => name.startsWith('copy-'));
  const folder = join(directory, `copy-${random % (copies.length + 1)}`);
  for (const name of storeFiles) {
    rmSync(join(directory, name), { force: true });
    if (existsSync(join(folder, name)))
      copyFileSync(join(folder, name), join(directory, name));
  }
}

/**
 * Whatever is lost: what the agent planned and nobody saw finished is not called done,
 * and the loss is told.
 */
async function inspectPutBack(directory: string): Promise<string[]> {
  const store = await openSqliteStore({
    path: join(directory, 'store.db'),
    clock: systemClock,
  });
  try {
    const session = await store.state('victim');
    if (session === null) return ['the session is lost'];
    const finished = new Set(
      session.plan.filter(({ status }) => status === 'completed').map(({ id }) => id),
    );
    const missing = linesOf(directory, 'planned').filter((id) => !finished.has(id));
    const { outcome, reason } = session.settled ?? { outcome: null, reason: null };
    if (outcome === 'done' && missing.length > 0)
      return [`done, but ${missing.join(', ')} is not`];
    if (missing.length > 0 && session.recordBroken === null)
      return [`${missing.join(', ')} went unnoticed`];
    return outcome === null ? [`it was never settled (${reason})`] : [];
  } finally {
    await store.close();
  }
}

const linesOf = (directory: string, name: string): string[] =>
  existsSync(join(directory, name))
    ? readFileSync(join(directory, name), 'utf8').split('\n').filter(Boolean)
    : [];

async function inspect(directory: string, mode: string): Promise<string[]> {
  const lines = (name: string) => linesOf(directory, name);
  const broken: string[] = [];
  const store = await openSqliteStore({
    path: join(directory, 'store.db'),
    clock: systemClock,
  });
  try {
    const session = await store.state('victim');
    if (session === null) return ['the session is lost'];
    const rows = session.plan;
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const id of lines('planned'))
      if (!byId.has(id)) broken.push(`todo ${id} is lost`);
    for (const id of lines('completed')) {
      if (byId.get(id)?.status !== 'completed')
        broken.push(`the completion of ${id} is lost`);
    }
    if (rows.length !== todos)
      broken.push(`there are ${rows.length} todos instead of ${todos}`);
    const ledger = verifyLedger(await store.ledger(session.planId), sha256);
    if (!ledger.intact) broken.push(`the ledger is broken: ${ledger.sentence}`);
    const outbox = await store.outbox({ sessionId: 'victim' });
    const taken = lines(mode === 'told' ? 'taken' : 'answered');
    const twice = taken.filter((key, at) => taken.indexOf(key) !== at);
    if (twice.length > 0) broken.push(`sent twice: ${twice.join(', ')}`);
    for (const key of taken) {
      if (!outbox.some((row) => `victim:${row.epoch}` === key))
        broken.push(`${key} was sent but never decided`);
    }
    if (mode === 'told') {
      for (const row of outbox) {
        const wanted =
          row.state === 'sent' || row.state === 'observed' || row.state === 'intended';
        if (wanted && !taken.includes(`victim:${row.epoch}`))
          broken.push(`continuation ${row.epoch} is lost (${row.state})`);
      }
    }
  } finally {
    await store.close();
  }
  return broken;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [kills = '200', seed = '1'] = process.argv.slice(2);
  const report = await crashMatrix(Number(kills), Number(seed));
  for (const sentence of report.broken) process.stdout.write(`${sentence}\n`);
  process.stdout.write(
    `crash matrix: ${report.kills} kills, seed ${seed}, ${report.broken.length} broken promises\n`,
  );
  process.exitCode = report.broken.length === 0 ? 0 : 1;
}
