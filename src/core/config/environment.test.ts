import { describe, expect, it } from 'vitest';
import { otherVariables, parseEnvironment } from './environment.ts';
import { problemSentence } from './problem.ts';
import { environmentName } from './setting-names.ts';
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
    ['UNTILDONE_AGENTS', '{"Build": {"ceiling": 9}}', { agents: { build: { ceiling: 9 } } }],
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
    ['UNTILDONE_PRICES', '{"A/B": {"input": 1.5}}', { prices: { 'a/b': { input: 1.5 } } }],
  ])('%s=%s is understood', (variable, text, config) => {
    expect(parseEnvironment({ [variable]: text })).toEqual({ ok: true, config, warnings: [] });
  });

  it.each([
    ['UNTILDONE_ENABLED', 'maybe', 'must be true or false, got "maybe"'],
    ['UNTILDONE_MAX_CONTINUATIONS', 'ten', 'must be a whole number from 1 to 10000, got "ten"'],
    ['UNTILDONE_MAX_CONTINUATIONS', '0x10', 'must be a whole number from 1 to 10000, got "0x10"'],
    ['UNTILDONE_MAX_CONTINUATIONS', '1e999', 'must be a whole number from 1 to 10000, got Infinity'],
    ['UNTILDONE_MAX_COST', 'lots', 'must be a number from 0 to 1000000, or null, got "lots"'],
    ['UNTILDONE_MODE', '\u001b[2J', 'must be one of off, observe, enforce, got "\\u001b[2J"'],
    ['UNTILDONE_SKIP_AGENTS', '[plan', 'must be a list of at most 1000 entries, got "[plan"'],
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
      problems({ UNTILDONE_SKIP_AGENTS: 'plan,,test', UNTILDONE_AGENTS: '{"a": {"mode": "x"}}' }),
    ).toEqual([
      'UNTILDONE_SKIP_AGENTS[1]: must be a visible text on one line of at most 100 characters, got ""',
      'UNTILDONE_AGENTS.a.mode: must be one of off, observe, enforce, got "x"',
    ]);
  });

  it('applies nothing when one variable is wrong, and still warns', () => {
    const result = parseEnvironment({ UNTILDONE_MODE: 'off', UNTILDONE_CEILING: 'x', UNTILDONE_CEILNG: '1' });
    expect(result).not.toHaveProperty('config');
    expect(result.warnings).toHaveLength(1);
  });

  it('takes an empty variable for one that is not set', () => {
    expect(
      parseEnvironment({ UNTILDONE_MODE: '', UNTILDONE_CEILING: ' ', UNTILDONE_ENABLED: undefined }),
    ).toEqual({
      ok: true,
      config: {},
      warnings: [],
    });
  });

  it('warns of an unknown variable and names the closest setting, without failing', () => {
    const result = parseEnvironment({ UNTILDONE_MAX_CONTINUATION: '3', UNTILDONE_COLOUR: 'red' });
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
      [...otherVariables, 'PATH', 'untildone_mode'].map((name) => [name, 'x']),
    );
    expect(parseEnvironment(environment)).toEqual({ ok: true, config: {}, warnings: [] });
  });

  it('has no other variable with the name of a setting', () => {
    const names = settingNames.map(environmentName);
    expect(otherVariables.filter((variable) => names.includes(variable))).toEqual([]);
  });

  it('can say everything that the defaults say', () => {
    const environment = Object.fromEntries(
      settingNames.map((name) => {
        const value = defaultSettings[name];
        return [environmentName(name), typeof value === 'string' ? value : JSON.stringify(value)];
      }),
    );
    expect(parseEnvironment(environment)).toEqual({ ok: true, config: defaultSettings, warnings: [] });
  });
});
