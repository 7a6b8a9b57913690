// todo_pause (M6): the model's escape hatch. Honoured at once and without questions; the human sees the reason.
import { defineTodoTool, succeeded } from './todo-tool.ts';
import { remaining, shownNote } from './todo-view.ts';

export const todoPause = defineTodoTool({
  name: 'todo_pause',
  description:
    'Stop the reminders and hand over to the human, who sees your reason. Use it when you need something that only a human can give, when you were asked for a part of the work only, or when it is impossible. Do not use it because the work is long, or to ask whether to go on.',
  inputSchema: {
    type: 'object',
    properties: {
      reason: { type: 'string', description: 'What you need, from whom, or why it cannot be done.' },
    },
    required: ['reason'],
    additionalProperties: false,
  },
  async run({ reason }, { engine, sessionId, clock, identifiers }) {
    const { session } = await engine.handle({
      type: 'model-paused',
      id: identifiers.next(),
      sessionId,
      at: clock.now(),
      reason,
    });
    return succeeded({
      paused: session.pause !== null,
      reason: shownNote(reason),
      remaining: remaining(session),
      liftedBy: 'the next message of the human, or resume',
    });
  },
});
