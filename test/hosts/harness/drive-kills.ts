// Kills a driven host, or the run that drives it, with SIGKILL at random moments, and
// looks whether anything is lost: the run, taken up again where it was ours that died,
// ends as an undisturbed one does, and no call was made twice (V5).
// Usage: npm run test:extra -- drive-kills HOST [KILLS] [SEED], half of the kills for each
// of the two
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { goal, killedStory, logName } from '../../run-kills/story.ts';
import { type Driven, type DriveStage, endOf, onDriveStage, type Run } from './drive.ts';
import { installHost } from './install-host.ts';
import { readRecord } from './record.ts';

const notes = ['01', '02', '03', '04', '05', '06'];
/** In one story: as many as can open the circuit (G9), when no step lies between them. */
const mostInOne = 3;

type Victim = 'host' | 'run';

export interface KillsReport {
  readonly killed: Readonly<Record<Victim, number>>;
  readonly broken: readonly string[];
}

/** @param most of each of the two */
export async function driveKills(
  stage: DriveStage,
  most: number,
  seed: number,
): Promise<KillsReport> {
  const random = seededRandom(seed);
  const killed = { host: 0, run: 0 };
  const broken: string[] = [];
  const begin = [
    '--with',
    stage.host.name,
    goal,
    '--auto',
    '--check',
    'test -f notes/06.md',
  ];
  const play = (told: string, use: (driven: Driven) => Promise<Run>) =>
    onDriveStage(stage, [killedStory(notes.length)], async (driven) => {
      // A host without a tool for files writes them by its shell, which makes no folder.
      mkdirSync(join(driven.project.directory, 'notes'));
      const began = Date.now();
      const last = await use(driven);
      const code = await last.ended;
      const found = (await findBroken(driven, last)).map(
        (sentence) => `${told}: ${sentence}`,
      );
      broken.push(...found);
      const { length } = driven.starts();
      console.log(
        `${told}: exit code ${code} after ${length} starts, ${found.length} broken`,
      );
      return Date.now() - began;
    });

  // The moments lie within what it takes on this machine.
  const usualMs = await play('undisturbed', async (driven) => driven.run(begin));
  for (let number = 1; Math.min(killed.host, killed.run) < most; number += 1) {
    const victim: Victim = killed.host <= killed.run ? 'host' : 'run';
    await play(`story ${number} (kills the ${victim})`, async (driven) => {
      let life = driven.run(begin);
      for (let times = 0; times < mostInOne && killed[victim] < most; times += 1) {
        if (!(await killAt(driven, life, victim, 100 + random() * usualMs))) break;
        killed[victim] += 1;
        if (victim === 'host') continue;
        await life.ended;
        const hasSession = (await readRecord(driven.project)).length > 0;
        life = driven.run(hasSession ? ['--resume'] : begin);
      }
      // The same error again and again ends a run until the human speaks (G9).
      if ((await life.ended) !== 0 && endOf(life)?.reason === 'circuit-open')
        life = driven.run(['--resume', 'Go on with all of it.']);
      return life;
    });
  }
  return { killed, broken };
}

/** False: it ended before. */
async function killAt(
  driven: Driven,
  run: Run,
  victim: Victim,
  waitMs: number,
): Promise<boolean> {
  const isOver = await Promise.race([
    run.ended.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), waitMs)),
  ]);
  if (isOver) return false;
  if (victim === 'run') return run.child.kill('SIGKILL');
  try {
    process.kill(-(driven.starts().at(-1)?.pid ?? Number.NaN), 'SIGKILL');
    return true;
  } catch {
    // Safe: just now there is no host, so it waits for the next one.
    return killAt(driven, run, victim, 50);
  }
}

/** What an undisturbed run leaves behind, and this one did not. */
async function findBroken({ project }: Driven, last: Run): Promise<readonly string[]> {
  const code = await last.ended;
  const ended = endOf(last);
  const missing = notes.filter(
    (note) => !project.read(`notes/${note}.md`)?.startsWith(`note ${note}`),
  );
  const [session, ...others] = (await readRecord(project)).filter(
    ({ kind }) => kind === 'main',
  );
  const open = session?.todos.filter(({ status }) => status !== 'completed') ?? [];
  const calls = (project.read(logName) ?? '').split('\n').filter(Boolean);
  const doubled = calls.filter((call, index) => calls.indexOf(call) < index);
  const unmade = notes.filter(
    (note) => !calls.some((call) => call.startsWith(`${note}-`)),
  );
  return [
    ...(code === 0 && ended?.outcome === 'done'
      ? []
      : [
          `exit code ${code}, ${ended?.outcome} (${ended?.reason})\n${last.printed().slice(-1500)}`,
        ]),
    ...(missing.length > 0 ? [`missing ${missing.join(', ')}`] : []),
    ...(others.length > 0 ? [`${others.length} sessions too many`] : []),
    ...(open.length > 0 ? [`open ${open.map(({ title }) => title).join(', ')}`] : []),
    ...(doubled.length > 0 ? [`made twice ${doubled.join(', ')}`] : []),
    ...(unmade.length > 0 ? [`never made ${unmade.join(', ')}`] : []),
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
  // The word before it: behind a script's name, that of a host would make this process
  // one, and no human speaks beneath those.
  const [_kills, host = 'claude-code', kills = '20', seed = '1'] = process.argv.slice(2);
  installHost(host);
  const place = pathToFileURL(join(import.meta.dirname, '..', host, 'drive-stage.ts'));
  const { stage } = (await import(place.href)) as { stage: DriveStage };
  const { killed, broken } = await driveKills(
    stage,
    Math.ceil(Number(kills) / 2),
    Number(seed),
  );
  for (const sentence of broken) console.log(sentence);
  const counts = `the host ${killed.host} times, our own process ${killed.run} times`;
  console.log(
    `drive kills (${host}, seed ${seed}): killed ${counts}: ${broken.length} broken`,
  );
  process.exitCode = broken.length === 0 ? 0 : 1;
}
