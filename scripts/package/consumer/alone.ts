// Type-checked against the packed package with nothing else installed, not even Node's
// types, and every declaration looked at. It is never run: the smoke test does that. What
// stands below `@ts-expect-error` would hold nobody, so it must not compile.
import * as untildone from 'untildone';
import * as claude from 'untildone/claude-agent-sdk';
import * as enforcer from 'untildone/enforcer';
import * as mastra from 'untildone/mastra';
import * as opencode from 'untildone/opencode';
import * as model from 'untildone/scripted-model';
import server from 'untildone/server';
import * as testing from 'untildone/testing';
import * as tools from 'untildone/tools';

type IsAny<T> = 0 extends 1 & T ? true : false;
type Exported<Entry> = Entry[keyof Entry];

/** An export whose declaration could not be resolved would quietly be `any`. */
export const lostTypes: [
  IsAny<Exported<typeof untildone>>,
  IsAny<Exported<typeof testing>>,
  IsAny<Exported<typeof model>>,
  IsAny<Exported<typeof enforcer>>,
  IsAny<Exported<typeof opencode>>,
  IsAny<typeof server>,
  IsAny<Exported<typeof mastra>>,
  IsAny<Exported<typeof claude>>,
  IsAny<Exported<typeof tools>>,
] = [false, false, false, false, false, false, false, false, false];

// The root. A program of eight lines:
const session = await untildone.openSession({
  goal: 'migrate the tests',
  checks: ['npm test'],
});
const answer = await session.hold(
  async (messages: { role: string; content: string }[]) => {
    return { text: `heard ${messages.at(-1)?.content}`, steps: 3 };
  },
);
export const steps: number = answer.steps;
export const outcome: 'done' | 'claimed' | null | untildone.Outcome = session.outcome;
export const sentence: string | undefined = (await session.why())?.sentence;
await session.close();

// Options with another name or form.
// @ts-expect-error: checks are a list
await untildone.openSession({ goal: 'x', checks: 'npm test' });
// @ts-expect-error: `checks`
await untildone.openSession({ goal: 'x', check: ['npm test'] });
// @ts-expect-error: `maxContinuations`
await untildone.openSession({ settings: { maxContinuation: 3 } });
// @ts-expect-error: openSession was not awaited
untildone.openSession({ goal: 'x' }).hold(async (messages) => String(messages));

// Agents that say nothing, hear nothing, or are none.
type Heard = { content: string }[];
// @ts-expect-error: its answer is dropped
await session.hold(async (messages: Heard) => void messages.at(-1)?.content);
// @ts-expect-error: it never hears what is missing
await session.hold(async () => 'All done!');
// @ts-expect-error: an answer without text or messages
await session.hold((messages: unknown[]) => ({ reply: `${messages.length}` }));
// @ts-expect-error: an agent is no function; call it
await session.hold({ generate: async () => ({ text: 'done' }) });

// A loop of your own.
const { text } = await session.stop({ text: 'done', end: 'length' });
export const told: string | null = text;
// @ts-expect-error: stop was not awaited
export const isOver: boolean = session.stop({ text: 'done' }).text === null;
// @ts-expect-error: no such end
await session.stop({ end: 'finished' });
// @ts-expect-error: null means that it may stop
export const next: string = (await session.stop()).text;

await session.tell({ type: 'human-spoke', text: 'and the docs' });
// @ts-expect-error: no such event
await session.tell({ type: 'user-spoke', text: 'and the docs' });
// @ts-expect-error: a stop attempt wants an answer
await session.tell({ type: 'stop-attempted', end: 'normal' });

const watched = session.watch({
  readFile: { execute: async (path: string) => path.length },
});
export const length: number = await watched.readFile.execute('a');
// @ts-expect-error: no such tool of ours
session.tools.finish_todo;
// @ts-expect-error: no such outcome
export const isFinished: boolean = session.outcome === 'finished';

export const named: string[] = tools.toolsFor('openai').map((tool) => tool.function.name);
export const schemas: object[] = tools
  .toolsFor('anthropic')
  .map((tool) => tool.input_schema);
// @ts-expect-error: no such format
tools.toolsFor('gemini');

// The frameworks whose packages our declarations do not import.
declare const agent: {
  generate(
    messages: string[],
    options?: { maxSteps?: number },
  ): Promise<{ text: string; steps: number }>;
};
export const ids: string[] = Object.values(mastra.todoTools(session)).map(({ id }) => id);
export const result: { steps: number } = await mastra.untilDone(session, agent, {
  maxSteps: 3,
});
// @ts-expect-error: what it answers has no text
await mastra.untilDone(session, { generate: async () => ({ steps: 3 }) });

declare const sdk: claude.SdkLike<'tool', 'server'>;
export const { mcpServers }: { mcpServers: { untildone: 'server' } } = claude.untilDone(
  session,
  sdk,
);
// @ts-expect-error: without the SDK there are no tools
claude.untilDone(session);

const parts = {
  getTodos: () => [{ content: 'x', status: 'pending' }],
  getMessages: () => [],
};
const enforced = enforcer.createEnforcer({
  ...parts,
  inject: async (_sessionId, said) => said.length,
});
await enforced.handler({ type: 'session.idle', sessionId: 'a' });
// @ts-expect-error: nothing to speak with
enforcer.createEnforcer(parts);
// @ts-expect-error: no such event
await enforced.handler({ type: 'session.stopped', sessionId: 'a' });

declare const input: opencode.PluginInputLike;
export const hooks: opencode.HooksLike = await opencode.createOpenCodePlugin({
  argv: [],
})(input);
export const plugin: { id: string; server: opencode.PluginLike } = server;

const store = await untildone.openSqliteStore({ path: ':memory:' });
const clock = testing.createSimulatedClock(0);
const host = testing.createScriptedHost({ mode: 'asked', store, clock });
export const planned: readonly string[] = await host.plans('Write it');
export const decided: untildone.Decision | null = (await host.stops()).decision;
await clock.advance(1000);
// @ts-expect-error: no such event
await host.happens({ type: 'stopped' });

const { url, requests, close } = await model.startScriptedModel({
  scripts: [
    model.script('story', [
      model.plan('Write it'),
      model.complete('Write it'),
      model.say('Done.'),
    ]),
  ],
});
export const asked: [string, model.LoggedRequest | undefined] = [url, requests.at(-1)];
await close();
// @ts-expect-error: a script is made by `script`
model.startScriptedModel({ scripts: [model.say('Done.')] });
