import { describe, expect, expectTypeOf, it } from 'vitest';
import { environmentName, flagName, mergeSettings, settingPaths } from './config.ts';
import type { Infer, Kind } from './schema.ts';
import {
  defaultSettings,
  type PartialSettings,
  places,
  type Setting,
  type Settings,
  settingNames,
  settingsForAgent,
  settingTable,
} from './settings.ts';

type SettingsOfTable = {
  readonly [Name in keyof typeof settingTable]: Infer<(typeof settingTable)[Name]>;
};

/** A section of a file may be incomplete; its default may not. */
type DefaultsOfTable = {
  readonly [Name in keyof typeof settingTable]: (typeof settingTable)[Name]['default'];
};

/** The fields of a section, or of the sections in a list or under names. */
function fieldsIn(kind: Kind): Readonly<Record<string, Kind>> {
  if (kind.type === 'section') return kind.fields;
  return kind.type === 'named' || kind.type === 'list' ? fieldsIn(kind.of) : {};
}

describe('C1: the table of settings', () => {
  it('agrees with the type that the code uses, in both directions', () => {
    // Checked by the compiler: a wrong kind in the table does not build.
    expectTypeOf<SettingsOfTable>().toExtend<Required<PartialSettings>>();
    expectTypeOf<Required<PartialSettings>>().toExtend<SettingsOfTable>();
    expectTypeOf<DefaultsOfTable>().toExtend<Settings>();
    expectTypeOf<Settings>().toExtend<PartialSettings>();
    expectTypeOf<SettingsOfTable['mode']>().toEqualTypeOf<Settings['mode']>();
    expectTypeOf<keyof SettingsOfTable['agents'][string]>().toEqualTypeOf<
      keyof Settings['agents'][string]
    >();
    expect(settingNames).toHaveLength(49);
  });

  it('C1: says of each setting where it acts; whoever adds one that acts everywhere says so here', () => {
    const table = Object.entries<Setting>(settingTable);
    for (const [name, { actsIn }] of table) {
      expect([name, new Set(actsIn).size]).toEqual([name, actsIn.length]);
      expect(actsIn.length, name).toBeGreaterThan(0);
    }
    const acting = (where: (actsIn: Setting['actsIn']) => boolean) =>
      table.flatMap(([name, { actsIn }]) => (where(actsIn) ? [name] : []));
    expect(acting((actsIn) => actsIn === places)).toEqual([
      'mode',
      'enabled',
      'scope',
      'maxStagnant',
      'maxContinuations',
      'ceiling',
      'maxTodos',
      'maxTitleBytes',
      'maxTokens',
      'maxMinutes',
      'circuitAfter',
      'backgroundWaitMinutes',
      'stopWords',
      'goOnPhrases',
      'checks',
      'goal',
      'todoChecks',
      'protect',
      'agents',
    ]);
    // G10, E1: nothing counts down where a host waits for the answer.
    expect(
      acting((actsIn) => actsIn.includes('plugins') && !actsIn.includes('hooks')),
    ).toEqual([
      'minIntervalSeconds',
      'singleInProgress',
      'countdownSeconds',
      'toastSeconds',
      'toasts',
      'timerMaxAgeMinutes',
      'maxCost',
      'sendAttempts',
      'sendBackoffSeconds',
      'subagents',
      'agentTypes',
      'allowChecks',
    ]);
  });

  it('says what the requirements say by default (G4, G6, G8, G9, G10, E5, T6, S2, S5)', () => {
    const { stopWords, goOnPhrases, ...plain } = defaultSettings;
    expect(plain).toEqual({
      mode: 'enforce',
      enabled: true,
      scope: 'session',
      maxStagnant: 3,
      maxContinuations: 10,
      ceiling: 500,
      minIntervalSeconds: 1,
      maxTodos: 20_000,
      maxTitleBytes: 4096,
      singleInProgress: true,
      countdownSeconds: 2,
      toastSeconds: 0.9,
      toasts: {},
      texts: {},
      graceSeconds: 0.5,
      timerMaxAgeMinutes: 10,
      contextShare: 0.9,
      maxTokens: null,
      maxCost: null,
      maxMinutes: null,
      circuitAfter: 3,
      sendAttempts: 3,
      sendBackoffSeconds: 0.5,
      baselineSeconds: 60,
      backgroundWaitMinutes: 30,
      skipAgents: ['plan', 'planner', 'compaction', 'prometheus', 'momus'],
      subagents: 'off',
      agentTypes: [],
      liveView: true,
      model: null,
      reasoningEffort: null,
      maxOutputTokens: null,
      temperature: null,
      models: {},
      prices: {},
      context: { maxMessages: 50, limit: null, compactAt: 0.8, planTodos: 20 },
      iterations: { base: 10, extend: 10, cap: 50 },
      tools: { shellAllow: [], shellTimeoutSeconds: 120 },
      permissions: { mode: null, allow: {}, waitSeconds: 0 },
      notify: {
        on: ['paused', 'permission', 'outcome'],
        command: null,
        webhook: null,
        bell: false,
      },
      workers: {},
      checks: {},
      goal: [],
      todoChecks: [],
      protect: [],
      allowChecks: [],
      agents: {},
    });
    expect(stopWords).toContain('stop');
    expect(goOnPhrases).toContain('continue');
  });

  it('lets an agent override everything but what belongs to the whole session', () => {
    const shared = settingNames.filter((name) => !settingTable[name].perAgent);
    expect([...shared].sort()).toEqual(
      [
        'scope',
        'baselineSeconds',
        'maxTodos',
        'maxTitleBytes',
        'skipAgents',
        'agents',
        'stopWords',
        'goOnPhrases',
        'agentTypes',
        'models',
        'prices',
        'liveView',
        'permissions',
        'notify',
        'workers',
        'checks',
        'goal',
        'todoChecks',
        'protect',
        'allowChecks',
      ].sort(),
    );
    expect(Object.keys(fieldsIn(settingTable.agents))).toHaveLength(
      settingNames.length - shared.length,
    );
  });

  it('explains every setting in one sentence', () => {
    for (const name of settingNames)
      expect(settingTable[name].summary).toMatch(/^\S[^\n]{20,}\.$/);
  });

  it('explains every field of a section too', () => {
    const fields = settingNames
      .filter((name) => name !== 'agents')
      .map((name) => fieldsIn(settingTable[name]));
    expect(fields.filter((some) => Object.keys(some).length > 0)).toHaveLength(12);
    for (const { summary } of fields.flatMap((some) => Object.values(some)))
      expect(summary).toMatch(/^\S[^\n]{20,}\.$/);
  });

  it('gives every setting a name for the environment and a flag', () => {
    expect(environmentName('maxContinuations')).toBe('UNTILDONE_MAX_CONTINUATIONS');
    expect(environmentName('minIntervalSeconds')).toBe('UNTILDONE_MIN_INTERVAL_SECONDS');
    expect(flagName('goOnPhrases')).toBe('--go-on-phrases');
    expect(environmentName('context.maxMessages')).toBe('UNTILDONE_CONTEXT_MAX_MESSAGES');
    expect(flagName('tools.shellTimeoutSeconds')).toBe('--tools-shell-timeout-seconds');
    expect(settingPaths).toEqual(
      expect.arrayContaining(['context', 'iterations.cap', 'models']),
    );
    expect(new Set(settingPaths.map(flagName)).size).toBe(settingPaths.length);
    expect(new Set(settingPaths.map(environmentName)).size).toBe(settingPaths.length);
  });

  it('cannot be changed by whoever reads the defaults', () => {
    expect(() => (defaultSettings.skipAgents as string[]).push('build')).toThrow(
      TypeError,
    );
    expect(Object.isFrozen(defaultSettings.context)).toBe(true);
    expect(Object.isFrozen(defaultSettings)).toBe(true);
  });
});

const { settings } = mergeSettings({
  project: { maxTokens: 1000, agents: { build: { enabled: false, maxTokens: null } } },
});

describe('C1: the settings of one agent', () => {
  it('are the shared ones under what is said about that agent', () => {
    expect(settingsForAgent(settings, 'build')).toEqual({
      ...settings,
      enabled: false,
      maxTokens: null,
    });
  });

  it('are found whatever letter case a host uses', () => {
    expect(settingsForAgent(settings, 'BuilD').enabled).toBe(false);
    const handmade: Settings = { ...defaultSettings, agents: { Build: { ceiling: 7 } } };
    expect(settingsForAgent(handmade, 'build').ceiling).toBe(7);
  });

  it('keep the rest of a section of which the agent has one field of its own', () => {
    const own = mergeSettings({
      project: {
        context: { planTodos: 7 },
        agents: { build: { context: { maxMessages: 30 }, model: 'ollama/a' } },
      },
    }).settings;
    expect(settingsForAgent(own, 'build').context).toEqual({
      ...own.context,
      planTodos: 7,
      maxMessages: 30,
    });
    expect(settingsForAgent(own, 'build').model).toBe('ollama/a');
    expect(settingsForAgent(own, 'other').context.maxMessages).toBe(50);
  });

  it.each([null, '', 'other', 'builder', '__proto__', 'toString'])(
    'are the shared ones for %j',
    (name) => {
      expect(settingsForAgent(settings, name)).toEqual(settings);
    },
  );

  it('leave the shared ones as they were', () => {
    settingsForAgent(settings, 'build');
    expect(settings.enabled).toBe(true);
  });
});
