import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { environmentName, parseEnvironment, parseFlags } from './config.ts';
import { ownVariables } from './own-variables.ts';
import { problemSentence } from './problem.ts';
import { defaultSettings, settingNames } from './settings.ts';

function problems(environment: Record<string, string>): readonly string[] {
  const result = parseEnvironment(environment);
  return result.ok ? [] : result.problems.map(problemSentence);
}

describe('C1: settings from the environment', () => {
  it.each([
    ['UNTILDONE_ENABLED', 'false', { enabled: false }],
    ['UNTILDONE_ENABLED', '0', { enabled: false }],
    ['UNTILDONE_ENABLED', 'OFF', { enabled: false }],
    ['UNTILDONE_ENABLED', ' yes ', { enabled: true }],
    ['UNTILDONE_MAX_CONTINUATIONS', '20', { maxContinuations: 20 }],
    ['UNTILDONE_COUNTDOWN_SECONDS', '.5', { countdownSeconds: 0.5 }],
    ['UNTILDONE_MODE', 'observe', { mode: 'observe' }],
    ['UNTILDONE_MAX_COST', 'none', { maxCost: null }],
    ['UNTILDONE_MAX_TOKENS', '2e6', { maxTokens: 2_000_000 }],
    ['UNTILDONE_SKIP_AGENTS', 'plan, review', { skipAgents: ['plan', 'review'] }],
    ['UNTILDONE_STOP_WORDS', '["no, stop"]', { stopWords: ['no, stop'] }],
    ['UNTILDONE_SKIP_AGENTS', '[]', { skipAgents: [] }],
    [
      'UNTILDONE_AGENTS',
      '{"Build": {"ceiling": 9}}',
      { agents: { build: { ceiling: 9 } } },
    ],
    ['UNTILDONE_MODEL', ' anthropic/claude-x ', { model: 'anthropic/claude-x' }],
    ['UNTILDONE_MODEL', 'none', { model: null }],
    ['UNTILDONE_CONTEXT_MAX_MESSAGES', '30', { context: { maxMessages: 30 } }],
    ['UNTILDONE_CONTEXT', '{"limit": 9000}', { context: { limit: 9000 } }],
    [
      'UNTILDONE_TOOLS_SHELL_ALLOW',
      'npm test,npm run *',
      { tools: { shellAllow: ['npm test', 'npm run *'] } },
    ],
    ['UNTILDONE_MODELS', '{"My": {"api": "chat"}}', { models: { my: { api: 'chat' } } }],
    [
      'UNTILDONE_PRICES',
      '{"A/B": {"input": 1.5}}',
      { prices: { 'a/b': { input: 1.5 } } },
    ],
  ])('%s=%s is understood', (variable, text, config) => {
    expect(parseEnvironment({ [variable]: text })).toEqual({
      ok: true,
      config,
      warnings: [],
    });
  });

  it.each([
    ['UNTILDONE_ENABLED', 'maybe', 'must be true or false, got "maybe"'],
    [
      'UNTILDONE_MAX_CONTINUATIONS',
      'ten',
      'must be a whole number from 1 to 10000, got "ten"',
    ],
    [
      'UNTILDONE_MAX_CONTINUATIONS',
      '0x10',
      'must be a whole number from 1 to 10000, got "0x10"',
    ],
    [
      'UNTILDONE_MAX_CONTINUATIONS',
      '1e999',
      'must be a whole number from 1 to 10000, got Infinity',
    ],
    [
      'UNTILDONE_MAX_COST',
      'lots',
      'must be a number from 0 to 1000000, or null, got "lots"',
    ],
    [
      'UNTILDONE_MODE',
      '\u001b[2J',
      'must be one of off, observe, enforce, got "\\u001b[2J"',
    ],
    [
      'UNTILDONE_SKIP_AGENTS',
      '[plan',
      'must be a list of at most 1000 entries, got "[plan"',
    ],
    ['UNTILDONE_AGENTS', 'build', 'must be an object of at most 1000 names, got "build"'],
    ['UNTILDONE_ITERATIONS_CAP', '0', 'must be a whole number from 1 to 10000, got 0'],
    ['UNTILDONE_CONTEXT', '50', 'must be an object, got 50'],
  ])('%s=%s is refused in clear words', (variable, text, message) => {
    expect(problems({ [variable]: text })).toEqual([`${variable}: ${message}`]);
  });

  it('lets a field of a section count more than the section as a whole, in any order', () => {
    const environment = {
      UNTILDONE_CONTEXT_LIMIT: '9000',
      UNTILDONE_CONTEXT: '{"limit": 8000, "planTodos": 3}',
      UNTILDONE_CONTEXT_COMPACT_AT: '0.5',
    };
    const config = { context: { limit: 9000, planTodos: 3, compactAt: 0.5 } };
    expect(parseEnvironment(environment)).toEqual({ ok: true, config, warnings: [] });
    const reversed = Object.fromEntries(Object.entries(environment).reverse());
    expect(parseEnvironment(reversed)).toEqual({ ok: true, config, warnings: [] });
  });

  it('names the place inside a list or an object', () => {
    expect(
      problems({
        UNTILDONE_SKIP_AGENTS: 'plan,,test',
        UNTILDONE_AGENTS: '{"a": {"mode": "x"}}',
      }),
    ).toEqual([
      'UNTILDONE_SKIP_AGENTS[1]: must be a visible text on one line of at most 100 characters, got ""',
      'UNTILDONE_AGENTS.a.mode: must be one of off, observe, enforce, got "x"',
    ]);
  });

  it('applies nothing when one variable is wrong, and still warns', () => {
    const result = parseEnvironment({
      UNTILDONE_MODE: 'off',
      UNTILDONE_CEILING: 'x',
      UNTILDONE_CEILNG: '1',
    });
    expect(result).not.toHaveProperty('config');
    expect(result.warnings).toHaveLength(1);
  });

  it('takes an empty variable for one that is not set', () => {
    expect(
      parseEnvironment({
        UNTILDONE_MODE: '',
        UNTILDONE_CEILING: ' ',
        UNTILDONE_ENABLED: undefined,
      }),
    ).toEqual({
      ok: true,
      config: {},
      warnings: [],
    });
  });

  it('warns of an unknown variable and names the closest setting, without failing', () => {
    const result = parseEnvironment({
      UNTILDONE_MAX_CONTINUATION: '3',
      UNTILDONE_COLOUR: 'red',
    });
    expect(result.ok).toBe(true);
    expect(result.warnings.map(problemSentence)).toEqual([
      'UNTILDONE_MAX_CONTINUATION: is not a setting and is ignored; did you mean UNTILDONE_MAX_CONTINUATIONS?',
      'UNTILDONE_COLOUR: is not a setting and is ignored',
    ]);
  });

  it('prints the name of a hostile variable without its escapes', () => {
    const [warning] = parseEnvironment({ 'UNTILDONE_\u001b[2J': '1' }).warnings;
    expect(warning?.path).toBe('"UNTILDONE_\\u001b[2J"');
  });

  it('has no opinion about our other variables and about those of others', () => {
    const environment = Object.fromEntries(
      [...Object.values(ownVariables), 'PATH', 'untildone_mode'].map((name) => [
        name,
        'x',
      ]),
    );
    expect(parseEnvironment(environment)).toEqual({ ok: true, config: {}, warnings: [] });
  });

  it('has no other variable with the name of a setting', () => {
    const names = settingNames.map(environmentName);
    const own: readonly string[] = Object.values(ownVariables);
    expect(own.filter((variable) => names.includes(variable))).toEqual([]);
  });

  it('can say everything that the defaults say', () => {
    const environment = Object.fromEntries(
      settingNames.map((name) => {
        const value = defaultSettings[name];
        return [
          environmentName(name),
          typeof value === 'string' ? value : JSON.stringify(value),
        ];
      }),
    );
    expect(parseEnvironment(environment)).toEqual({
      ok: true,
      config: defaultSettings,
      warnings: [],
    });
  });
});

describe('C1: settings from flags', () => {
  it.each([
    [['--max-continuations=20'], { maxContinuations: 20 }],
    [['--max-continuations', '20'], { maxContinuations: 20 }],
    [['--enabled'], { enabled: true }],
    [['--enabled=false'], { enabled: false }],
    [['--no-enabled'], { enabled: false }],
    [['--max-cost=none'], { maxCost: null }],
    [['--stop-words=["a=b, c"]'], { stopWords: ['a=b, c'] }],
    [
      ['--skip-agents=plan,test', '--skip-agents', 'review'],
      { skipAgents: ['plan', 'test', 'review'] },
    ],
    [['--mode=off', '--mode=observe'], { mode: 'observe' }],
    [['--agents={"Build": {"mode": "off"}}'], { agents: { build: { mode: 'off' } } }],
    [['--model', 'ollama/qwen3'], { model: 'ollama/qwen3' }],
    [
      ['--context-max-messages=30', '--context-limit=none'],
      { context: { maxMessages: 30, limit: null } },
    ],
    [
      ['--context={"limit": 9000}', '--context-plan-todos=3'],
      { context: { limit: 9000, planTodos: 3 } },
    ],
    [
      ['--context-plan-todos=3', '--context={"limit": 9000}'],
      { context: { limit: 9000, planTodos: 3 } },
    ],
    [['--context-limit=9000', '--context-limit=8000'], { context: { limit: 8000 } }],
    [
      ['--tools-shell-allow=npm test', '--tools-shell-allow=["a, b"]'],
      { tools: { shellAllow: ['npm test', 'a, b'] } },
    ],
  ])('%j is understood', (argv, config) => {
    expect(parseFlags(argv)).toEqual({ ok: true, config, rest: [] });
  });

  it.each([
    [
      ['--max-continuations=ten'],
      '--max-continuations: must be a whole number from 1 to 10000, got "ten"',
    ],
    [
      ['--max-continuations', '-5'],
      '--max-continuations: must be a whole number from 1 to 10000, got -5',
    ],
    [
      ['--max-continuations'],
      '--max-continuations: needs a value: --max-continuations=VALUE',
    ],
    [
      ['--max-continuations='],
      '--max-continuations: needs a value: --max-continuations=VALUE',
    ],
    [['--mode', '--json'], '--mode: needs a value: --mode=VALUE'],
    [['--enabled=perhaps'], '--enabled: must be true or false, got "perhaps"'],
    [
      ['--agents={"a": {"ceiling": 0}}'],
      '--agents.a.ceiling: must be a whole number from 1 to 100000, got 0',
    ],
    [['--context=30'], '--context: must be an object, got 30'],
    [
      ['--iterations-base', 'x'],
      '--iterations-base: must be a whole number from 1 to 10000, got "x"',
    ],
  ])('%j is refused in clear words', (argv, sentence) => {
    const result = parseFlags(argv);
    expect(result.ok ? [] : result.problems.map(problemSentence)).toEqual([sentence]);
  });

  it('leaves every other argument as it was, in its order', () => {
    const result = parseFlags([
      'run',
      'a goal',
      '--mode=off',
      '--check',
      'npm test',
      '--json',
      '--ceiling',
      '5',
      '-v',
    ]);
    expect(result).toEqual({
      ok: true,
      config: { mode: 'off', ceiling: 5 },
      rest: ['run', 'a goal', '--check', 'npm test', '--json', '-v'],
    });
  });

  it('does not let a bare boolean swallow the argument after it', () => {
    expect(parseFlags(['--enabled', 'status'])).toEqual({
      ok: true,
      config: { enabled: true },
      rest: ['status'],
    });
  });

  it('does not swallow the flag after one that lacks its value', () => {
    expect(parseFlags(['--mode', '--json']).rest).toEqual(['--json']);
    expect(parseFlags(['--mode', '--', 'off']).rest).toEqual(['--', 'off']);
  });

  it('stops at --', () => {
    expect(parseFlags(['--', '--mode=off'])).toEqual({
      ok: true,
      config: {},
      rest: ['--', '--mode=off'],
    });
  });

  it.each([
    '--no-mode',
    '--no-enabled=1',
    '--modes=off',
    '--max_continuations=1',
    '-mode',
  ])('%s is not ours', (argument) => {
    expect(parseFlags([argument])).toEqual({ ok: true, config: {}, rest: [argument] });
  });

  it('applies nothing when one flag is wrong', () => {
    expect(parseFlags(['--mode=off', '--ceiling=0', 'x'])).not.toHaveProperty('config');
  });

  it('never throws and never invents an argument', () => {
    const argument = fc.oneof(
      fc.string(),
      fc.constantFrom('--', '--mode', '--enabled', '--no-enabled', '--agents={'),
    );
    fc.assert(
      fc.property(fc.array(argument), (argv) => {
        const { rest } = parseFlags(argv);
        let from = 0;
        for (const kept of rest) from = argv.indexOf(kept, from) + 1 || Number.NaN;
        expect(from).not.toBeNaN();
      }),
    );
  });
});
