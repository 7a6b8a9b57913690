// Kills our own agent with SIGKILL at random moments of a run, resumes it each time, and
// compares the end with that of a run that nobody disturbed (V5). The scripted model
// lives here and survives the kills. The clock steps by -10 s to +2 h meanwhile (P42),
// and in every third run a kill is followed by a store that is put back, which is never
// called done (P43).
// Usage: npm run test:extra -- run-kills [KILLS] [SEED] [workers]
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { type Script, startScriptedModel } from '../../src/scripted-model/index.ts';
import { type EndResult, inspectRecord, readEndResult } from './end-result.ts';
import { killedStory } from './story.ts';
import { workerNames, workerScripts } from './worker-story.ts';

/** What the agent does while it is killed. */
export interface KilledWork {
  readonly scripts: () => readonly Script[];
  readonly workers: readonly string[];
}

export const noteWork = (todos: number): KilledWork => ({
  scripts: () => [killedStory(todos)],
  workers: [],
});
export const workerWork: KilledWork = { scripts: workerScripts, workers: workerNames };

export interface RunKillsOptions {
  readonly kills: number;
  readonly work: KilledWork;
  readonly seed: number;
}

export interface RunKillsReport {
  readonly kills: number;
  readonly runs: number;
  /** Of the runs those whose store lost something. */
  readonly putBack: number;
  /** One sentence per broken promise. */
  readonly broken: readonly string[];
}

const agentProcess = fileURLToPath(new URL('./agent-process.ts', import.meta.url));
/** After so many kills a run is left alone, so that every run comes to an end. */
const killsPerRun = 12;
const firstEvent: KillMoment = {
  from: 'event',
  type: 'run-started',
  number: 1,
  milliseconds: 0,
};
const upTo = (random: () => number, most: number): number => Math.floor(random() * most);
const afterEvent = (type: string, number: number, milliseconds: number): KillMoment => ({
  from: 'event',
  type,
  number,
  milliseconds,
});
/**
 * While the process starts, some time after the run began, and soon after one of these
 * events.
 */
const moments: readonly ((random: () => number) => KillMoment)[] = [
  (random) => ({ from: 'birth', milliseconds: upTo(random, 1000) }),
  (random) => ({ from: 'start', milliseconds: upTo(random, 1200) }),
  (random) => ({ from: 'start', milliseconds: upTo(random, 1200) }),
  (random) => afterEvent('tool-started', 1 + upTo(random, 8), upTo(random, 60)),
  (random) => afterEvent('tool-ended', 1 + upTo(random, 8), upTo(random, 60)),
  (random) => afterEvent('continuation', 1 + upTo(random, 3), upTo(random, 60)),
];
const workerMoments: typeof moments = [
  (random) => afterEvent('worker-started', 1 + upTo(random, 4), upTo(random, 60)),
  (random) => afterEvent('worker-ended', 1 + upTo(random, 4), upTo(random, 10)),
];
const overdueMs = 120_000;

export async function runKills({
  kills,
  work,
  seed,
}: RunKillsOptions): Promise<RunKillsReport> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-kills-')));
  const random = seededRandom(seed);
  const drawn = work.workers.length === 0 ? moments : [...moments, ...workerMoments];
  const broken: string[] = [];
  let killed = 0;
  let runs = 0;
  let putBack = 0;
  try {
    const alone = { random: () => 0.5, goesBack: false };
    const expected = await disturbedRun(
      join(scratch, 'undisturbed'),
      work,
      alone,
      () => null,
    );
    broken.push(...expected.broken.map((sentence) => `undisturbed: ${sentence}`));
    while (killed < kills) {
      runs += 1;
      if (runs > kills + 3)
        throw new Error(
          'too few runs were killed; the program does not test what it says',
        );
      const directory = join(scratch, `run-${runs}`);
      const chosen: KillMoment[] = [];
      const goesBack = runs % 3 === 2;
      const run = await disturbedRun(directory, work, { random, goesBack }, (already) => {
        if (already >= killsPerRun || killed + already >= kills) return null;
        const draw = drawn[Math.floor(random() * drawn.length)];
        // The very first moment is always hit: a session exists and its goal must not be
        // lost.
        const moment =
          runs === 1 && already === 0 ? firstEvent : (draw?.(random) ?? firstEvent);
        chosen.push(moment);
        return moment;
      });
      killed += run.kills;
      putBack += Number(run.wentBack);
      const differences = run.wentBack
        ? findDishonesty(run, expected)
        : compare(expected.result, run.result);
      broken.push(
        ...[...differences, ...run.broken].map(
          (sentence) =>
            `run ${runs}, killed ${chosen.map(describe).join(', ')}: ${sentence}`,
        ),
      );
      rmSync(directory, { recursive: true, force: true });
    }
    return { kills: killed, runs, putBack, broken };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

type KillMoment =
  | { readonly from: 'birth' | 'start'; readonly milliseconds: number }
  | {
      readonly from: 'event';
      readonly type: string;
      readonly number: number;
      readonly milliseconds: number;
    };

function describe(moment: KillMoment): string {
  const after =
    moment.from === 'event' ? `${moment.type} ${moment.number}` : `its ${moment.from}`;
  return `${moment.milliseconds} ms after ${after}`;
}

/**
 * What was lost proves nothing: claimed at best, or as the run ends anyway where that is
 * no success (P43).
 */
function isHonest({ exitCode, said }: EndResult, expected: EndResult): boolean {
  return (
    exitCode !== 0 && (said.includes('"outcome":"claimed"') || said === expected.said)
  );
}

function findDishonesty(run: DisturbedRun, expected: DisturbedRun): string[] {
  const { exitCode, said } = run.result;
  if (isHonest(run.result, expected.result)) return [];
  return [
    `it went back and ended ${said} (${exitCode}); last, newest first:\n  ${run.decisions}`,
  ];
}

interface DisturbedRun {
  readonly kills: number;
  readonly wentBack: boolean;
  /** The last of them, newest first: what was seen, and which rule answered. */
  readonly decisions: string;
  readonly result: EndResult;
  readonly broken: readonly string[];
}

async function disturbedRun(
  directory: string,
  work: KilledWork,
  { random, goesBack }: { readonly random: () => number; readonly goesBack: boolean },
  nextKill: (already: number) => KillMoment | null,
): Promise<DisturbedRun> {
  const server = await startScriptedModel({ scripts: work.scripts(), keepRequests: 1 });
  mkdirSync(directory);
  let wentBack = false;
  let skewMs = 0;
  const stepClock = (): void => {
    skewMs += random() < 0.5 ? -upTo(random, 10_000) : upTo(random, 7_200_000);
    writeFileSync(join(directory, 'clock'), String(skewMs));
  };
  try {
    for (let kills = 0; ; kills += 1) {
      const life = await live(
        [directory, server.url, work.workers.join(',')],
        nextKill(kills),
        stepClock,
      );
      if (life.killed) {
        copyStore(directory, join(directory, `copy-${kills}`));
        // Once, and late enough that there is something to lose.
        if (goesBack && kills === 3)
          wentBack = putStoreBack(directory, upTo(random, kills + 1));
        continue;
      }
      const result = {
        exitCode: life.exitCode,
        said: life.said,
        ...(await readEndResult(directory)),
      };
      const complaints =
        life.complaint === '' ? [] : [`the process complained: ${life.complaint}`];
      const record = wentBack ? [] : await inspectRecord(directory);
      const decisions = readDecisions(directory);
      return { kills, wentBack, decisions, result, broken: [...complaints, ...record] };
    }
  } finally {
    await server.close();
  }
}

const storeFiles = ['store.db', 'store.db-wal', 'store.db-shm'];

function copyStore(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of storeFiles) {
    rmSync(join(to, name), { force: true });
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  }
}

/**
 * To the store after an earlier kill, or to none at all. True: something is lost by it.
 */
function putStoreBack(directory: string, to: number): boolean {
  const before = countEvents(directory);
  copyStore(join(directory, to === 0 ? 'none' : `copy-${to - 1}`), directory);
  return countEvents(directory) < before;
}

function countEvents(directory: string): number {
  const path = join(directory, 'store.db');
  if (!existsSync(path)) return 0;
  const database = new DatabaseSync(path);
  try {
    return Number(
      database.prepare('SELECT count(*) AS count FROM events').get()?.['count'],
    );
  } catch {
    // Safe: it was killed before it had made its tables.
    return 0;
  } finally {
    database.close();
  }
}

function readDecisions(directory: string): string {
  const database = new DatabaseSync(join(directory, 'store.db'));
  try {
    const rows = database
      .prepare('SELECT body FROM decisions ORDER BY sequence DESC LIMIT 5')
      .all();
    return rows
      .map(({ body }) => JSON.stringify(JSON.parse(String(body)).decision))
      .join('\n  ');
  } finally {
    database.close();
  }
}

interface Life {
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly said: string;
  readonly complaint: string;
}

/** One process from its birth to its end, by the kill or by itself. */
function live(
  given: readonly string[],
  kill: KillMoment | null,
  stepClock: () => void,
): Promise<Life> {
  const [directory = ''] = given;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--no-warnings', agentProcess, ...given], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Filled by the undisturbed run; the many starts after it take half the time.
      env: { ...process.env, NODE_COMPILE_CACHE: join(directory, '..', 'compiled') },
    });
    stepClock();
    const timers: NodeJS.Timeout[] = [];
    const steps = setInterval(stepClock, 400);
    const killAfter = (milliseconds: number): void => {
      timers.push(setTimeout(() => child.kill('SIGKILL'), milliseconds));
    };
    let said = '';
    let complaint = '';
    child.stdout.on('data', (chunk) => {
      if (said === '' && kill?.from === 'start') killAfter(kill.milliseconds);
      said += chunk;
      if (kill?.from !== 'event' || timers.length > 0) return;
      const seen = said.split('\n').filter((line) => line === kill.type).length;
      if (seen >= kill.number) killAfter(kill.milliseconds);
    });
    child.stderr.on('data', (chunk) => {
      complaint += chunk;
    });
    if (kill?.from === 'birth') killAfter(kill.milliseconds);
    const overdue = setTimeout(() => {
      child.kill('SIGKILL');
      reject(
        new Error(
          `the agent did not end within ${overdueMs / 1000} s: ${said} ${complaint}`,
        ),
      );
    }, overdueMs);
    child.on('error', reject);
    child.on('close', (exitCode, signal) => {
      for (const timer of [...timers, overdue, steps]) clearTimeout(timer);
      const last = said.trimEnd().split('\n').at(-1) ?? '';
      resolve({ killed: signal === 'SIGKILL', exitCode, said: last, complaint });
    });
  });
}

function compare(expected: EndResult, actual: EndResult): string[] {
  const list = (
    name: string,
    left: readonly string[],
    right: readonly string[],
  ): string[] => [
    ...left
      .filter((entry) => !right.includes(entry))
      .map((entry) => `${name} missing: ${entry.slice(0, 200)}`),
    ...right
      .filter((entry) => !left.includes(entry))
      .map((entry) => `${name} too many: ${entry.slice(0, 200)}`),
    ...(left.length === right.length
      ? []
      : [`${right.length} ${name} instead of ${left.length}`]),
  ];
  return [
    ...(expected.exitCode === actual.exitCode
      ? []
      : [`exit code ${actual.exitCode} instead of ${expected.exitCode}`]),
    ...(expected.said === actual.said
      ? []
      : [`it ended ${actual.said} instead of ${expected.said}`]),
    ...list('files', expected.files, actual.files),
    ...list('todos', expected.todos, actual.todos),
  ];
}

/** The same moments for the same seed; what they hit depends on the machine. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [kills = '100', seed = '1', what = 'notes'] = process.argv.slice(2);
  const work = what === 'workers' ? workerWork : noteWork(20);
  const report = await runKills({ kills: Number(kills), work, seed: Number(seed) });
  for (const sentence of report.broken) process.stdout.write(`${sentence}\n`);
  process.stdout.write(
    `run kills: ${report.kills} kills, stores put back: ${report.putBack}, ${report.broken.length} broken promises\n`,
  );
  process.exitCode = report.broken.length === 0 ? 0 : 1;
}
