import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Layers, mergeSettings, type Origin, origins } from './merge.ts';
import { settingPaths } from './setting-names.ts';
import { defaultSettings } from './settings.ts';

const sources = ['user', 'project', 'environment', 'flag'] as const;

describe('C1: precedence', () => {
  it('without any source gives the defaults, and says so for every setting', () => {
    const merged = mergeSettings({});
    expect(merged.settings).toEqual(defaultSettings);
    const sections = ['context', 'iterations', 'tools', 'permissions'];
    const paths = settingPaths.filter((path) => !sections.includes(path));
    expect(merged.origins).toEqual(Object.fromEntries(paths.map((path) => [path, 'default'])));
  });

  it('is flags over environment over project file over user file over defaults, in every combination', () => {
    fc.assert(
      fc.property(fc.subarray([...sources]), (present) => {
        const ceilings = { user: 1, project: 2, environment: 3, flag: 4 } as const;
        const layers: Layers = Object.fromEntries(present.map((name) => [name, { ceiling: ceilings[name] }]));
        const strongest = present.at(-1);
        const merged = mergeSettings(layers);
        expect(merged.settings.ceiling).toBe(strongest === undefined ? 500 : ceilings[strongest]);
        expect(merged.origins['ceiling']).toBe(strongest ?? 'default');
      }),
      { numRuns: 200 },
    );
  });

  it('is decided setting by setting', () => {
    const merged = mergeSettings({ user: { ceiling: 1, mode: 'off' }, flag: { ceiling: 2 } });
    expect(merged.settings).toEqual({ ...defaultSettings, ceiling: 2, mode: 'off' });
    expect(merged.origins).toMatchObject({ ceiling: 'flag', mode: 'user', enabled: 'default' });
  });

  it('lets a stronger null lift a weaker limit', () => {
    const merged = mergeSettings({ user: { maxCost: 5 }, project: { maxCost: null } });
    expect(merged.settings.maxCost).toBeNull();
    expect(merged.origins['maxCost']).toBe('project');
  });

  it('replaces lists whole, by an empty one too', () => {
    const merged = mergeSettings({ user: { skipAgents: ['a', 'b'] }, project: { skipAgents: ['c'] } });
    expect(merged.settings.skipAgents).toEqual(['c']);
    expect(mergeSettings({ project: { skipAgents: [] } }).settings.skipAgents).toEqual([]);
  });

  it('merges sections field by field, with an origin for each', () => {
    const merged = mergeSettings({
      user: { context: { limit: 9000, planTodos: 5 } },
      flag: { context: { limit: null } },
    });
    expect(merged.settings.context).toEqual({ maxMessages: 50, limit: null, compactAt: 0.8, planTodos: 5 });
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
    expect(merged.origins).toMatchObject({ 'models.my.baseUrl': 'project', 'models.my.apiKeyEnv': 'user' });
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
