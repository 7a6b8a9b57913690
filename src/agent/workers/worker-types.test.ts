import { describe, expect, it } from 'vitest';
import { type Layers, mergeSettings } from '../../core/config.ts';
import { workspaceTools } from '../workspace/workspace-tools.ts';
import { workerTools, workerTypes } from './worker-types.ts';

function typesOf(layers: Layers) {
  const { settings, origins } = mergeSettings(layers);
  const found = workerTypes(settings, origins);
  if (!found.ok) throw new Error(found.error);
  return {
    ...found,
    byName: Object.fromEntries(found.workers.map((worker) => [worker.name, worker])),
  };
}

function refusal(layers: Layers): string {
  const { settings, origins } = mergeSettings(layers);
  const found = workerTypes(settings, origins);
  return found.ok ? '' : found.error;
}

const access = new Map(workspaceTools.map((tool) => [tool.name, tool.access]));

describe('S4: the workers that come along', () => {
  it('are explorer, coder and tester, each with tools that exist', () => {
    const { workers } = typesOf({});
    expect(workers.map(({ name }) => name)).toEqual(['explorer', 'coder', 'tester']);
    for (const { tools } of workers)
      for (const tool of tools) expect(access.has(tool)).toBe(true);
  });

  it('explorer only reads; tester runs but writes no file; coder has every workspace tool', () => {
    const { byName } = typesOf({});
    const accesses = (name: string) =>
      new Set(byName[name]?.tools.map((tool) => access.get(tool)));
    expect(accesses('explorer')).toEqual(new Set(['read']));
    expect(accesses('tester')).toEqual(new Set(['read', 'execute']));
    expect(byName['coder']?.tools).toEqual(workspaceTools.map(({ name }) => name));
  });

  it('can be changed in part, and switched off', () => {
    const { byName } = typesOf({
      user: {
        workers: {
          coder: { maxSteps: 5, model: 'ollama/qwen3' },
          tester: { enabled: false },
        },
      },
    });
    expect(Object.keys(byName)).toEqual(['explorer', 'coder']);
    expect(byName['coder']).toMatchObject({
      maxSteps: 5,
      modelName: 'ollama/qwen3',
      timeoutSeconds: 1800,
    });
  });
});

describe('own workers', () => {
  const reviewer = { purpose: 'reviews a change', prompt: 'Be strict.' };

  it('only read unless they are given more', () => {
    const { byName } = typesOf({
      user: {
        workers: { reviewer, mender: { ...reviewer, tools: ['read_file', 'edit_file'] } },
      },
    });
    expect(byName['reviewer']?.tools).toEqual(byName['explorer']?.tools);
    expect(byName['mender']?.tools).toEqual(['read_file', 'edit_file']);
    expect(byName['reviewer']).toMatchObject({
      prompt: 'Be strict.',
      isProjectPrompt: false,
    });
  });

  it.each([
    ['without a purpose', { helper: {} }, 'workers.helper needs a purpose'],
    ['with an odd name', { 'a b': reviewer }, 'the name of a worker has letters, digits'],
    [
      'with a tool that is not there',
      { reviewer: { ...reviewer, tools: ['grepp'] } },
      'there is no tool "grepp"; did you mean grep?',
    ],
    [
      'with a todo tool',
      { reviewer: { ...reviewer, tools: ['create_todo'] } },
      'there is no tool',
    ],
  ])('%s are refused with a sentence', (_name, workers, sentence) => {
    expect(refusal({ user: { workers } })).toContain(sentence);
  });
});

describe('a project’s file', () => {
  it('cannot give a built-in worker more tools than it has by itself, and can narrow it', () => {
    const { byName, warnings } = typesOf({
      project: {
        workers: {
          explorer: { tools: ['grep', 'shell'] },
          coder: { tools: ['read_file'] },
        },
      },
    });
    expect(byName['explorer']?.tools).toEqual(['grep']);
    expect(byName['coder']?.tools).toEqual(['read_file']);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('workers.explorer.tools');
  });

  it('says what a worker is told as part of the workspace, not as the human', () => {
    const { byName } = typesOf({
      user: { workers: { coder: { prompt: 'Mine.' } } },
      project: { workers: { tester: { prompt: 'Theirs.' } } },
    });
    expect([byName['coder']?.isProjectPrompt, byName['tester']?.isProjectPrompt]).toEqual(
      [false, true],
    );
  });
});

it('M7: a worker gets no tool for plans or workers, whatever it is said to have', () => {
  const ofRun = [
    { name: 'create_todo', family: 'todo' },
    { name: 'delegate', family: 'delegation' },
    { name: 'read_file', family: 'workspace' },
    { name: 'shell', family: 'workspace' },
  ];
  const tools = ['create_todo', 'delegate', 'read_file', 'not_there'];
  expect(workerTools({ tools }, ofRun).map(({ name }) => name)).toEqual(['read_file']);
});
