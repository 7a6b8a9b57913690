import { describe, expect, expectTypeOf, it } from 'vitest';
import type { KindOf, ValueOf } from './kinds.ts';
import { environmentName, flagName, settingPaths } from './setting-names.ts';
import {
  defaultSettings,
  type PartialSettings,
  type Settings,
  settingNames,
  settingTable,
} from './settings.ts';

type SettingsOfTable = {
  readonly [Name in keyof typeof settingTable]: ValueOf<KindOf<(typeof settingTable)[Name]>>;
};

/** A section of a file may be incomplete; its default may not. */
type DefaultsOfTable = {
  readonly [Name in keyof typeof settingTable]: (typeof settingTable)[Name]['default'];
};

describe('C1: the table of settings', () => {
  it('agrees with the type that the code uses, in both directions', () => {
    // Checked by the compiler: a wrong kind in the table does not build.
    expectTypeOf<SettingsOfTable>().toExtend<Required<PartialSettings>>();
    expectTypeOf<Required<PartialSettings>>().toExtend<SettingsOfTable>();
    expectTypeOf<DefaultsOfTable>().toExtend<Settings>();
    expectTypeOf<Settings>().toExtend<PartialSettings>();
    expectTypeOf<SettingsOfTable['mode']>().toEqualTypeOf<Settings['mode']>();
    expectTypeOf<keyof SettingsOfTable['agents'][string]>().toEqualTypeOf<keyof Settings['agents'][string]>();
    expect(settingNames).toHaveLength(42);
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
      minIntervalMs: 1000,
      maxTodos: 20_000,
      maxTitleBytes: 4096,
      singleInProgress: true,
      countdownSeconds: 2,
      toastDuration: 900,
      gracePeriod: 500,
      timerMaxAgeMs: 600_000,
      contextShare: 0.9,
      maxTokens: null,
      maxCost: null,
      maxMinutes: null,
      circuitAfter: 3,
      sendAttempts: 3,
      sendBackoffMs: 500,
      backgroundWaitMinutes: 30,
      skipAgents: ['plan', 'planner', 'compaction', 'prometheus', 'momus'],
      subagents: 'off',
      agentTypes: [],
      liveView: true,
      model: null,
      models: {},
      prices: {},
      context: { maxMessages: 50, limit: null, compactAt: 0.8, planTodos: 20 },
      iterations: { base: 10, extend: 10, cap: 50 },
      tools: { shellAllow: [], shellTimeoutSeconds: 120 },
      permissions: { mode: null, allow: {}, waitSeconds: 0 },
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
        'workers',
        'checks',
        'goal',
        'todoChecks',
        'protect',
        'allowChecks',
      ].sort(),
    );
    expect(Object.keys(settingTable.agents.kind.of.fields)).toHaveLength(settingNames.length - shared.length);
  });

  it('explains every setting in one sentence', () => {
    for (const name of settingNames) expect(settingTable[name].summary).toMatch(/^\S[^\n]{20,}\.$/);
  });

  it('explains every field of a section too', () => {
    const { context, iterations, tools, permissions, models, prices, workers, checks, todoChecks } =
      settingTable;
    const sections = [
      ...[context.kind, iterations.kind, tools.kind, permissions.kind],
      ...[models.kind.of, prices.kind.of, workers.kind.of, checks.kind.of, todoChecks.kind.of],
    ];
    for (const { fields } of sections) {
      for (const { summary } of Object.values(fields)) expect(summary).toMatch(/^\S[^\n]{20,}\.$/);
    }
  });

  it('gives every setting a name for the environment and a flag', () => {
    expect(environmentName('maxContinuations')).toBe('UNTILDONE_MAX_CONTINUATIONS');
    expect(environmentName('minIntervalMs')).toBe('UNTILDONE_MIN_INTERVAL_MS');
    expect(flagName('goOnPhrases')).toBe('--go-on-phrases');
    expect(environmentName('context.maxMessages')).toBe('UNTILDONE_CONTEXT_MAX_MESSAGES');
    expect(flagName('tools.shellTimeoutSeconds')).toBe('--tools-shell-timeout-seconds');
    expect(settingPaths).toEqual(expect.arrayContaining(['context', 'iterations.cap', 'models']));
    expect(new Set(settingPaths.map(flagName)).size).toBe(settingPaths.length);
    expect(new Set(settingPaths.map(environmentName)).size).toBe(settingPaths.length);
  });

  it('cannot be changed by whoever reads the defaults', () => {
    expect(() => (defaultSettings.skipAgents as string[]).push('build')).toThrow(TypeError);
    expect(Object.isFrozen(defaultSettings.context)).toBe(true);
    expect(Object.isFrozen(defaultSettings)).toBe(true);
  });
});
