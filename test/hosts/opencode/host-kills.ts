// Kills the real `opencode serve` with SIGKILL at random moments of countdown and
// injection, starts it again in the same folder, and counts what each session got (V5):
// one continuation, in the host's own messages and at the model.
// Usage: npm run test:extra -- opencode-kills [KILLS] [SEED]
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  complete,
  plan,
  say,
  script,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { installHost } from '../harness/install-host.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { type Conversation, joinConversation, openConversation } from './conversation.ts';
import type { Kept } from './our-record.ts';
import { type Serve, startServe } from './serve.ts';
import { createSurroundings, type Surroundings } from './stage.ts';

export interface HostKillsOptions {
  readonly kills: number;
  readonly seed: number;
}

export interface HostKillsReport {
  readonly kills: number;
  /**
   * Sessions that had a countdown or an injection when the host was killed, or had just
   * been through one.
   */
  readonly sessions: number;
  /** Where the kills fell, by what the record said of the continuation. */
  readonly phases: Readonly<Record<Phase, number>>;
  /** One sentence per broken promise. */
  readonly broken: readonly string[];
}

export type Phase = 'countdown' | 'intended' | 'sent' | 'observed';

/** Stops with one todo open; sent on, it does the rest. */
const story = script('story', [
  plan('first', 'second'),
  writeFile('first.txt', 'x'),
  complete('first'),
  say('I am done.'),
  writeFile('second.txt', 'x'),
  complete('second'),
  say('All is done.'),
]);

const countdownMs = 500;
/**
 * A kill around the injection falls so long after it was decided on: it is sent, seen,
 * and answered meanwhile.
 */
const injectionMs = 200;
/** A start of the host and its first call of a model, on a busy machine. */
const arrivalSeconds = 60;
/** Several sessions are in different moments when their host dies. */
const sessionsPerLife = 3;

interface Probe {
  readonly id: string;
  readonly phase: Phase;
  readonly killedAfterMs: number;
}

export async function runHostKills({
  kills,
  seed,
}: HostKillsOptions): Promise<HostKillsReport> {
  const random = seededRandom(seed);
  const around = await createSurroundings([story]);
  const directory = around.folder({
    config: { countdownSeconds: countdownMs / 1000, minIntervalSeconds: 0 },
  });
  const phases = { countdown: 0, intended: 0, sent: 0, observed: 0 };
  const broken: string[] = [];
  let probes: readonly Probe[] = [];
  const all: Probe[] = [];
  try {
    for (let life = 0; life <= kills; life += 1) {
      const serve = await startServe(around.project);
      try {
        broken.push(...(await inspect(around, serve, directory, probes)));
        if (life < kills) {
          probes = await liveAndDie(around, serve, directory, random);
          for (const { phase } of probes) phases[phase] += 1;
          all.push(...probes);
        } else broken.push(...(await inspect(around, serve, directory, all)));
      } finally {
        await serve.crash();
      }
    }
    return { kills, sessions: all.length, phases, broken: [...new Set(broken)] };
  } finally {
    await around.close();
  }
}

/**
 * Opens sessions, waits until the first one counts down or is injected into, and kills
 * the host a random time later.
 */
async function liveAndDie(
  around: Surroundings,
  serve: Serve,
  directory: string,
  random: () => number,
): Promise<readonly Probe[]> {
  const opened: Conversation[] = [];
  for (let number = 0; number < sessionsPerLife; number += 1) {
    const conversation = await openConversation(serve, directory);
    opened.push(conversation);
    await conversation.say('Do it.');
    await sleep(random() * 150);
  }
  const isBegun = random() < 0.5 ? isCountingDown : isInjecting;
  await waitUntil('one of them is there', async () => {
    const begun = await Promise.all(
      opened.map(async ({ id }) => isBegun(await around.record.read(id))),
    );
    return begun.includes(true);
  });
  const killedAfterMs = Math.round(
    random() * (isBegun === isInjecting ? injectionMs : countdownMs),
  );
  await sleep(killedAfterMs);
  await serve.crash();
  const probes = await Promise.all(
    opened.map(async ({ id }): Promise<Probe | null> => {
      const phase = await phaseOf(around, id);
      return phase === null ? null : { id, phase, killedAfterMs };
    }),
  );
  return probes.filter((probe) => probe !== null);
}

function isCountingDown(kept: Kept | null): boolean {
  return kept?.session.timer?.purpose === 'due';
}

function isInjecting(kept: Kept | null): boolean {
  return (kept?.outbox ?? []).length > 0;
}

/** Null: its turn still ran, so that there was nothing to continue yet. */
async function phaseOf(around: Surroundings, id: string): Promise<Phase | null> {
  const kept = await around.record.read(id);
  const last = kept?.outbox.at(-1);
  if (last?.state === 'intended' || last?.state === 'sent' || last?.state === 'observed')
    return last.state;
  return isCountingDown(kept) ? 'countdown' : null;
}

/** The host runs again and somebody looks at the folder: nothing more may be needed. */
async function inspect(
  around: Surroundings,
  serve: Serve,
  directory: string,
  probes: readonly Probe[],
): Promise<readonly string[]> {
  const sentences = probes.map(async ({ id, phase, killedAfterMs }) => {
    const conversation = joinConversation(serve, directory, id);
    const ours = async (): Promise<number> =>
      (await conversation.messages()).filter(({ parts }) =>
        parts.some(({ text }) => text?.includes('TODO CONTINUATION')),
      ).length;
    const reached = (): number => around.continuations(id).length;
    const isThere = async (): Promise<boolean> => (await ours()) > 0 && reached() > 0;
    // Whether it came is judged below, by the numbers.
    await waitUntil('the continuation arrives', isThere, arrivalSeconds).catch(() => {});
    await sleep(500);
    const inHost = await ours();
    const atModel = reached();
    if (inHost === 1 && atModel === 1) return [];
    const where = `${id}, killed in its ${phase} phase, after ${killedAfterMs} ms`;
    return [`${where}: ${inHost} continuations in the host, ${atModel} at the model`];
  });
  return (await Promise.all(sentences)).flat();
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
  const [kills = 200, seed = 1] = process.argv.slice(2).map(Number);
  installHost('opencode');
  const report = await runHostKills({ kills, seed });
  for (const sentence of report.broken) process.stdout.write(`${sentence}\n`);
  const phases = Object.entries(report.phases).map(
    ([phase, count]) => `${count} ${phase}`,
  );
  process.stdout.write(
    `opencode kills: ${report.kills} kills, ${report.sessions} sessions (${phases.join(', ')}), ${report.broken.length} broken promises\n`,
  );
  process.exitCode = report.broken.length === 0 ? 0 : 1;
}
