// Claude Code names most of its tools and shows them only when the model searches for
// them. The small host in this file does the same, with the message shapes of version
// 2.1.325.
import { describe, expect, it } from 'vitest';
import { anthropicWire } from './anthropic.ts';
import { type Finish, isTraceless } from './model.ts';
import {
  answerRequest,
  type Script,
  type ScriptMemory,
  script,
  writeCallId,
} from './script.ts';
import {
  callTool,
  complete,
  fail,
  plan,
  type Step,
  say,
  whenContinued,
  whenTold,
} from './steps.ts';

const deferred = [
  'CronCreate',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'WebFetch',
];
const listing = [
  'The following deferred tools are now available via ToolSearch. Their schemas are NOT loaded.',
  ...deferred,
  '',
  'Available agent types for the Agent tool:',
  'claude: any task',
].join('\n');

class Host {
  readonly #script: Script;
  readonly #messages: object[] = [{ role: 'system', content: listing }];
  readonly #loaded = new Set<string>();
  /** The search answers with an empty result. */
  readonly findsNothing: boolean;
  #memory: ScriptMemory | undefined;
  #calls = 0;

  constructor(
    steps: readonly Step[],
    { findsNothing = false, cursor = 'history' as 'history' | 'server' } = {},
  ) {
    this.#script = script('story', steps, { cursor });
    this.findsNothing = findsNothing;
  }

  /** Runs until the model stops. Returns what it called, and its last words. */
  turn(text: string): readonly string[] {
    this.#messages.push({ role: 'user', content: text });
    const seen: string[] = [];
    for (let finish: Finish = 'tool-calls'; finish === 'tool-calls'; ) {
      const tools = ['Bash', 'ToolSearch', ...this.#loaded].map((name) => ({
        name,
        input_schema: {},
      }));
      const body = { model: 'story', messages: this.#messages, tools };
      this.#calls += 1;
      const serial = `s${this.#calls}`;
      const request = anthropicWire.parseRequest(body, {});
      const answer = answerRequest(
        { script: this.#script, from: 0 },
        request,
        serial,
        this.#memory,
      );
      this.#memory = answer.memory;
      const { reply, position } = answer;
      const anchor = { conversation: 'c', serial, position };
      const calls = (reply.calls ?? []).map((call, index) => ({
        ...call,
        id: writeCallId(anchor, index),
      }));
      if (reply.error !== undefined) {
        seen.push('failed');
        continue;
      }
      finish = reply.finish;
      seen.push(
        ...calls.map(({ name, input }) => this.#call(name, input)),
        reply.text ?? '',
      );
      if (isTraceless(reply)) continue;
      const said = reply.text === undefined ? [] : [{ type: 'text', text: reply.text }];
      const used = calls.map((call) => ({ type: 'tool_use', ...call }));
      this.#messages.push({ role: 'assistant', content: [...said, ...used] });
      if (calls.length === 0) continue;
      const results = calls.map(({ id, name }, index) => ({
        type: 'tool_result',
        tool_use_id: id,
        content:
          name === 'TaskCreate' ? `Task #${index + 1} created successfully` : 'done',
      }));
      const loaded = { type: 'text', text: 'Tool loaded.' };
      this.#messages.push({
        role: 'user',
        content: calls[0]?.name === 'ToolSearch' ? [...results, loaded] : results,
      });
    }
    return seen.filter((one) => one !== '');
  }

  #call(name: string, input: unknown): string {
    if (name !== 'ToolSearch')
      return this.#loaded.has(name) || name === 'Bash' ? name : `${name} (unknown)`;
    const { query } = input as { query: string };
    if (!this.findsNothing)
      for (const one of query.replace('select:', '').split(',')) this.#loaded.add(one);
    return query;
  }
}

const search = 'select:TaskCreate,TaskList,TaskUpdate';

describe('tools that a host only names', () => {
  it('are offered with the tool that finds them, until they are loaded', () => {
    const loaded = {
      name: 'TaskCreate',
      defer_loading: true,
      input_schema: { type: 'object' },
    };
    const messages = [{ role: 'system', content: listing }];
    const { tools } = anthropicWire.parseRequest({ messages, tools: [loaded] }, {});
    expect(tools.map(({ name, foundBy }) => [name, foundBy])).toEqual([
      ['TaskCreate', undefined],
      ...deferred
        .filter((name) => name !== 'TaskCreate')
        .map((name) => [name, 'ToolSearch']),
    ]);
  });

  it('named by a human or a tool are not there', () => {
    const messages = [{ role: 'user', content: listing }];
    expect(anthropicWire.parseRequest({ messages, tools: [] }, {}).tools).toEqual([]);
  });

  it.each(['history', 'server'] as const)(
    'are searched for once, all todo tools together (%s)',
    (cursor) => {
      const host = new Host([plan('A'), complete('A'), say('Done.')], { cursor });
      expect(host.turn('go')).toEqual([search, 'TaskCreate', 'TaskUpdate', 'Done.']);
    },
  );

  it('are searched for without forgetting what the model was told, or that it was sent on', () => {
    const host = new Host([
      say('Done.'),
      whenContinued(whenTold('the plan is missing', plan('A')), say('Planned.')),
      say('Nobody sent me on.'),
    ]);
    expect(host.turn('go')).toEqual(['Done.']);
    expect(host.turn('Go on: the plan is missing.')).toEqual([
      search,
      'TaskCreate',
      'Planned.',
    ]);
  });

  it('are searched for after a failed call too', () => {
    const host = new Host([fail(500), plan('A'), say('Done.')]);
    expect(host.turn('go')).toEqual(['failed', search, 'TaskCreate', 'Done.']);
  });

  it('that are no todo tools are searched for by their name', () => {
    const host = new Host([callTool('WebFetch'), callTool('Bash'), say('Done.')]);
    expect(host.turn('go')[0]).toBe('select:WebFetch');
  });

  it('are called all the same when the search finds nothing', () => {
    const host = new Host([plan('A'), say('Done.')], { findsNothing: true });
    expect(host.turn('go')).toEqual([search, 'TaskCreate (unknown)', 'Done.']);
  });
});
