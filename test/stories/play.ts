// The test bench of the stories: a scripted model behind real HTTP, the real provider
// packages, a real SQLite file, the whole loop. A story is played to its end, and
// everything that reached the model or the human comes back.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { AgentEvent, RunEnded } from '../../src/agent/agent-event.ts';
import { resolveModel } from '../../src/agent/models/resolve-model.ts';
import { type AgentRunOptions, runAgent } from '../../src/agent/run-agent.ts';
import { type Worker, workerTypes } from '../../src/agent/workers/worker-types.ts';
import { mergeSettings } from '../../src/core/config.ts';
import { type Decision, exitCodes } from '../../src/core/decision.ts';
import type { PartialSettings, Settings } from '../../src/core/settings.ts';
import type { Session } from '../../src/core/state.ts';
import type { Todo } from '../../src/core/todo.ts';
import type { MessageRow } from '../../src/engine/host.ts';
import type { Store } from '../../src/engine/store.ts';
import { createIdentifiers } from '../../src/engine/system.ts';
import {
  type LoggedRequest,
  type Script,
  type ScriptedModel,
  type ScriptOptions,
  type Step,
  script,
  startScriptedModel,
} from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createFastClock } from './fast-clock.ts';
import type { StoryProtocol } from './protocols.ts';

// The model of the stories has no name that the packages know; their remarks about that
// are not the point.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

export interface Story extends ScriptOptions {
  readonly protocol: StoryProtocol;
  readonly steps: readonly Step[];
  readonly goal?: string;
  readonly settings?: PartialSettings;
  readonly contextLimit?: number;
  readonly permissions?: AgentRunOptions['permissions'];
  readonly asking?: AgentRunOptions['asking'];
  /** Prepares the workspace. */
  readonly prepare?: (root: string) => void;
  /** Sees every event as it happens. */
  readonly watch?: (event: AgentEvent) => void;
  readonly onControl?: AgentRunOptions['onControl'];
  readonly fingerprint?: 'workspace' | 'none';
  /** Of the story's clock; the more, the less exact. */
  readonly speed?: number;
  readonly acceptClaims?: boolean;
  /**
   * Workers by their type, with what their model does; each has a model of its own name.
   */
  readonly workers?: Readonly<Record<string, readonly Step[]>>;
}

export interface Played {
  readonly ended: RunEnded;
  readonly events: readonly AgentEvent[];
  readonly session: Session;
  readonly todos: readonly Todo[];
  /** Oldest first. */
  readonly decisions: readonly Decision[];
  readonly transcript: readonly MessageRow[];
  /** Calls of the agent; summaries and the like stand in `asides`. */
  readonly requests: readonly LoggedRequest[];
  readonly asides: readonly LoggedRequest[];
  readonly root: string;
  readonly stage: Stage;
}

/** What outlives one run: the model, the store and the workspace. */
export interface Stage {
  readonly model: ScriptedModel;
  readonly store: Store;
  readonly root: string;
  readonly sessionId: string;
  /** Runs the agent on this stage; a second time it goes on with what is there. */
  run(options?: StageRun): Promise<Played>;
}

export interface StageRun {
  readonly goal?: string | null;
  readonly resume?: boolean;
  readonly asking?: AgentRunOptions['asking'];
  readonly permissions?: AgentRunOptions['permissions'];
  /** Another store over the same file, such as one that dies. */
  readonly store?: Store;
  readonly settings?: PartialSettings;
  readonly watch?: (event: AgentEvent) => void;
}

const storyGoal = 'Do the work.';

export async function play(story: Story): Promise<Played> {
  return (await setStage(story)).run();
}

export async function setStage(story: Story): Promise<Stage> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-story-')));
  const root = join(base, 'work');
  mkdirSync(root);
  const clock = createFastClock(story.speed);
  const store = await openSqliteStore({
    path: join(base, 'state', 'untildone.db'),
    clock,
  });
  const model = await startScriptedModel({
    scripts: [scriptOf(story), ...workerScripts(story)],
    keepRequests: 5000,
  });
  onTestFinished(async () => {
    await model.close();
    await store.close();
    rmSync(base, { recursive: true, force: true });
  });
  story.prepare?.(root);
  const sessionId = createIdentifiers(clock).next();

  async function run(given: StageRun = {}): Promise<Played> {
    const settings = settingsOf(story, model.url, given.settings);
    const resolved = await resolveModel(
      settings.model ?? `${story.protocol.provider}/story`,
      {
        settings,
        origins: {},
        environment: {},
      },
    );
    if (!resolved.ok) throw new Error(resolved.error);
    const workers = await workersOf(story, settings);
    const events: AgentEvent[] = [];
    const ended = await runAgent({
      goal: given.goal === undefined ? (story.goal ?? storyGoal) : given.goal,
      sessionId,
      resume: given.resume ?? false,
      model: resolved,
      store: given.store ?? store,
      clock,
      identifiers: createIdentifiers(clock),
      policy: { settings, goalChecks: [] },
      directory: root,
      permissions: given.permissions ??
        story.permissions ?? { mode: 'auto', shellAllow: [] },
      ...askingOf(given, story),
      environment: process.env,
      emit: (event) => {
        events.push(event);
        story.watch?.(event);
        given.watch?.(event);
      },
      ...(story.fingerprint === 'none' && { look: async () => null }),
      acceptClaims: story.acceptClaims ?? false,
      random: () => 0,
      workers,
      ...(story.onControl === undefined ? {} : { onControl: story.onControl }),
    });
    const played = await collect(store, model, sessionId, { ended, events, root, stage });
    expectSound(played);
    return played;
  }

  const stage: Stage = { model, store, root, sessionId, run };
  return stage;
}

function askingOf(given: StageRun, story: Story): Pick<AgentRunOptions, 'asking'> {
  const asking = given.asking ?? story.asking;
  return asking === undefined ? {} : { asking };
}

function scriptOf({ steps, cursor, family, afterwards, aside }: Story): Script {
  return script('story', steps, {
    ...(cursor === undefined ? {} : { cursor }),
    ...(family === undefined ? {} : { family }),
    ...(afterwards === undefined ? {} : { afterwards }),
    ...(aside === undefined ? {} : { aside }),
  });
}

function workerScripts({ workers = {} }: Story): Script[] {
  return Object.entries(workers).map(([name, steps]) => script(name, steps));
}

async function workersOf(story: Story, settings: Settings): Promise<readonly Worker[]> {
  const types = workerTypes(settings, {});
  if (!types.ok) throw new Error(types.error);
  const wanted = types.workers.filter(({ name }) =>
    Object.hasOwn(story.workers ?? {}, name),
  );
  return Promise.all(
    wanted.map(async (type) => {
      const written = type.modelName ?? `${story.protocol.provider}/${type.name}`;
      const model = await resolveModel(written, {
        settings,
        origins: {},
        environment: {},
      });
      if (!model.ok) throw new Error(model.error);
      return { ...type, model };
    }),
  );
}

function settingsOf(story: Story, url: string, more: PartialSettings = {}): Settings {
  const { protocol, contextLimit = 200_000 } = story;
  const { settings } = mergeSettings({
    flag: { scope: 'turn', ...story.settings, ...more },
  });
  const provider = { baseUrl: `${url}${protocol.path}`, api: protocol.api, contextLimit };
  return { ...settings, models: { [protocol.provider]: provider } };
}

async function collect(
  store: Store,
  model: ScriptedModel,
  sessionId: string,
  rest: Pick<Played, 'ended' | 'events' | 'root' | 'stage'>,
): Promise<Played> {
  const session = await store.state(sessionId);
  if (session === null) throw new Error('There is no session.');
  return {
    ...rest,
    session,
    todos: await store.todos({ planId: session.planId }),
    decisions: (await store.decisions(sessionId, 10_000))
      .map(({ decision }) => decision)
      .reverse(),
    transcript: (await store.transcript(sessionId, 0)).messages,
    requests: model.requests.filter(({ isAside }) => !isAside),
    asides: model.requests.filter(({ isAside }) => isAside),
  };
}

/** What holds for every story, whatever it is about. */
function expectSound({ ended, events, decisions, requests }: Played): void {
  expect(events.at(-1)).toBe(ended);
  const isAccepted = ended.outcome === 'claimed' && ended.exitCode === 0;
  if (!isAccepted) expect(ended.exitCode).toBe(exitCodes[ended.outcome]);
  // C4: every continuation is on the record, and each reached the model in its own words.
  const sent = events.filter((event) => event.type === 'continuation');
  const recorded = decisions.filter(
    ({ answer, observed }) => answer === 'continue' && !observed,
  );
  expect(recorded.slice(-sent.length || recorded.length)).toHaveLength(sent.length);
  for (const { text } of sent)
    expect(requests.some((request) => hears(request, text))).toBe(true);
  // I7: the words of the system are never shown as the agent's.
  const shown = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  for (const { text } of sent) expect(shown).not.toContain(text.slice(0, 60));
  // Decided and over: nobody speaks to the model any more.
  expect(events.filter(({ type }) => type === 'run-ended')).toHaveLength(1);
}

function hears(request: LoggedRequest, text: string): boolean {
  return request.messages.some(
    (message) => message.role === 'user' && message.text.includes(text),
  );
}
