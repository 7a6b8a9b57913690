// Our own agent against a scripted model: the loop, the provider package, HTTP and the
// store are the real ones. Shared by the programs that measure the loop or kill it; it
// checks nothing itself.
import type { AgentEvent, RunEnded } from '../../src/agent/agent-event.ts';
import type { AgentRunOptions } from '../../src/agent/loop/run.ts';
import {
  type ResolvedModel,
  resolveModel,
} from '../../src/agent/models/resolve-model.ts';
import { runAgent } from '../../src/agent/run-agent.ts';
import { type Worker, workerTypes } from '../../src/agent/workers/worker-types.ts';
import type { Policy } from '../../src/core/policy.ts';
import { defaultSettings, type Settings } from '../../src/core/settings.ts';
import type { Store } from '../../src/engine/store.ts';
import { createIdentifiers, systemClock } from '../../src/engine/system.ts';

export type ScriptedApi = 'chat' | 'responses' | 'anthropic' | 'google';

/**
 * The provider's own name where it has one: then its package and its cache options are
 * used.
 */
const providers = {
  chat: { name: 'scripted', path: '/v1' },
  responses: { name: 'openai', path: '/v1' },
  anthropic: { name: 'anthropic', path: '/v1' },
  google: { name: 'google', path: '/v1beta' },
} as const;

export interface ScriptedAgent {
  /** Of the scripted model, without a path. */
  readonly url: string;
  readonly api?: ScriptedApi;
  /** Default 100,000. */
  readonly contextLimit?: number;
  readonly context?: Partial<Settings['context']>;
  readonly settings?: Partial<Settings>;
}

export interface ScriptedRun extends ScriptedAgent {
  readonly store: Store;
  readonly directory: string;
  readonly sessionId: string;
  /** null: the session is resumed. */
  readonly goal: string | null;
  readonly emit: (event: AgentEvent) => void;
  /** Types of workers; each has a model of its own name. */
  readonly workers?: readonly string[];
  /** Of the goal; default: none, and nothing that could run one. */
  readonly goalChecks?: readonly string[];
  readonly checks?: Policy['checks'];
  readonly checker?: AgentRunOptions['checker'];
}

function settingsOf({
  url,
  api = 'chat',
  contextLimit = 100_000,
  context,
  settings,
}: ScriptedAgent) {
  const { name, path } = providers[api];
  return {
    ...defaultSettings,
    scope: 'turn',
    models: { [name]: { baseUrl: `${url}${path}`, api, contextLimit } },
    context: { ...defaultSettings.context, ...context },
    ...settings,
  } satisfies Settings;
}

export async function scriptedModelObject(agent: ScriptedAgent): Promise<ResolvedModel> {
  const sources = { settings: settingsOf(agent), origins: {}, environment: {} } as const;
  const model = await resolveModel(
    `${providers[agent.api ?? 'chat'].name}/scripted`,
    sources,
  );
  if (!model.ok) throw new Error(model.error);
  return model;
}

async function scriptedWorkers(run: ScriptedRun): Promise<readonly Worker[]> {
  const settings = settingsOf(run);
  const types = workerTypes(settings, {});
  if (!types.ok) throw new Error(types.error);
  const { name: provider } = providers[run.api ?? 'chat'];
  const wanted = types.workers.filter(({ name }) => run.workers?.includes(name));
  return Promise.all(
    wanted.map(async (type) => {
      const sources = { settings, origins: {}, environment: {} } as const;
      const model = await resolveModel(`${provider}/${type.name}`, sources);
      if (!model.ok) throw new Error(model.error);
      return { ...type, model };
    }),
  );
}

export async function runScriptedAgent(run: ScriptedRun): Promise<RunEnded> {
  const { store, directory, sessionId, goal, emit } = run;
  return runAgent({
    goal,
    sessionId,
    resume: goal === null,
    model: await scriptedModelObject(run),
    store,
    clock: systemClock,
    identifiers: createIdentifiers(),
    policy: {
      settings: settingsOf(run),
      goalChecks: run.goalChecks ?? [],
      checks: run.checks ?? {},
    },
    directory,
    permissions: { mode: 'auto', shellAllow: [] },
    environment: process.env,
    emit,
    acceptClaims: false,
    workers: await scriptedWorkers(run),
    look: async () => null,
    ...(run.checker && { checker: run.checker }),
  });
}
