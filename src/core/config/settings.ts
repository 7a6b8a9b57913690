// Every setting, once: its kind, its default, whether an agent may override it, one sentence for people (C1).
// Types, defaults, schema, validator, environment names and flags come from this table; nothing is read here.

import { type CheckSettings, checkSettings } from './check-settings.ts';
import { boolean, choice, integer, list, named, nullable, number, section, text } from './kinds.ts';
import {
  type ContextSettings,
  type IterationSettings,
  type ModelPrice,
  type ModelProvider,
  ownAgentSettings,
  type ToolSettings,
} from './own-agent-settings.ts';
import { type PermissionSettings, permissionSettings } from './permission-settings.ts';
import { defaultGoOnPhrases, defaultStopWords } from './phrases.ts';
import { perAgent, type Setting, shared } from './setting.ts';
import { type WorkerSettings, workerSettings } from './worker-settings.ts';

/** Several values under one name; a file may give any of them. */
interface SectionSettings {
  readonly context: ContextSettings;
  readonly iterations: IterationSettings;
  readonly tools: ToolSettings;
}

/** Any subset, also of what stands in a section. */
type Subset<Whole> = {
  readonly [Name in keyof Whole]?: Name extends keyof SectionSettings | 'permissions'
    ? Partial<Whole[Name]>
    : Whole[Name];
};

/** What an agent may override under `agents`. */
export interface OverridableSettings extends SectionSettings {
  readonly mode: 'off' | 'observe' | 'enforce';
  readonly enabled: boolean;
  readonly maxStagnant: number;
  readonly maxContinuations: number;
  readonly ceiling: number;
  readonly minIntervalMs: number;
  readonly singleInProgress: boolean;
  readonly countdownSeconds: number;
  readonly toastDuration: number;
  readonly gracePeriod: number;
  readonly timerMaxAgeMs: number;
  readonly contextShare: number;
  readonly maxTokens: number | null;
  readonly maxCost: number | null;
  readonly maxMinutes: number | null;
  readonly circuitAfter: number;
  readonly sendAttempts: number;
  readonly sendBackoffMs: number;
  readonly backgroundWaitMinutes: number;
  readonly subagents: 'off' | 'on';
  readonly model: string | null;
}

export type AgentSettings = Subset<OverridableSettings>;

export interface Settings extends OverridableSettings, CheckSettings, WorkerSettings {
  readonly scope: 'session' | 'turn';
  readonly maxTodos: number;
  readonly maxTitleBytes: number;
  readonly skipAgents: readonly string[];
  readonly stopWords: readonly string[];
  readonly goOnPhrases: readonly string[];
  readonly agentTypes: readonly string[];
  readonly liveView: boolean;
  /** Keys are names of providers in lower case. */
  readonly models: { readonly [provider: string]: ModelProvider };
  /** Keys are provider/model in lower case. */
  readonly prices: { readonly [model: string]: ModelPrice };
  readonly permissions: PermissionSettings;
  /** Keys are agent names in lower case. */
  readonly agents: { readonly [agentName: string]: AgentSettings };
}

/** What a file, the environment or the flags say: any subset. */
export type PartialSettings = Subset<Settings>;

const hour = 3_600_000;
const week = 10_080;
const year = 525_600;
const names = list(text(100), 1000);
const phrases = list(text(200), 1000);

const ownSettings = {
  mode: perAgent(
    choice('off', 'observe', 'enforce'),
    'enforce',
    'off: the host behaves as without untildone; observe: decisions are recorded and change nothing; enforce: they are carried out.',
  ),
  enabled: perAgent(boolean, true, 'Whether stop attempts are answered at all.'),
  scope: shared(
    choice('session', 'turn'),
    'session',
    'Whether a plan lives as long as the session or only for one turn.',
  ),
  maxStagnant: perAgent(
    integer(1, 100),
    3,
    'Continuations without any progress before the turn ends as stagnant.',
  ),
  maxContinuations: perAgent(
    integer(1, 10_000),
    10,
    'Continuations since a todo first became final or a check first passed before the turn ends as exhausted.',
  ),
  ceiling: perAgent(integer(1, 100_000), 500, 'Continuations after one human message, whatever happens.'),
  minIntervalMs: perAgent(
    integer(0, hour),
    1000,
    'Milliseconds that pass at least between two continuations.',
  ),
  maxTodos: shared(integer(1, 1_000_000), 20_000, 'Todos that a plan may hold; a longer list is refused.'),
  maxTitleBytes: shared(
    integer(16, 65_536),
    4096,
    'Bytes that the title of a todo may have; a longer one is refused.',
  ),
  singleInProgress: perAgent(
    boolean,
    true,
    'Whether a second todo in progress at the same time is reported to the model as a conflict.',
  ),
  countdownSeconds: perAgent(
    number(0, 3600),
    2,
    'Seconds that an idle session waits before a continuation is sent.',
  ),
  toastDuration: perAgent(integer(0, 60_000), 900, 'Milliseconds that each toast of the countdown is shown.'),
  gracePeriod: perAgent(
    integer(0, 60_000),
    500,
    'Milliseconds after the start of a countdown in which a message without an id does not cancel it.',
  ),
  timerMaxAgeMs: perAgent(
    integer(0, 24 * hour),
    600_000,
    'Milliseconds that a timer may be late after a restart; an older one pauses the session instead.',
  ),
  contextShare: perAgent(
    number(0.1, 1),
    0.9,
    'Share of the context of the model that may be used before continuations end.',
  ),
  maxTokens: perAgent(
    nullable(integer(1, 1_000_000_000_000)),
    null,
    'Tokens that may be spent after one human message; null: no limit.',
  ),
  maxCost: perAgent(
    nullable(number(0, 1_000_000)),
    null,
    'Cost, in the currency of the prices, that may be spent after one human message; null: no limit.',
  ),
  maxMinutes: perAgent(
    nullable(number(0, year)),
    null,
    'Minutes of wall time after one human message; null: no limit.',
  ),
  circuitAfter: perAgent(
    integer(1, 100),
    3,
    'Times that the same error may come before continuations end as failed.',
  ),
  sendAttempts: perAgent(integer(1, 10), 3, 'Times that sending one continuation is tried.'),
  sendBackoffMs: perAgent(
    integer(0, 600_000),
    500,
    'Milliseconds before a failed send is tried again; each further one waits longer.',
  ),
  backgroundWaitMinutes: perAgent(number(0, week), 30, 'Minutes to wait for background work of the host.'),
  skipAgents: shared(
    names,
    ['plan', 'planner', 'compaction', 'prometheus', 'momus'],
    'Agents that are never continued; letter case does not count.',
  ),
  subagents: perAgent(choice('off', 'on'), 'off', 'Whether a subagent is held to a plan of its own.'),
  stopWords: shared(
    phrases,
    defaultStopWords,
    'Messages that stop the automation when they are all a human says.',
  ),
  goOnPhrases: shared(
    phrases,
    defaultGoOnPhrases,
    'Messages that take up the open todos of earlier turns when they are all a human says.',
  ),
  agentTypes: shared(
    names,
    [],
    'Types of workers that a todo may be for, in hosts that have some; our own agent knows those of workers.',
  ),
  liveView: shared(
    boolean,
    true,
    'Whether a run on a terminal is drawn as a live view; otherwise it prints lines.',
  ),
  ...ownAgentSettings,
  ...permissionSettings,
  ...workerSettings,
  ...checkSettings,
} as const;

type Overridable<Table> = {
  readonly [Name in keyof Table as Table[Name] extends { readonly perAgent: true }
    ? Name
    : never]: Table[Name];
};

function overridable<Table extends Readonly<Record<string, Setting>>>(table: Table): Overridable<Table> {
  const kept = Object.entries(table).filter(([, setting]) => setting.perAgent);
  return Object.fromEntries(kept) as unknown as Overridable<Table>;
}

export const settingTable = {
  ...ownSettings,
  agents: shared(
    named(section(overridable(ownSettings)), 1000),
    {},
    'Settings for single agents by name; letter case does not count.',
  ),
} as const satisfies Readonly<Record<keyof Settings, Setting>>;

/** A whole configuration is one section; a later nested section is one more entry of the table. */
export const configKind = section(settingTable);

export const settingNames = Object.keys(settingTable) as readonly (keyof Settings)[];

export const defaultSettings: Settings = Object.freeze(
  Object.fromEntries(settingNames.map((name) => [name, frozen(settingTable[name].default)])),
) as unknown as Settings;

/** The defaults are shared by everyone in the process: a caller that changed one would change all. */
function frozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) frozen(inner);
    Object.freeze(value);
  }
  return value;
}
