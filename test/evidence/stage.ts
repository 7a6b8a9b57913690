// The bench of the evidence: the real `run` command in this process, over a real SQLite
// file and real checks, with the scripted model behind real HTTP. It knows nothing of a
// test framework, so that the long proofs can use it too.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AgentEvent, RunEnded } from '../../src/agent/agent-event.ts';
import type { Io } from '../../src/cli/io.ts';
import { main } from '../../src/cli/main.ts';
import type { Decision } from '../../src/core/decision.ts';
import type { LedgerEntry } from '../../src/core/ledger.ts';
import type { PartialSettings } from '../../src/core/settings.ts';
import type { Session } from '../../src/core/state.ts';
import type { Todo } from '../../src/core/todo.ts';
import type { EvidenceRow } from '../../src/engine/host.ts';
import { systemClock } from '../../src/engine/system.ts';
import {
  type LoggedRequest,
  type ScriptedModel,
  type Step,
  script,
  startScriptedModel,
} from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storePath } from '../../src/store/state-directory.ts';
import { acceptProject } from '../support/accept-project.ts';

export interface EvidenceStory {
  readonly steps: readonly Step[];
  /** What the human wrote into untildone.json. */
  readonly config?: PartialSettings;
  /** What stands in the workspace before. */
  readonly files?: Readonly<Record<string, string>>;
  /** More arguments of `run`. Default: `--auto`. */
  readonly options?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly afterwards?: Step;
  /** Sees every event as it is printed, between two steps of the run. */
  readonly watch?: (event: AgentEvent, stage: Stage) => void;
  /** How the human's terminal looks; without it nobody is there. */
  readonly io?: Partial<Io>;
}

/** What is there before and after a run. */
export interface Stage {
  /** The workspace. */
  readonly root: string;
  /** The store's file. */
  readonly store: string;
  readonly model: ScriptedModel;
  /** Any other command of the human, in the same folder. */
  command(
    ...argv: string[]
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  run(goal?: string): Promise<Told>;
  /** Must be called. */
  close(): Promise<void>;
}

/** All that is known of a run when it is over. */
export interface Told {
  readonly code: number;
  readonly ended: RunEnded;
  readonly events: readonly AgentEvent[];
  readonly err: string;
  readonly session: Session;
  readonly todos: readonly Todo[];
  /** Oldest first. */
  readonly decisions: readonly Decision[];
  readonly ledger: readonly LedgerEntry[];
  /** Newest first. */
  readonly evidence: readonly EvidenceRow[];
  readonly requests: readonly LoggedRequest[];
  readonly stage: Stage;
}

export async function setStage(story: EvidenceStory): Promise<Stage> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-evidence-')));
  const root = join(base, 'work');
  const afterwards =
    story.afterwards === undefined ? {} : { afterwards: story.afterwards };
  const model = await startScriptedModel({
    scripts: [script('story', story.steps, afterwards)],
    keepRequests: 1000,
  });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(base, 'user'),
    UNTILDONE_HOME: join(base, 'state'),
    ...story.environment,
  };
  const userConfig = join(base, 'user', '.config', 'untildone', 'untildone.json');
  mkdirSync(root);
  put(userConfig, JSON.stringify({ models: { scripted: providerAt(model.url) } }));
  for (const [path, content] of Object.entries(story.files ?? {}))
    put(join(root, path), content);
  // Always there: where none is, one is looked for in the folders above.
  put(join(root, 'untildone.json'), JSON.stringify(story.config ?? {}));
  acceptProject(env.UNTILDONE_HOME, root);

  async function command(
    argv: readonly string[],
    onOutput: (text: string) => void = () => {},
  ) {
    let out = '';
    let err = '';
    const io: Io = {
      stdout: {
        write: (text) => {
          out += text;
          onOutput(text);
        },
      },
      stderr: { write: (text) => (err += text) },
      env,
      cwd: root,
      isTTY: false,
      clock: systemClock,
      // The runner of the checks then works in this process.
      whyNoHuman: async () => null,
      agentAbove: async () => null,
      agentSessions: async () => [],
      ...story.io,
    };
    const code = await main(argv, io);
    return { code, out, err };
  }

  const stage: Stage = {
    root,
    store: storePath(env),
    model,
    command: (...argv) => command(argv),
    async run(goal = 'Do the work.') {
      const events: AgentEvent[] = [];
      const argv = [
        'run',
        goal,
        '--json',
        '--model',
        'scripted/story',
        ...(story.options ?? ['--auto']),
      ];
      const { code, err } = await command(argv, (text) => {
        for (const line of text.split('\n').filter((each) => each !== '')) {
          const event = JSON.parse(line) as AgentEvent;
          events.push(event);
          story.watch?.(event, stage);
        }
      });
      const ended = events.at(-1);
      if (ended?.type !== 'run-ended')
        throw new Error(`The run did not end: ${code} ${err}`);
      return {
        code,
        err,
        events,
        ended,
        ...(await recordOf(stage, ended.sessionId)),
        stage,
      };
    },
    async close() {
      await model.close();
      rmSync(base, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  return stage;
}

/** Plays one story to its end and takes the stage down. */
export async function tell(story: EvidenceStory): Promise<Told> {
  const stage = await setStage(story);
  try {
    return await stage.run();
  } finally {
    await stage.close();
  }
}

async function recordOf({ store: path, model }: Stage, sessionId: string) {
  const store = await openSqliteStore({ path, clock: systemClock });
  try {
    const session = await store.state(sessionId);
    if (session === null) throw new Error('There is no session.');
    return {
      session,
      todos: await store.todos({ planId: session.planId }),
      decisions: (await store.decisions(sessionId, 10_000))
        .map(({ decision }) => decision)
        .reverse(),
      ledger: await store.ledger(session.planId),
      evidence: await store.evidence(sessionId, 10_000),
      requests: model.requests.filter(({ isAside }) => !isAside),
    };
  } finally {
    await store.close();
  }
}

function providerAt(url: string) {
  return { baseUrl: `${url}/v1`, api: 'chat', contextLimit: 200_000 };
}

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
