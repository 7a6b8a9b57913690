// Every setting, once (C1): types, reader, JSON Schema, environment names, flags and docs
// come from this table. The name of a time ends with its unit: Seconds, or Minutes for a
// time that usually takes minutes. Fractions are allowed.
import { argv, check, todoCheck } from './check-specs.ts';
import { toastTemplates } from './own-words.ts';
import { goOnPhrases, stopWords } from './phrases.ts';
import {
  choice,
  described,
  either,
  type Fields,
  flag,
  type Infer,
  integer,
  type Kind,
  line,
  list,
  named,
  nullable,
  number,
  type Part,
  type SectionShape,
  section,
} from './schema.ts';
import { textTemplates } from './texts.ts';

/**
 * Where a setting acts: `hooks` are hosts that we answer, `plugins` are hosts that load a
 * plugin of ours, `mcp` are the tools that we serve.
 */
export const places = ['run', 'hooks', 'plugins', 'enforcer', 'mcp'] as const;
type Places = readonly (typeof places)[number][];
/**
 * Only these hosts know a countdown and are sent a text. All others get their answer at
 * the moment when they stop.
 */
const toldHosts: Places = ['plugins', 'enforcer'];
const ownAgent: Places = ['run'];

/**
 * A setting: its kind, its default, whether an agent may override it, and where it acts.
 */
export type Setting<T = unknown, Whole = T, PerAgent = boolean> = Kind<T> & {
  readonly default: Whole;
  readonly perAgent: PerAgent;
  readonly summary: string;
  readonly actsIn: Places;
};

function perAgent<T>(
  kind: Kind<T>,
  byDefault: NoInfer<T>,
  summary: string,
  actsIn: Places = places,
): Setting<T, T, true> {
  return { ...kind, default: byDefault, perAgent: true, summary, actsIn };
}

function shared<T>(
  kind: Kind<T>,
  byDefault: NoInfer<T>,
  summary: string,
  actsIn: Places = places,
): Setting<T, T, false> {
  return { ...perAgent<T>(kind, byDefault, summary, actsIn), perAgent: false };
}

/** A setting inside a group; a group belongs to our own agent. */
function part<T>(
  kind: Kind<T>,
  byDefault: NoInfer<T>,
  summary: string,
): Setting<T, T, false> {
  return shared<T>(kind, byDefault, summary, ownAgent);
}

type Whole<F> = { readonly [Name in keyof F]: Infer<F[Name]> };

/**
 * A setting with fields. A source may give some of them; after merging each has a value.
 */
function group<const F extends Readonly<Record<string, Setting>>>(
  summary: string,
  fields: F,
): Setting<Part<F>, Whole<F>, true> {
  const defaults = Object.entries(fields).map(([name, { default: byDefault }]) => [
    name,
    byDefault,
  ]);
  const byDefault = Object.fromEntries(defaults);
  return {
    ...section(fields),
    default: byDefault,
    perAgent: true,
    summary,
    actsIn: ownAgent,
  };
}

/** The events that a human can be notified of. */
export const noticeEvents = ['paused', 'permission', 'outcome'] as const;

const hour = 3600;
const day = 1440;
const week = 7 * day;
const year = 365 * day;
const names = list(line(100), 1000);
const phrases = list(line(200), 1000);
const tokens = integer(1000, 100_000_000);
const pricePerMillion = number(0, 1_000_000);
const checkNames = list(line(100), 200);

/** Holds the names of the variables with keys, never the keys themselves. */
const modelProvider = section({
  baseUrl: described(
    line(2000),
    'Address of the API, with its version: http://127.0.0.1:8000/v1.',
  ),
  apiKeyEnv: described(
    line(100),
    'Environment variable that holds the key; none: no key is sent.',
  ),
  api: described(
    choice('chat', 'responses', 'anthropic', 'google'),
    'Protocol that the provider speaks: chat is OpenAI-compatible chat completions.',
  ),
  contextLimit: described(tokens, 'Tokens that fit into the context of its models.'),
});

const modelPrice = section({
  input: described(pricePerMillion, 'Price of a million input tokens.'),
  output: described(pricePerMillion, 'Price of a million output tokens.'),
  cachedInput: described(
    pricePerMillion,
    'Price of a million input tokens read from a cache; not given: the price of input.',
  ),
  cacheWrite: described(
    pricePerMillion,
    'Price of a million input tokens written to a cache; not given: the price of input.',
  ),
});

/**
 * How our own agent and each worker ask a model. The efforts are the words of the AI SDK,
 * which translates them for each vendor.
 */
const modelCall = {
  reasoningEffort: nullable(
    choice('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  ),
  // OpenAI refuses smaller numbers.
  maxOutputTokens: nullable(integer(16, 1_000_000)),
  temperature: nullable(number(0, 2)),
};
const orRun = 'not given: that of the run; null: left to its provider.';

/** A worker never gets more rights than its run has. */
const worker = section({
  enabled: described(flag, 'Whether todos may be handed to it; not given: yes.'),
  purpose: described(
    line(300),
    'What it is for, in a few words: the agent chooses by them.',
  ),
  prompt: described(
    line(4000),
    'What it is told in addition to the rules for all workers.',
  ),
  model: described(
    nullable(line(200)),
    'Its model as provider/model; null or not given: that of the run.',
  ),
  reasoningEffort: described(
    modelCall.reasoningEffort,
    `How much its model thinks; ${orRun}`,
  ),
  maxOutputTokens: described(
    modelCall.maxOutputTokens,
    `Tokens that one answer of it may have; ${orRun}`,
  ),
  temperature: described(
    modelCall.temperature,
    `How much its model varies its answers; ${orRun}`,
  ),
  tools: described(
    list(line(100), 50),
    'Names of the workspace tools that it gets; not given: those that only read.',
  ),
  maxSteps: described(integer(1, 1000), 'Steps after which it must report.'),
  timeoutSeconds: described(integer(1, 86_400), 'Seconds after which it is stopped.'),
  maxTokens: described(
    nullable(integer(1000, 1_000_000_000)),
    'Tokens that it may spend on one todo; null: what the run may spend.',
  ),
});

const ownSettings = {
  mode: perAgent(
    choice('off', 'observe', 'enforce'),
    'enforce',
    'off: the host behaves as without untildone; observe: decisions are recorded and change nothing; enforce: they are carried out.',
  ),
  enabled: perAgent(flag, true, 'Whether untildone acts when an agent stops.'),
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
    'Continuations without a newly finished todo or a newly passed check before the turn ends as exhausted.',
  ),
  ceiling: perAgent(
    integer(1, 100_000),
    500,
    'Continuations after one human message, whatever happens.',
  ),
  minIntervalSeconds: perAgent(
    number(0, hour),
    1,
    'Seconds that pass at least between two continuations.',
    toldHosts,
  ),
  maxTodos: shared(
    integer(1, 1_000_000),
    20_000,
    'Todos that a plan may have; a longer list is refused.',
  ),
  maxTitleBytes: shared(
    integer(16, 65_536),
    4096,
    'Bytes that the title of a todo may have; a longer one is refused.',
  ),
  singleInProgress: perAgent(
    flag,
    true,
    'Whether a second todo in progress at the same time is reported to the model as a conflict.',
    ['run', 'plugins', 'mcp'],
  ),
  countdownSeconds: perAgent(
    number(0, 3600),
    2,
    'Seconds that an idle session waits before a continuation is sent.',
    toldHosts,
  ),
  toastSeconds: perAgent(
    number(0, 60),
    0.9,
    'Seconds that each toast of the countdown is shown.',
    toldHosts,
  ),
  toasts: perAgent(
    toastTemplates,
    {},
    'Your own words for toasts, as templates.',
    toldHosts,
  ),
  texts: perAgent(
    textTemplates,
    {},
    'Your own words for what an agent is told when it is sent on, as templates.',
    ['run', 'hooks', 'plugins', 'enforcer'],
  ),
  graceSeconds: perAgent(
    number(0, 60),
    0.5,
    'Seconds after the start of a countdown in which a message without an id does not cancel it.',
    ['enforcer'],
  ),
  timerMaxAgeMinutes: perAgent(
    number(0, day),
    10,
    'Minutes that a countdown may be late after a restart; a later one pauses the session instead.',
    toldHosts,
  ),
  contextShare: perAgent(
    number(0.1, 1),
    0.9,
    'Share of the context of the model that may be used before continuations end.',
    ['run', 'enforcer'],
  ),
  maxTokens: perAgent(
    nullable(integer(1, 1_000_000_000_000)),
    null,
    'Tokens that may be spent after one human message; null: no limit.',
  ),
  maxCost: perAgent(
    nullable(number(0, 1_000_000)),
    null,
    'Cost in US dollars that may be spent after one human message; null: no limit.',
    ['run', 'plugins', 'enforcer'],
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
  sendAttempts: perAgent(
    integer(1, 10),
    3,
    'Times that sending one continuation is tried.',
    toldHosts,
  ),
  sendBackoffSeconds: perAgent(
    number(0, 600),
    0.5,
    'Seconds before a failed send is tried again; each further try waits twice as long.',
    toldHosts,
  ),
  baselineSeconds: shared(
    number(0, 86_400),
    60,
    'Seconds that a run waits for the checks to be tried before the first call to the model; after that no further check is started.',
    ownAgent,
  ),
  backgroundWaitMinutes: perAgent(
    number(0, week),
    30,
    'Minutes to wait for a subagent in the background; shell jobs are never waited for.',
  ),
  skipAgents: shared(
    names,
    ['plan', 'planner', 'compaction', 'prometheus', 'momus'],
    'Agents that are never continued; letter case does not count.',
    ['hooks', 'plugins', 'enforcer'],
  ),
  subagents: perAgent(
    choice('off', 'on'),
    'off',
    'Whether a subagent is kept working on a plan of its own.',
    toldHosts,
  ),
  stopWords: shared(
    phrases,
    stopWords,
    'Messages that stop the automation, if they are all that a human says.',
  ),
  goOnPhrases: shared(
    phrases,
    goOnPhrases,
    'Messages that resume the open todos of earlier turns, if they are all that a human says.',
  ),
  agentTypes: shared(
    names,
    [],
    'Types of workers that a todo may be for, in hosts that have workers; our own agent takes them from workers.',
    ['plugins', 'mcp'],
  ),
  liveView: shared(
    flag,
    true,
    'Whether a run on a terminal is drawn as a live view; otherwise it prints lines.',
    ownAgent,
  ),
  model: perAgent(
    nullable(line(200)),
    null,
    'Model of our own agent as provider/model; null: chosen by the keys in the environment.',
    ownAgent,
  ),
  reasoningEffort: perAgent(
    modelCall.reasoningEffort,
    null,
    'How much the model of our own agent thinks before it answers; null: left to its provider.',
    ownAgent,
  ),
  maxOutputTokens: perAgent(
    modelCall.maxOutputTokens,
    null,
    'Tokens that one answer of our own agent may have; null: left to its provider.',
    ownAgent,
  ),
  temperature: perAgent(
    modelCall.temperature,
    null,
    'How much the model of our own agent varies its answers; null: left to its provider.',
    ownAgent,
  ),
  models: shared(
    named(modelProvider, 200),
    {},
    'Providers, by the name before the slash of a model; a known name changes that provider.',
    ownAgent,
  ),
  prices: shared(
    named(modelPrice, 1000),
    {},
    'Prices per million tokens by provider/model; without one the cost of a model is unknown.',
    ownAgent,
  ),
  context: group('How much of the conversation our own agent sends to the model.', {
    maxMessages: part(
      integer(8, 10_000),
      50,
      'Messages of the history that one call to the model carries.',
    ),
    limit: part(
      nullable(tokens),
      null,
      'Tokens that fit into the context of the model; null: what is known about it.',
    ),
    compactAt: part(
      number(0.1, 1),
      0.8,
      'Share of the context at which the history is replaced by a summary.',
    ),
    planTodos: part(
      integer(1, 200),
      20,
      'Open todos of the plan that every call to the model names.',
    ),
  }),
  iterations: group('How many steps in a row our own agent may spend on tool calls.', {
    base: part(
      integer(1, 10_000),
      10,
      'Steps with tool calls before the agent is asked about its plan.',
    ),
    extend: part(
      integer(0, 10_000),
      10,
      'Steps that are added while the plan has open todos.',
    ),
    cap: part(
      integer(1, 10_000),
      50,
      'Steps since the last continuation, whatever is open.',
    ),
  }),
  tools: group('What the workspace tools of our own agent may do.', {
    shellAllow: part(
      list(line(500), 1000),
      [],
      'Patterns of commands that the agent may run by itself.',
    ),
    shellTimeoutSeconds: part(
      integer(1, 86_400),
      120,
      'Seconds after which a command is stopped.',
    ),
  }),
  permissions: {
    ...group('What our own agent may do. Never taken from a project.', {
      mode: part(
        nullable(choice('ask', 'allow-list', 'read-only', 'auto')),
        null,
        'How calls that nobody allowed are treated; null: ask on a terminal, allow-list elsewhere.',
      ),
      allow: part(
        named(list(line(500), 1000), 50),
        {},
        'Patterns by tool: commands for shell and start_job, paths for write_file and edit_file.',
      ),
      waitSeconds: part(
        integer(0, 604_800),
        0,
        'Seconds that a run without a terminal waits for an answer from elsewhere before it ends as paused.',
      ),
    }),
    perAgent: false,
  },
  notify: {
    ...group(
      'How you are told that a session ended or waits for you. Never taken from a project.',
      {
        on: part(
          list(choice(...noticeEvents), 3),
          noticeEvents,
          'What you are told of: it ended as paused, it asks you something, it ended in any other way.',
        ),
        command: part(
          nullable(line(4000)),
          null,
          'Shell line of your own; what happened is in its NOTICE_ variables and on its standard input.',
        ),
        webhook: part(
          nullable(line(2000)),
          null,
          'Address that is sent one JSON document with POST, for at most five seconds.',
        ),
        bell: part(flag, false, 'Whether a run at a terminal rings its bell.'),
      },
    ),
    perAgent: false,
    actsIn: ['run', 'hooks', 'plugins', 'enforcer'],
  },
  workers: shared(
    named(worker, 50),
    {},
    'Workers by type: your own, and changes to the built-in ones (explorer, coder, tester).',
    ownAgent,
  ),
  checks: shared(
    named(check, 200),
    {},
    'Checks by name: conditions that the system runs to see whether the work is done.',
  ),
  goal: shared(
    checkNames,
    [],
    'Names of the checks that must pass before the work as a whole is done.',
  ),
  todoChecks: shared(
    list(todoCheck, 500),
    [],
    'Checks for todos by the pattern of their title.',
  ),
  protect: shared(
    list(line(1000), 200),
    [],
    'Patterns of paths that the agent must leave as they are: a change voids the results of checks.',
  ),
  allowChecks: shared(
    list(either(argv, line(100)), 200),
    [],
    'Names of checks, or programs with arguments as lists, that an agent may propose for a todo.',
    ['run', 'plugins', 'mcp'],
  ),
} as const;

type Overridable = {
  readonly [Name in keyof typeof ownSettings as (typeof ownSettings)[Name]['perAgent'] extends true
    ? Name
    : never]: (typeof ownSettings)[Name];
};

const overridable = Object.fromEntries(
  Object.entries(ownSettings).filter(([, setting]) => setting.perAgent),
) as Fields as Overridable;

const agents = shared(
  named(section(overridable), 1000),
  {},
  'Settings for single agents by name; letter case does not count.',
);

// A named type, so that the declarations of the package spell this table out only once.
type Table = typeof ownSettings & { readonly agents: typeof agents };
/** Every setting by name, `agents` included. */
export const settingTable: Table = { ...ownSettings, agents };
/**
 * The kind of a configuration: any setting may be missing, and an unknown name is
 * refused.
 */
export const configKind: Kind<PartialSettings> & SectionShape = section(settingTable);

/**
 * All settings, with their defaults filled in. Names that people choose (agents, checks
 * …) are in lower case.
 */
export type Settings = { readonly [Name in keyof Table]: Table[Name]['default'] };
/** Settings as `untildone.json` has them: any of them, by name. */
export type PartialSettings = { readonly [Name in keyof Table]?: Infer<Table[Name]> };
/** The settings that say how a model is asked. */
export type AskedSettings = Pick<Settings, keyof typeof modelCall>;
/** The settings that define checks. */
export type CheckSettings = Pick<
  Settings,
  'checks' | 'goal' | 'todoChecks' | 'protect' | 'allowChecks'
>;
/** A provider of models, as the setting `models` describes it. */
export type ModelProvider = Infer<typeof modelProvider>;

/** The names of the settings that say how a model is asked. */
export const askedNames = Object.keys(modelCall) as readonly (keyof AskedSettings)[];
/** The names of all settings. */
export const settingNames = Object.keys(settingTable) as readonly (keyof Settings)[];

/** The settings that hold if no source gives any; nobody can change them. */
export const defaultSettings: Settings = Object.freeze(
  Object.fromEntries(
    settingNames.map((name) => [name, freezeDeep(settingTable[name].default)]),
  ),
) as unknown as Settings;

/** Freezes a default, because a caller that changed it would change it for everyone. */
function freezeDeep(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freezeDeep(inner);
    Object.freeze(value);
  }
  return value;
}

/**
 * The settings with the overrides of one agent. Letter case does not count, because hosts
 * spell the same agent "Build" and "build".
 */
export function settingsForAgent(settings: Settings, agentName: string | null): Settings {
  const lowerName = agentName?.toLowerCase();
  const agent = Object.entries(settings.agents).find(
    ([name]) => name.toLowerCase() === lowerName,
  );
  if (agent === undefined) return settings;
  // If an override gives only a part of a section, the rest of the section stays.
  const overrides = Object.entries(agent[1]).map(([name, value]) => {
    const setting = name as keyof Overridable;
    return settingTable[setting].type === 'section'
      ? [name, { ...(settings[setting] as object), ...(value as object) }]
      : [name, value];
  });
  return { ...settings, ...Object.fromEntries(overrides) };
}
