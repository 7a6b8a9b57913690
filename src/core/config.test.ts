import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Layers,
  mergeSettings,
  type Origin,
  origins,
  settingPaths,
  validateConfig,
  withoutGrants,
} from './config.ts';
import { problemSentence } from './problem.ts';
import { defaultSettings } from './settings.ts';

function sentences(value: unknown): readonly string[] {
  const result = validateConfig(value);
  return result.ok ? [] : result.problems.map(problemSentence);
}

const red = '\u001b[31m';

/**
 * As JSON text, because that is how they arrive: only JSON can carry a key called
 * __proto__.
 */
const malformed: readonly (readonly [json: string, ...sentences: string[]])[] = [
  ['null', 'the configuration must be an object with settings, got null'],
  ['[]', 'the configuration must be an object with settings, got an empty list'],
  ['[{}, {}]', 'the configuration must be an object with settings, got a list of 2'],
  ['"mode"', 'the configuration must be an object with settings, got "mode"'],
  ['7', 'the configuration must be an object with settings, got 7'],
  ['true', 'the configuration must be an object with settings, got true'],
  ['{"$schema": 1}', '$schema: must be the address of the JSON Schema, got 1'],
  ['{"$schema": null}', '$schema: must be the address of the JSON Schema, got null'],
  ['{"mode": "on"}', 'mode: must be one of off, observe, enforce, got "on"'],
  [
    '{"mode": "Enforce"}',
    'mode: must be one of off, observe, enforce, got "Enforce"; did you mean "enforce"?',
  ],
  [
    '{"reasoningEffort": "hgih", "temperature": 2.1, "maxOutputTokens": 99.5}',
    'reasoningEffort: must be one of none, minimal, low, medium, high, xhigh, max, or null, got "hgih"; did you mean "high"?',
    'temperature: must be a number from 0 to 2, or null, got 2.1',
    'maxOutputTokens: must be a whole number from 16 to 1000000, or null, got 99.5',
  ],
  [
    '{"workers": {"tester": {"reasoningEffort": "lov"}}, "agents": {"run": {"temperature": "warm"}}}',
    'workers.tester.reasoningEffort: must be one of none, minimal, low, medium, high, xhigh, max, or null, got "lov"; did you mean "low"?',
    'agents.run.temperature: must be a number from 0 to 2, or null, got "warm"',
  ],
  ['{"mode": null}', 'mode: must be one of off, observe, enforce, got null'],
  ['{"mode": ["off"]}', 'mode: must be one of off, observe, enforce, got a list of 1'],
  ['{"enabled": "yes"}', 'enabled: must be true or false, got "yes"'],
  ['{"enabled": 1}', 'enabled: must be true or false, got 1'],
  ['{"scope": "plan"}', 'scope: must be one of session, turn, got "plan"'],
  ['{"maxStagnant": 0}', 'maxStagnant: must be a whole number from 1 to 100, got 0'],
  ['{"maxStagnant": 101}', 'maxStagnant: must be a whole number from 1 to 100, got 101'],
  [
    '{"maxContinuations": "ten"}',
    'maxContinuations: must be a whole number from 1 to 10000, got "ten"',
  ],
  [
    '{"maxContinuations": "10"}',
    'maxContinuations: must be a whole number from 1 to 10000, got "10"',
  ],
  [
    '{"maxContinuations": 2.5}',
    'maxContinuations: must be a whole number from 1 to 10000, got 2.5',
  ],
  [
    '{"maxContinuations": -1}',
    'maxContinuations: must be a whole number from 1 to 10000, got -1',
  ],
  [
    '{"maxContinuations": null}',
    'maxContinuations: must be a whole number from 1 to 10000, got null',
  ],
  ['{"ceiling": 1e99}', 'ceiling: must be a whole number from 1 to 100000, got 1e+99'],
  [
    '{"ceiling": 1e999}',
    'ceiling: must be a whole number from 1 to 100000, got Infinity',
  ],
  [
    '{"maxTodos": {}}',
    'maxTodos: must be a whole number from 1 to 1000000, got an object',
  ],
  [
    '{"maxTitleBytes": 15}',
    'maxTitleBytes: must be a whole number from 16 to 65536, got 15',
  ],
  ['{"singleInProgress": null}', 'singleInProgress: must be true or false, got null'],
  [
    '{"countdownSeconds": -0.1}',
    'countdownSeconds: must be a number from 0 to 3600, got -0.1',
  ],
  ['{"graceSeconds": false}', 'graceSeconds: must be a number from 0 to 60, got false'],
  [
    '{"timerMaxAgeMinutes": -1}',
    'timerMaxAgeMinutes: must be a number from 0 to 1440, got -1',
  ],
  ['{"contextShare": 0}', 'contextShare: must be a number from 0.1 to 1, got 0'],
  ['{"contextShare": 90}', 'contextShare: must be a number from 0.1 to 1, got 90'],
  [
    '{"maxTokens": 0}',
    'maxTokens: must be a whole number from 1 to 1000000000000, or null, got 0',
  ],
  [
    '{"maxCost": "1 EUR"}',
    'maxCost: must be a number from 0 to 1000000, or null, got "1 EUR"',
  ],
  [
    '{"maxMinutes": -1}',
    'maxMinutes: must be a number from 0 to 525600, or null, got -1',
  ],
  ['{"circuitAfter": 0}', 'circuitAfter: must be a whole number from 1 to 100, got 0'],
  ['{"sendAttempts": 11}', 'sendAttempts: must be a whole number from 1 to 10, got 11'],
  [
    '{"minIntervalSeconds": 3601}',
    'minIntervalSeconds: must be a number from 0 to 3600, got 3601',
  ],
  ['{"toastSeconds": 61}', 'toastSeconds: must be a number from 0 to 60, got 61'],
  [
    '{"sendBackoffSeconds": "fast"}',
    'sendBackoffSeconds: must be a number from 0 to 600, got "fast"',
  ],
  [
    '{"backgroundWaitMinutes": []}',
    'backgroundWaitMinutes: must be a number from 0 to 10080, got an empty list',
  ],
  ['{"subagents": true}', 'subagents: must be one of off, on, got true'],
  [
    '{"skipAgents": "plan"}',
    'skipAgents: must be a list of at most 1000 entries, got "plan"',
  ],
  [
    '{"skipAgents": {"plan": true}}',
    'skipAgents: must be a list of at most 1000 entries, got an object',
  ],
  [
    '{"skipAgents": ["plan", 7, ""]}',
    'skipAgents[1]: must be a visible text on one line of at most 100 characters, got 7',
    'skipAgents[2]: must be a visible text on one line of at most 100 characters, got ""',
  ],
  [
    '{"stopWords": [null]}',
    'stopWords[0]: must be a visible text on one line of at most 200 characters, got null',
  ],
  [
    '{"stopWords": [" "]}',
    'stopWords[0]: must be a visible text on one line of at most 200 characters, got " "',
  ],
  [
    '{"goOnPhrases": ["go\\non"]}',
    'goOnPhrases[0]: must be a visible text on one line of at most 200 characters, got "go\\non"',
  ],
  [
    '{"agentTypes": ["\\ud800"]}',
    'agentTypes[0]: must be a visible text on one line of at most 100 characters, got "\\ud800"',
  ],
  [
    '{"model": ""}',
    'model: must be a visible text on one line of at most 200 characters, or null, got ""',
  ],
  [
    '{"model": {"id": 1}}',
    'model: must be a visible text on one line of at most 200 characters, or null, got an object',
  ],
  [
    '{"models": {"my": {"api": "soap"}}}',
    'models.my.api: must be one of chat, responses, anthropic, google, got "soap"',
  ],
  [
    '{"models": {"my": {"apiKey": "sk-1234"}}}',
    'models.my.apiKey: is not a setting that can be given here',
  ],
  [
    '{"prices": {"a/b": {"input": -1}}}',
    'prices["a/b"].input: must be a number from 0 to 1000000, got -1',
  ],
  [
    '{"context": {"maxMessages": 7}}',
    'context.maxMessages: must be a whole number from 8 to 10000, got 7',
  ],
  [
    '{"context": {"compactAt": 80}}',
    'context.compactAt: must be a number from 0.1 to 1, got 80',
  ],
  [
    '{"iterations": {"cap": 0}}',
    'iterations.cap: must be a whole number from 1 to 10000, got 0',
  ],
  [
    '{"agents": {"build": {"context": {"limit": 1}}}}',
    'agents.build.context.limit: must be a whole number from 1000 to 100000000, or null, got 1',
  ],
  [
    '{"maxContinuation": 3}',
    'maxContinuation: is not a setting; did you mean "maxContinuations"?',
  ],
  [
    '{"max_continuations": 3}',
    'max_continuations: is not a setting; did you mean "maxContinuations"?',
  ],
  ['{"MODE": "off"}', 'MODE: is not a setting; did you mean "mode"?'],
  ['{"colour": "red"}', 'colour: is not a setting'],
  ['{"toastDuration": 400}', 'toastDuration: is not a setting'],
  ['{"": 1}', '[""]: is not a setting'],
  ['{"__proto__": {"mode": "off"}}', '__proto__: is not a setting'],
  ['{"constructor": 1}', 'constructor: is not a setting'],
  ['{"toString": 1}', 'toString: is not a setting'],
  [
    '{"agents": []}',
    'agents: must be an object of at most 1000 names, got an empty list',
  ],
  ['{"agents": null}', 'agents: must be an object of at most 1000 names, got null'],
  ['{"agents": {"build": true}}', 'agents.build: must be an object, got true'],
  [
    '{"agents": {"build": {"maxContinuations": "ten"}}}',
    'agents.build.maxContinuations: must be a whole number from 1 to 10000, got "ten"',
  ],
  [
    '{"agents": {"build": {"maxContinuation": 1}}}',
    'agents.build.maxContinuation: is not a setting that can be given here; did you mean "maxContinuations"?',
  ],
  [
    '{"agents": {"build": {"scope": "turn"}}}',
    'agents.build.scope: is not a setting that can be given here',
  ],
  [
    '{"agents": {"build": {"agents": {}}}}',
    'agents.build.agents: is not a setting that can be given here',
  ],
  ['{"agents": {"__proto__": {}}}', 'agents.__proto__: cannot be used as a name'],
  ['{"agents": {"Constructor": {}}}', 'agents.Constructor: cannot be used as a name'],
  [
    '{"agents": {" ": {}}}',
    'agents[" "]: the name must be a visible text on one line of at most 100 characters',
  ],
  [
    '{"agents": {"Build": {}, "build": {}}}',
    'agents.build: is given twice: "Build" is the same name',
  ],
  [
    '{"agents": {"my agent": {"mode": 1}}}',
    'agents["my agent"].mode: must be one of off, observe, enforce, got 1',
  ],
  [
    '{"mode": 1, "enabled": "no", "agents": {"a": {"ceiling": 0}}}',
    'mode: must be one of off, observe, enforce, got 1',
    'enabled: must be true or false, got "no"',
    'agents.a.ceiling: must be a whole number from 1 to 100000, got 0',
  ],
  [
    JSON.stringify({ mode: `${red}x` }),
    'mode: must be one of off, observe, enforce, got "\\u001b[31mx"',
  ],
  [JSON.stringify({ [`${red}x`]: 1 }), '["\\u001b[31mx"]: is not a setting'],
  [
    JSON.stringify({ mode: '\u202e\u009b' }),
    'mode: must be one of off, observe, enforce, got "\\u202e\\u009b"',
  ],
  [
    JSON.stringify({ mode: 'x'.repeat(900_000) }),
    `mode: must be one of off, observe, enforce, got "${'x'.repeat(40)}…"`,
  ],
];

describe('C1: a malformed configuration', () => {
  it.each(malformed)('%s is refused in clear words', (json, ...expected) => {
    expect(sentences(JSON.parse(json))).toEqual(expected);
  });

  it('is covered by at least 45 cases', () => {
    expect(malformed.length).toBeGreaterThanOrEqual(45);
  });

  it('gives nothing of itself, even where most of it is right', () => {
    expect(validateConfig({ mode: 'off', ceiling: 5, maxTodos: 0 })).toEqual({
      ok: false,
      problems: [
        { path: 'maxTodos', message: 'must be a whole number from 1 to 1000000, got 0' },
      ],
    });
  });

  it.each([
    [Number.NaN, 'NaN'],
    [10n, 'a bigint'],
    [() => 1, 'a function'],
    [undefined, 'nothing'],
  ])('refuses %s, which only a program can pass in', (value, shown) => {
    expect(sentences({ ceiling: value })).toEqual([
      `ceiling: must be a whole number from 1 to 100000, got ${shown}`,
    ]);
  });

  it.each([new Date(0), new Map(), new Error('x')])(
    'does not take %s for an object without settings',
    (value) => {
      expect(validateConfig(value).ok).toBe(false);
      expect(validateConfig({ agents: value }).ok).toBe(false);
    },
  );

  it('never reaches a prototype', () => {
    validateConfig(
      JSON.parse(
        '{"__proto__": {"polluted": 1}, "agents": {"__proto__": {"polluted": 1}}}',
      ),
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('with a hundred thousand wrong keys is told in a hundred sentences and a count, quickly', () => {
    const wrong = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, index) => [`maxContinu${index}`, 1]),
    );
    // Looking for the closest setting of each would take half a minute; the limit leaves
    // room for a busy machine.
    const started = performance.now();
    const told = sentences(wrong);
    expect(told).toHaveLength(101);
    expect(told.at(-1)).toBe('99900 more problems');
    expect(performance.now() - started).toBeLessThan(8000);
  });

  it('with a long list or many names is refused as a whole, not entry by entry', () => {
    const many = Array.from({ length: 1001 }, (_, index) => `agent${index}`);
    expect(sentences({ skipAgents: many })).toEqual([
      'skipAgents: must be a list of at most 1000 entries, got a list of 1001',
    ]);
    expect(
      sentences({ agents: Object.fromEntries(many.map((name) => [name, 1])) }),
    ).toEqual(['agents: must be an object of at most 1000 names, got an object']);
  });
});

describe('C1: a right configuration', () => {
  it('may be empty', () => {
    expect(validateConfig({})).toEqual({ ok: true, config: {} });
  });

  it('may name its schema, which is no setting', () => {
    expect(validateConfig({ $schema: './untildone.schema.json', mode: 'off' })).toEqual({
      ok: true,
      config: { mode: 'off' },
    });
  });

  it('may be all of the defaults', () => {
    expect(validateConfig(JSON.parse(JSON.stringify(defaultSettings)))).toEqual({
      ok: true,
      config: defaultSettings,
    });
  });

  it('keeps agent names in lower case', () => {
    expect(validateConfig({ agents: { Build: { enabled: false } } })).toEqual({
      ok: true,
      config: { agents: { build: { enabled: false } } },
    });
  });

  it('measures texts in characters, not in code units', () => {
    expect(validateConfig({ skipAgents: ['😀'.repeat(100)] }).ok).toBe(true);
    expect(validateConfig({ skipAgents: ['😀'.repeat(101)] }).ok).toBe(false);
  });

  it('is a copy: later changes of what was passed in do not reach it', () => {
    const skipAgents = ['plan'];
    const result = validateConfig({ skipAgents });
    skipAgents.push('build');
    expect(result).toEqual({ ok: true, config: { skipAgents: ['plan'] } });
  });
});

describe('C1: whatever JSON comes in', () => {
  const names = [
    ...Object.keys(defaultSettings),
    '__proto__',
    '$schema',
    'hasOwnProperty',
  ];
  const keyed = fc.dictionary(
    fc.oneof(fc.constantFrom(...names), fc.string()),
    fc.jsonValue(),
  );
  const agents = fc.record({ agents: fc.dictionary(fc.string(), keyed) });

  it('is answered with a value, and every problem is one printable line', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), keyed, agents), (value) => {
        for (const sentence of sentences(value)) {
          expect(sentence).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
          expect(sentence.length).toBeLessThan(2000);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('once accepted is accepted again, unchanged', () => {
    fc.assert(
      fc.property(fc.oneof(keyed, agents), (value) => {
        const first = validateConfig(value);
        if (first.ok)
          expect(validateConfig(first.config)).toEqual({
            ok: true,
            config: first.config,
          });
      }),
    );
  });
});

describe('C1: what a project may not say', () => {
  it('is left out with a word about each, and everything else stays', () => {
    const { config, warnings } = withoutGrants({
      ceiling: 7,
      permissions: { mode: 'auto', allow: { shell: ['**'] } },
      notify: { command: 'touch x', bell: true },
      tools: { shellAllow: ['**'], shellTimeoutSeconds: 5 },
    });
    expect(config).toEqual({ ceiling: 7, tools: { shellTimeoutSeconds: 5 } });
    expect(warnings.map(({ path }) => path)).toEqual([
      'permissions.mode',
      'permissions.allow',
      'notify.command',
      'notify.bell',
      'tools.shellAllow',
    ]);
  });

  it('is nothing where the project grants nothing', () => {
    expect(withoutGrants({ ceiling: 7 })).toEqual({
      config: { ceiling: 7 },
      warnings: [],
    });
  });
});

const sources = ['user', 'project', 'environment', 'flag'] as const;

describe('C1: precedence', () => {
  it('without any source gives the defaults, and says so for every setting', () => {
    const merged = mergeSettings({});
    expect(merged.settings).toEqual(defaultSettings);
    const sections = ['context', 'iterations', 'tools', 'permissions', 'notify'];
    // Own words have no default of their own.
    const paths = settingPaths.filter(
      (path) => !sections.includes(path) && !/^(texts|toasts)\./.test(path),
    );
    expect(merged.origins).toEqual(
      Object.fromEntries(paths.map((path) => [path, 'default'])),
    );
  });

  it('is flags over environment over project file over user file over defaults, in every combination', () => {
    fc.assert(
      fc.property(fc.subarray([...sources]), (present) => {
        const ceilings = { user: 1, project: 2, environment: 3, flag: 4 } as const;
        const layers: Layers = Object.fromEntries(
          present.map((name) => [name, { ceiling: ceilings[name] }]),
        );
        const strongest = present.at(-1);
        const merged = mergeSettings(layers);
        expect(merged.settings.ceiling).toBe(
          strongest === undefined ? 500 : ceilings[strongest],
        );
        expect(merged.origins['ceiling']).toBe(strongest ?? 'default');
      }),
      { numRuns: 200 },
    );
  });

  it('is decided setting by setting', () => {
    const merged = mergeSettings({
      user: { ceiling: 1, mode: 'off' },
      flag: { ceiling: 2 },
    });
    expect(merged.settings).toEqual({ ...defaultSettings, ceiling: 2, mode: 'off' });
    expect(merged.origins).toMatchObject({
      ceiling: 'flag',
      mode: 'user',
      enabled: 'default',
    });
  });

  it('lets a stronger null lift a weaker limit', () => {
    const merged = mergeSettings({ user: { maxCost: 5 }, project: { maxCost: null } });
    expect(merged.settings.maxCost).toBeNull();
    expect(merged.origins['maxCost']).toBe('project');
  });

  it('replaces lists whole, by an empty one too', () => {
    const merged = mergeSettings({
      user: { skipAgents: ['a', 'b'] },
      project: { skipAgents: ['c'] },
    });
    expect(merged.settings.skipAgents).toEqual(['c']);
    expect(mergeSettings({ project: { skipAgents: [] } }).settings.skipAgents).toEqual(
      [],
    );
  });

  it('merges sections field by field, with an origin for each', () => {
    const merged = mergeSettings({
      user: { context: { limit: 9000, planTodos: 5 } },
      flag: { context: { limit: null } },
    });
    expect(merged.settings.context).toEqual({
      maxMessages: 50,
      limit: null,
      compactAt: 0.8,
      planTodos: 5,
    });
    expect(merged.origins).toMatchObject({
      'context.limit': 'flag',
      'context.planTodos': 'user',
      'context.maxMessages': 'default',
    });
  });

  it('says who named the address of a provider', () => {
    const merged = mergeSettings({
      user: { models: { my: { apiKeyEnv: 'MY_KEY' } } },
      project: { models: { my: { baseUrl: 'https://example.org/v1' } } },
    });
    expect(merged.settings.models).toEqual({
      my: { apiKeyEnv: 'MY_KEY', baseUrl: 'https://example.org/v1' },
    });
    expect(merged.origins).toMatchObject({
      'models.my.baseUrl': 'project',
      'models.my.apiKeyEnv': 'user',
    });
  });

  it('merges agents per agent and setting, with an origin for each', () => {
    const merged = mergeSettings({
      user: { agents: { build: { ceiling: 1, mode: 'off' }, test: { ceiling: 9 } } },
      project: { agents: { build: { ceiling: 2 }, 'my agent': {} } },
    });
    expect(merged.settings.agents).toEqual({
      build: { ceiling: 2, mode: 'off' },
      test: { ceiling: 9 },
      'my agent': {},
    });
    expect(merged.origins).toMatchObject({
      'agents.build.ceiling': 'project',
      'agents.build.mode': 'user',
      'agents.test.ceiling': 'user',
      'agents["my agent"]': 'project',
    });
    expect(merged.origins).not.toHaveProperty('agents');
  });

  it('keeps the origins of agents with long and odd names apart', () => {
    const long = 'x y'.repeat(33);
    const agents = {
      [`${long}a`]: { ceiling: 1 },
      [`${long}b`]: { ceiling: 1 },
      'a.b': { ceiling: 1 },
      a: {},
    };
    const merged = mergeSettings({ flag: { agents } });
    const named = Object.keys(merged.origins).filter((path) => path.startsWith('agents'));
    expect(named).toHaveLength(4);
  });

  it('has an order that reads from weak to strong', () => {
    expect(origins).toEqual<readonly Origin[]>(['default', ...sources]);
  });
});
