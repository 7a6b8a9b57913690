// What holds a countdown back in OpenCode and what follows when it ends; how many tokens
// OpenCode reports; and words in its list that we do not know.
import { describe, expect, it } from 'vitest';
import { type PluginCase, sessionId, todo } from '../../../test/support/opencode-case.ts';
import { startPlugin, stoppedPlugin } from '../../../test/support/opencode-stage.ts';

const minute = 60_000;
const sessionID = sessionId;
/** The seconds of the countdown's toasts. */
const seconds = ({ host: { toasts } }: PluginCase) =>
  toasts.flatMap(
    ({ message }) =>
      /Resuming in (\d+) s/u.exec(String(message))?.slice(1).map(Number) ?? [],
  );

describe('causes of waiting', () => {
  type Act = (stage: PluginCase) => Promise<unknown>;
  const waits: readonly [string, Act, Act][] = [
    [
      'a permission',
      ({ host }) => host.tells('permission.asked', { sessionID, id: 'per_1' }),
      ({ host }) =>
        host.tells('permission.replied', {
          sessionID,
          requestID: 'per_1',
          reply: 'once',
        }),
    ],
    [
      'a question',
      ({ host }) => host.tells('question.asked', { sessionID, id: 'que_1' }),
      ({ host }) => host.tells('question.replied', { sessionID, requestID: 'que_1' }),
    ],
    [
      'a compaction',
      async ({ host }) =>
        host.hooks['experimental.session.compacting']?.(
          { sessionID },
          { context: [] as string[] },
        ),
      ({ host }) => host.tells('session.compacted', { sessionID }),
    ],
  ];
  for (const [what, begins, ends] of waits) {
    it(`G3 E3: ${what} ends countdown and toasts at once; when it ends, a new one begins`, async () => {
      const stage = await stoppedPlugin();
      await begins(stage);
      await stage.settle();
      await stage.clock.advance(minute);
      expect([stage.host.injected(sessionId), seconds(stage)]).toEqual([[], [2]]);
      await ends(stage);
      await countsDownAnew(stage, [2]);
    });
  }

  it('G3 P18: a subagent that is at work is waited for; when it ends, a countdown with toasts begins', async () => {
    const stage = await startPlugin();
    const { host, settle, clock } = stage;
    await host.says(sessionId, 'Do both.');
    await host.writesTodos(sessionId, [todo('first'), todo('second')]);
    await host.open('ses_child', sessionId, 'build');
    await host.says('ses_child', 'Look.');
    await host.answers(sessionId, 'It works on it.');
    await host.idles(sessionId);
    await settle();
    await clock.advance(minute);
    expect([host.injected(sessionId), seconds(stage)]).toEqual([[], []]);
    await host.answers('ses_child', 'Seen.');
    await host.idles('ses_child');
    await countsDownAnew(stage, []);
  });

  async function countsDownAnew(stage: PluginCase, before: readonly number[]) {
    const { host, settle, clock } = stage;
    await settle();
    await clock.advance(1500);
    expect([host.injected(sessionId), seconds(stage)]).toEqual([[], [...before, 2, 1]]);
    await clock.advance(1000);
    await settle();
    expect(host.injected(sessionId)).toHaveLength(1);
  }
});

describe('usage that the host reports with each step', () => {
  for (const command of ['serve', 'run'] as const)
    it(`G8: opencode ${command}: a budget of tokens ends the turn at the stop after which it is spent`, async () => {
      // The stage's steps use 18 tokens each.
      const { host, rest, decisions } = await stoppedPlugin({
        command,
        settings: { maxTokens: 30 },
      });
      await rest();
      expect(host.injected(sessionId).filter(Boolean)).toHaveLength(1);
      await host.answers(sessionId, 'Done again!');
      await host.idles(sessionId);
      await rest();
      expect(host.injected(sessionId).filter(Boolean)).toHaveLength(1);
      expect((await decisions())[0]?.decision).toMatchObject({
        reason: 'token-budget',
        outcome: 'exhausted',
      });
    });
});

describe('words of its list that we do not know', () => {
  const odd = [
    { content: 'first', status: 'waiting', priority: 'critical' },
    todo('second', 'completed'),
  ];
  const words = /"waiting", taken as pending.*"critical", taken as medium/su;

  it('T6 P45: the todo is held as open, and the model is told in the result of its call', async () => {
    const { host, rest } = await startPlugin();
    await host.says(sessionId, 'Do both.');
    await host.writesTodos(sessionId, []);
    await host.tells('todo.updated', { sessionID, todos: odd });
    const result = { output: '' };
    await host.hooks['tool.execute.after']?.(
      { tool: 'todowrite', sessionID, callID: 'call_1' },
      result,
    );
    expect(result.output).toMatch(words);
    (host.todos(sessionId) as object[]).push(...odd);
    await host.answers(sessionId, 'All done!');
    await host.idles(sessionId);
    await rest();
    expect(host.injected(sessionId)).toEqual([expect.stringContaining('“first”')]);
  });

  it('T6 P45: in a list that nobody was seen to write they are told to the human', async () => {
    const { host, rest } = await startPlugin();
    await host.says(sessionId, 'Do both.');
    await host.writesTodos(sessionId, [todo('first')]);
    (host.todos(sessionId) as object[]).splice(0, 1, ...odd);
    await host.answers(sessionId, 'All done!');
    await host.idles(sessionId);
    await rest();
    expect(host.injected(sessionId)).toEqual([expect.stringContaining('“first”')]);
    const told = host.toasts
      .map(({ message }) => String(message))
      .filter((message) => words.test(message));
    expect(told).toEqual([expect.not.stringContaining('left alone')]);
  });
});
