// The bench of the plan file: the real `run --plan` in this process, over a real store,
// real checks and the scripted model behind real HTTP. What a human does meanwhile
// happens between two printed events.
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AgentEvent, RunEnded } from '../../src/agent/agent-event.ts';
import type { Io } from '../../src/cli/io.ts';
import { main } from '../../src/cli/main.ts';
import type { LedgerEntry } from '../../src/core/ledger.ts';
import type { Todo } from '../../src/core/todo.ts';
import { systemClock } from '../../src/engine/system.ts';
import {
  complete,
  type LoggedRequest,
  type ScriptedModel,
  type Step,
  say,
  script,
  startScriptedModel,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storePath } from '../../src/store/state-directory.ts';

export interface PlanRun {
  readonly code: number;
  readonly err: string;
  readonly events: readonly AgentEvent[];
  /** Null: it was refused before it began. */
  readonly ended: RunEnded | null;
  readonly todos: readonly Todo[];
  readonly ledger: readonly LedgerEntry[];
}

export interface PlanStage {
  readonly root: string;
  readonly state: string;
  readonly model: ScriptedModel;
  /** Calls of the agent. */
  requests(): readonly LoggedRequest[];
  write(path: string, text: string): void;
  read(path: string): string;
  /**
   * `run` with these arguments; `watch` sees every event as it is printed. `cwd`: where
   * the human stands.
   */
  run(
    argv: readonly string[],
    watch?: (event: AgentEvent) => void,
    cwd?: string,
  ): Promise<PlanRun>;
}

export interface PlanStory {
  readonly steps: readonly Step[];
  readonly afterwards?: Step;
  readonly files?: Readonly<Record<string, string>>;
  /** Default: auto. */
  readonly mode?: 'auto' | 'read-only';
}

/**
 * Line ends, odd spaces and boxes that are none, so that a byte that is touched by
 * mistake is seen.
 */
export const document = [
  '---',
  'title: Two files',
  'checks:',
  '  - test -e alpha.txt',
  '---',
  '# Two files  ',
  '',
  'Words with [x] and `- [ ] code`.\t',
  '* [ ] Write alpha !high',
  '  check: grep -q good alpha.txt',
  '* [ ] Write beta',
  '  - check: `grep -q good beta.txt`',
  '',
  'The end, without a line end',
].join('\r\n');
export const ticked = document.replaceAll('* [ ]', '* [x]');
/**
 * What is said of one item alone: then nothing depends on which of two checks is finished
 * first.
 */
export const single = document.replace(/\* \[ \] Write beta\r\n.*\r\n/, '');

export const runPlan = ['--plan', 'PLAN.md'];
export const writeAlpha = writeFile('alpha.txt', 'good');
export const writeBeta = writeFile('beta.txt', 'good');
export const honestWork: readonly Step[] = [
  writeAlpha,
  complete('Write alpha'),
  writeBeta,
  complete('Write beta'),
  say('Both are written.'),
];

/** The kinds of the continuations, in order. */
export function kinds({ events }: PlanRun): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'continuation' ? [event.textKind] : [],
  );
}

export function notices({ events }: PlanRun): string {
  return events
    .flatMap((event) => (event.type === 'notice' ? [event.sentence] : []))
    .join('\n');
}

/** The checks that were seen to end, a line each: "name: result". */
export function checkResults({ events }: PlanRun): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'check-ended' ? [`${event.check}: ${event.result}`] : [],
  );
}

export async function setPlanStage({
  steps,
  afterwards,
  files = {},
  mode = 'auto',
}: PlanStory): Promise<PlanStage> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-plan-')));
  const root = join(base, 'work');
  const state = join(base, 'state');
  mkdirSync(join(root, '.git'), { recursive: true });
  const options = afterwards === undefined ? {} : { afterwards };
  const model = await startScriptedModel({
    scripts: [script('story', steps, options)],
    keepRequests: 1000,
  });
  onTestFinished(async () => {
    await model.close();
    rmSync(base, { recursive: true, force: true, maxRetries: 3 });
  });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(base, 'user'),
    UNTILDONE_HOME: state,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'sk-story-key-0123456789',
  };
  const write = (path: string, text: string): void =>
    writeFileSync(join(root, path), text);
  for (const [path, text] of Object.entries(files)) write(path, text);

  async function run(
    argv: readonly string[],
    watch?: (event: AgentEvent) => void,
    cwd = root,
  ): Promise<PlanRun> {
    const events: AgentEvent[] = [];
    let err = '';
    const io: Io = {
      stdout: {
        write: (text) => {
          for (const line of text.split('\n').filter((each) => each !== '')) {
            const event = JSON.parse(line) as AgentEvent;
            events.push(event);
            watch?.(event);
          }
        },
      },
      stderr: { write: (text) => (err += text) },
      env,
      cwd,
      isTTY: false,
      clock: systemClock,
      // The runner of the checks then works in this process.
      whyNoHuman: async () => null,
      agentAbove: async () => null,
      agentSessions: async () => [],
    };
    // An agent that repeats itself is known after its first reminder; three would only
    // take longer.
    const patience = afterwards === undefined ? [] : ['--max-stagnant=1'];
    const may = argv.includes('--read-only') ? [] : [`--${mode}`];
    const code = await main(
      ['run', ...argv, ...patience, ...may, '--json', '--model', 'openai/story'],
      io,
    );
    const last = events.at(-1);
    const ended = last?.type === 'run-ended' ? last : null;
    const record =
      ended === null
        ? { todos: [], ledger: [] }
        : await recordOf(storePath(env), ended.sessionId);
    return { code, err, events, ended, ...record };
  }

  return {
    root,
    state,
    model,
    requests: () => model.requests.filter(({ isAside }) => !isAside),
    write,
    read: (path) => readFileSync(join(root, path), 'utf8'),
    run,
  };
}

async function recordOf(
  path: string,
  sessionId: string,
): Promise<Pick<PlanRun, 'todos' | 'ledger'>> {
  const store = await openSqliteStore({ path, clock: systemClock });
  try {
    const planId = (await store.state(sessionId))?.planId ?? sessionId;
    return { todos: await store.todos({ planId }), ledger: await store.ledger(planId) };
  } finally {
    await store.close();
  }
}
