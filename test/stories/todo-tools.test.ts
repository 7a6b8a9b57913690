// The todo tools as a model sees them, through the real loop and the wire (M1–M7).
import { describe, expect, it } from 'vitest';
import {
  callTool,
  complete,
  type LoggedRequest,
  pause,
  plan,
  react,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { type Played, play } from './play.ts';
import { protocols } from './protocols.ts';
import { ending, eventsOf, lastResults } from './seen.ts';

const written = writeFile('alpha.txt', 'a');

/** The answer of the tool that the model called in request `index`. */
function answerTo({ requests }: Played, index: number): Record<string, unknown> {
  return JSON.parse(lastResults(requests[index + 1] as LoggedRequest)[0]?.text ?? 'null');
}

describe.each(protocols)('$name', (protocol) => {
  it('M1–M6: every tool answers as the requirements say', async () => {
    const played = await play({
      protocol,
      steps: [
        callTool('create_todo', {
          items: [
            {
              title: 'Write alpha',
              context: 'for the demo',
              completionCriteria: 'alpha.txt exists',
              priority: 'high',
            },
            { title: 'Write beta' },
            { title: 'Sent to nobody', agentType: 'astronaut' },
          ],
        }),
        callTool('list_todo', {}),
        callTool('complete_todo', { todoId: 'no-such-id', outcome: 'x' }),
        react(({ todos }) => callTool('complete_todo', { todoId: todos[0]?.id ?? '' })),
        written,
        complete('Write alpha', 'alpha.txt is there'),
        react(({ todos }) =>
          callTool('update_todo', {
            todoId: todos[1]?.id ?? '',
            status: 'blocked',
            reason: 'no ink',
          }),
        ),
        callTool('todo_read', {}),
        callTool('list_todo', { status: 'all' }),
        pause('ink is needed'),
      ],
    });
    const created = answerTo(played, 0) as {
      created: { title: string; order: number }[];
      totalPending: number;
    };
    expect(created.created).toEqual([
      { id: expect.any(String), title: 'Write alpha', order: 1 },
      { id: expect.any(String), title: 'Write beta', order: 2 },
    ]);
    expect(created.totalPending).toBe(2);
    // M1: an unknown type of agent is refused, with the known ones.
    expect(JSON.stringify(answerTo(played, 0))).toMatch(/agentType|astronaut/);
    expect(answerTo(played, 1)).toMatchObject({
      summary: { total: 2, pending: 2, completed: 0 },
    });
    // M3: an unknown id and a missing outcome change nothing and say what is wrong.
    expect(lastResults(played.requests[3]!)[0]?.text).toMatch(/no-such-id/);
    expect(lastResults(played.requests[4]!)[0]?.text).toMatch(/outcome/);
    expect(answerTo(played, 5)).toMatchObject({
      title: 'Write alpha',
      status: 'completed',
      verification: 'claimed',
      outcome: 'alpha.txt is there',
      remaining: 1,
    });
    expect(answerTo(played, 6)).toMatchObject({ title: 'Write beta', status: 'blocked' });
    expect(JSON.stringify(answerTo(played, 7))).toContain('Write beta');
    expect(answerTo(played, 8)).toMatchObject({
      summary: {
        total: 2,
        pending: 0,
        inProgress: 0,
        completed: 1,
        cancelled: 0,
        blocked: 1,
      },
    });
    expect(ending(played)).toEqual({
      outcome: 'paused',
      reason: 'paused-by-model',
      exitCode: 7,
    });
  });

  it('M7: ids of conversation, turn and agent come from the run, never from the model', async () => {
    const played = await play({
      protocol,
      steps: [
        callTool('create_todo', {
          items: [{ title: 'Write alpha', turnId: 'another', conversationId: 'another' }],
          sessionId: 'another',
        }),
        plan('Write beta'),
        say('Hm.'),
      ],
      settings: { maxStagnant: 1 },
    });
    for (const todo of played.todos) {
      expect(todo.sessionId).toBe(played.stage.sessionId);
      expect(todo.turnId).toBe(played.session.turn?.id);
    }
    expect(JSON.stringify(played.todos)).not.toContain('another');
    expect(eventsOf(played, 'tool-started').length).toBeGreaterThan(1);
  });
});
