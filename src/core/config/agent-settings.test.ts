import { describe, expect, it } from 'vitest';
import { settingsForAgent } from './agent-settings.ts';
import { mergeSettings } from './merge.ts';
import { defaultSettings, type Settings } from './settings.ts';

const { settings } = mergeSettings({
  project: { maxTokens: 1000, agents: { build: { enabled: false, maxTokens: null } } },
});

describe('C1: the settings of one agent', () => {
  it('are the shared ones under what is said about that agent', () => {
    expect(settingsForAgent(settings, 'build')).toEqual({ ...settings, enabled: false, maxTokens: null });
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
    expect(settingsForAgent(own, 'build').context).toEqual({ ...own.context, planTodos: 7, maxMessages: 30 });
    expect(settingsForAgent(own, 'build').model).toBe('ollama/a');
    expect(settingsForAgent(own, 'other').context.maxMessages).toBe(50);
  });

  it.each([null, '', 'other', 'builder', '__proto__', 'toString'])('are the shared ones for %j', (name) => {
    expect(settingsForAgent(settings, name)).toEqual(settings);
  });

  it('leave the shared ones as they were', () => {
    settingsForAgent(settings, 'build');
    expect(settings.enabled).toBe(true);
  });
});
