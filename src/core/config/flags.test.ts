import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFlags } from './flags.ts';
import { problemSentence } from './problem.ts';

describe('C1: settings from flags', () => {
  it.each([
    [['--max-continuations=20'], { maxContinuations: 20 }],
    [['--max-continuations', '20'], { maxContinuations: 20 }],
    [['--enabled'], { enabled: true }],
    [['--enabled=false'], { enabled: false }],
    [['--no-enabled'], { enabled: false }],
    [['--max-cost=none'], { maxCost: null }],
    [['--stop-words=["a=b, c"]'], { stopWords: ['a=b, c'] }],
    [['--skip-agents=plan,test', '--skip-agents', 'review'], { skipAgents: ['plan', 'test', 'review'] }],
    [['--mode=off', '--mode=observe'], { mode: 'observe' }],
    [['--agents={"Build": {"mode": "off"}}'], { agents: { build: { mode: 'off' } } }],
    [['--model', 'ollama/qwen3'], { model: 'ollama/qwen3' }],
    [['--context-max-messages=30', '--context-limit=none'], { context: { maxMessages: 30, limit: null } }],
    [['--context={"limit": 9000}', '--context-plan-todos=3'], { context: { limit: 9000, planTodos: 3 } }],
    [['--context-plan-todos=3', '--context={"limit": 9000}'], { context: { limit: 9000, planTodos: 3 } }],
    [['--context-limit=9000', '--context-limit=8000'], { context: { limit: 8000 } }],
    [
      ['--tools-shell-allow=npm test', '--tools-shell-allow=["a, b"]'],
      { tools: { shellAllow: ['npm test', 'a, b'] } },
    ],
  ])('%j is understood', (argv, config) => {
    expect(parseFlags(argv)).toEqual({ ok: true, config, rest: [] });
  });

  it.each([
    [['--max-continuations=ten'], '--max-continuations: must be a whole number from 1 to 10000, got "ten"'],
    [['--max-continuations', '-5'], '--max-continuations: must be a whole number from 1 to 10000, got -5'],
    [['--max-continuations'], '--max-continuations: needs a value: --max-continuations=VALUE'],
    [['--max-continuations='], '--max-continuations: needs a value: --max-continuations=VALUE'],
    [['--mode', '--json'], '--mode: needs a value: --mode=VALUE'],
    [['--enabled=perhaps'], '--enabled: must be true or false, got "perhaps"'],
    [
      ['--agents={"a": {"ceiling": 0}}'],
      '--agents.a.ceiling: must be a whole number from 1 to 100000, got 0',
    ],
    [['--context=30'], '--context: must be an object, got 30'],
    [['--iterations-base', 'x'], '--iterations-base: must be a whole number from 1 to 10000, got "x"'],
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
    expect(parseFlags(['--', '--mode=off'])).toEqual({ ok: true, config: {}, rest: ['--', '--mode=off'] });
  });

  it.each(['--no-mode', '--no-enabled=1', '--modes=off', '--max_continuations=1', '-mode'])(
    '%s is not ours',
    (argument) => {
      expect(parseFlags([argument])).toEqual({ ok: true, config: {}, rest: [argument] });
    },
  );

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
