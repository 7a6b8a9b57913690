// Every family of todo tools that Claude Code can offer: its own list, our MCP tools
// alone, and both, in either order. Its task tools are what all other tests use.
import { describe, expect, it } from 'vitest';
import {
  always,
  callTool,
  complete,
  type FamilyName,
  plan,
  type Script,
  say,
  script,
  untilAllDone,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { play } from './play.ts';
import { offerAllTools, setSwitch } from './settings.ts';

const titles = ['alpha', 'beta', 'gamma'];
const files = titles.map((title) => `${title}.txt`);

function quitter(family: FamilyName): Script {
  const perTodo = (title: string) => [
    writeFile(`${title}.txt`, title),
    complete(title),
    say('I am done.'),
  ];
  return script('quitter', [plan(...titles), untilAllDone(perTodo)], { family });
}

function offeredIn(played: {
  readonly requests: readonly { readonly tools: readonly { name: string }[] }[];
}) {
  return played.requests.flatMap(({ tools }) => tools.map(({ name }) => name));
}

describe('todo tools', () => {
  it("M1: the host's own list (TodoWrite)", async () => {
    const played = await play({
      prompt: 'Do it.',
      scripts: [quitter('claude-list')],
      prepare: (project) => setSwitch(project, 'CLAUDE_CODE_ENABLE_TASKS', '0'),
    });
    expect(offeredIn(played)).not.toContain('TaskCreate');
    expect(played.continuations).toHaveLength(2);
    expect(played.session.todos.map(({ title, status }) => [title, status])).toEqual(
      titles.map((title) => [title, 'completed']),
    );
    expect(played.files).toEqual(files);
    expect(played.session.outcome).toBe('claimed');
  });

  it('P17: our MCP tools alone, where the host has none: the plan is bound to the session', async () => {
    const played = await play({
      prompt: 'Do it.',
      scripts: [quitter('untildone')],
      prepare(project) {
        setSwitch(project, 'CLAUDE_CODE_ENABLE_TODO_TOOLS', '0');
        offerAllTools(project);
      },
    });
    expect(offeredIn(played)).not.toContain('TaskCreate');
    expect(played.continuations).toHaveLength(2);
    expect(played.session.todos.map(({ title, status }) => [title, status])).toEqual(
      titles.map((title) => [title, 'completed']),
    );
    expect(played.files).toEqual(files);
    expect(played.session.outcome).toBe('claimed');
  });

  it("M5: the host's tools and then ours, with the same titles: one plan", async () => {
    const both = script(
      'both',
      [
        plan(...titles),
        callTool('mcp__untildone__create_todo', {
          items: titles.map((title) => ({ title })),
        }),
        ...titles.flatMap((title) => [writeFile(`${title}.txt`, title), complete(title)]),
        always(say('I am done.')),
      ],
      { family: 'claude-tasks' },
    );
    const played = await play({
      prompt: 'Do it.',
      scripts: [both],
      prepare: offerAllTools,
    });
    expect(played.session.todos.map(({ title }) => title)).toEqual(titles);
    expect(played.continuations).toHaveLength(0);
    expect(played.session.outcome).toBe('claimed');
  });

  it("M5: our tools and then the host's, with the same titles: one plan, which the host's list completes", async () => {
    const both = script(
      'both',
      [
        callTool('mcp__untildone__create_todo', {
          items: titles.map((title) => ({ title })),
        }),
        plan(...titles),
        // By the host's numbers: of two ids for one title the scripted model would take
        // the first, which is ours.
        ...titles.flatMap((title, index) => [
          writeFile(`${title}.txt`, title),
          callTool('TaskUpdate', { taskId: String(index + 1), status: 'completed' }),
        ]),
        always(say('I am done.')),
      ],
      { family: 'claude-tasks' },
    );
    const played = await play({
      prompt: 'Do it.',
      scripts: [both],
      prepare: offerAllTools,
    });
    expect(offeredIn(played)).toEqual(
      expect.arrayContaining(['TaskCreate', 'mcp__untildone__create_todo']),
    );
    expect(
      played.session.todos.map(({ title, status, hostKey }) => [
        title,
        status,
        hostKey !== null,
      ]),
    ).toEqual(titles.map((title) => [title, 'completed', true]));
    expect(played.continuations).toHaveLength(0);
    expect(played.session.outcome).toBe('claimed');
  });

  it('control: without init a new model has no todo tool at all', async () => {
    const played = await play({
      prompt: 'Do it.',
      scripts: [quitter('claude-tasks')],
      installed: false,
      environment: { CLAUDE_CODE_ENABLE_TODO_TOOLS: '0' },
    });
    expect(offeredIn(played)).not.toContain('TaskCreate');
    expect(JSON.stringify(played.lines)).toContain('I have no todo tool.');
  });
});
