// Kills a driven host, or the run that drives it, with SIGKILL at random moments, and looks whether anything is lost: the
// run, taken up again where it was ours that died, ends as an undisturbed one does (V5).
// Usage: npm run test:drive-kills -- HOST [KILLS] [SEED]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { goal, killedStory, logName } from '../../run-kills/story.ts';
import { type Driven, type DriveStage, endGroup, endOf, onDriveStage, type Run } from './drive.ts';
import { readRecord } from './record.ts';

const notes = ['01', '02', '03', '04', '05', '06'];

export interface KillsReport {
  readonly kills: number;
  readonly doubled: number;
  readonly broken: readonly string[];
}

export async function driveKills(stage: DriveStage, most: number, seed: number): Promise<KillsReport> {
  const random = seededRandom(seed);
  const broken: string[] = [];
  let [kills, doubled] = [0, 0];
  for (let run = 1; kills < most; run += 1) {
    const victim = run % 2 === 0 ? 'run' : 'host';
    await onDriveStage(stage, [killedStory(notes.length)], async (driven) => {
      const told = `run ${run} (${victim})`;
      const begin = ['--with', stage.host.name, goal, '--auto', '--check', 'test -f notes/06.md'];
      let life = driven.run(begin);
      for (let times = 0; times < 3 && kills < most; times += 1) {
        const isHit = await killAt(driven, life, victim, random);
        if (!isHit) break;
        kills += 1;
        if (victim === 'host') continue;
        await life.ended;
        life = driven.run((await hasSession(driven)) ? ['--resume'] : begin);
      }
      // The same error three times in a row ends a run until the human speaks (G9).
      if ((await life.ended) !== 0 && endOf(life)?.reason === 'circuit-open')
        life = driven.run(['--resume', 'Go on with all of it.']);
      const code = await life.ended;
      const ended = endOf(life);
      if (code !== 0 || ended?.outcome !== 'done')
        broken.push(
          `${told}: exit code ${code}, ${ended?.outcome} (${ended?.reason}): ${ended?.sentence}\n${life.printed().slice(-1500)}`,
        );
      const missing = notes.filter(
        (note) => !driven.project.read(`notes/${note}.md`)?.startsWith(`note ${note}`),
      );
      if (missing.length > 0) broken.push(`${told}: missing ${missing.join(', ')}`);
      const [session, ...others] = (await readRecord(driven.project)).filter(({ kind }) => kind === 'main');
      if (others.length > 0) broken.push(`${told}: ${others.length} sessions too many`);
      const open = session?.todos.filter(({ status }) => status !== 'completed') ?? [];
      if (open.length > 0) broken.push(`${told}: open ${open.map(({ title }) => title).join(', ')}`);
      const lines = logOf(driven);
      doubled += lines.length - new Set(lines).size;
      console.log(`${told}: ${code}, ${driven.starts().length} starts, kills so far ${kills}`);
    });
  }
  return { kills, doubled, broken };
}

/** False: it ended before. */
async function killAt(
  driven: Driven,
  run: Run,
  victim: 'run' | 'host',
  random: () => number,
): Promise<boolean> {
  const wait = 500 + Math.floor(random() * 12_000);
  const isOver = await Promise.race([
    run.ended.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), wait)),
  ]);
  if (isOver) return false;
  const host = driven.starts().at(-1);
  if (victim === 'run') return run.child.kill('SIGKILL');
  // It has not been started yet.
  if (host === undefined) return killAt(driven, run, victim, random);
  endGroup(host);
  return true;
}

async function hasSession({ project }: Driven): Promise<boolean> {
  return (await readRecord(project)).length > 0;
}

function logOf({ project }: Driven): readonly string[] {
  try {
    return readFileSync(join(project.directory, logName), 'utf8').split('\n').filter(Boolean);
  } catch {
    // Safe: it was killed before the first call.
    return [];
  }
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
  // The word before it: behind a script's name, that of a host would make this process one, and no human speaks beneath those.
  const [_kills, host = 'claude-code', kills = '10', seed = '1'] = process.argv.slice(2);
  const place = pathToFileURL(join(import.meta.dirname, '..', host, 'drive-stage.ts'));
  const { stage } = (await import(place.href)) as { stage: DriveStage };
  const report = await driveKills(stage, Number(kills), Number(seed));
  for (const sentence of report.broken) process.stdout.write(`${sentence}\n`);
  process.stdout.write(
    `drive kills (${host}): ${report.kills} kills, ${report.doubled} doubled calls, ${report.broken.length} broken promises\n`,
  );
  process.exitCode = report.broken.length === 0 ? 0 : 1;
}
