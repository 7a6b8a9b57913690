import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type CaseOptions,
  createWaitingPlugin,
  type PluginCase,
  sessionId,
  todo,
} from '../../../test/support/opencode-case.ts';
import { startPlugin } from '../../../test/support/opencode-stage.ts';
import { factsOf, leavesOnIdle, openCodeSession } from './follow.ts';
import type { SessionMemory } from './host.ts';

afterEach(() => {
  read = null;
  vi.restoreAllMocks();
});

type Message = ReturnType<PluginCase['host']['messages']>[number];

let count = 0;

/**
 * The messages as the host read them when the last step ended, before anything that came
 * of it.
 */
let read: Message[] | null = null;

interface Step {
  readonly text?: string;
  readonly reason?: string;
  readonly tool?: string;
  readonly summary?: boolean;
}

/**
 * Plays one step of `opencode run`, in the order in which the host waits for its plugins.
 * Gives the messages that the model gets.
 */
async function step(
  { host, clock }: PluginCase,
  { text, reason = 'stop', tool, summary = false }: Step,
): Promise<readonly Message[]> {
  count += 1;
  const asked = read ?? copyOf(host);
  await clock.advance(5);
  const messageID = `msg_${(BigInt(clock.now()) * 4096n).toString(16).slice(-12)}assistant${count}`;
  const info = {
    id: messageID,
    sessionID: sessionId,
    role: 'assistant',
    parentID: lastUser(host),
    summary,
  };
  await host.tells('message.updated', { sessionID: sessionId, info });
  await host.hooks['experimental.chat.messages.transform']?.({}, { messages: asked });
  await clock.advance(5);
  const part = (fields: object) => ({
    part: { sessionID: sessionId, messageID, ...fields },
    sessionID: sessionId,
  });
  await host.tells('message.part.updated', part({ type: 'step-start' }));
  if (text !== undefined) {
    await host.hooks['experimental.text.complete']?.(
      { sessionID: sessionId, messageID },
      { text },
    );
    await host.tells(
      'message.part.updated',
      part({ type: 'text', text, time: { start: 1, end: 2 } }),
    );
  }
  if (tool !== undefined) await host.calls(sessionId, tool);
  const ended = host.tells('message.part.updated', part({ type: 'step-finish', reason }));
  // The host reads a message that is placed at the end of a step, but not what it is
  // filled with later.
  if (text === undefined) await ended;
  read = copyOf(host);
  await ended;
  await host.tells('message.updated', {
    sessionID: sessionId,
    info: { ...info, finish: reason },
  });
  return asked;
}

function copyOf(host: PluginCase['host']): Message[] {
  const copy = structuredClone(host.messages(sessionId)) as Message[];
  for (const { info } of copy) Object.assign(info, { sessionID: sessionId });
  return copy;
}

function lastUser(host: PluginCase['host']): string {
  return String(
    host.messages(sessionId).findLast(({ info }) => info['role'] === 'user')?.info['id'],
  );
}

/**
 * Whether the host would make another round: it does while a message of a user is newer
 * than the step that ended.
 */
function words(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ parts }) =>
    parts
      .filter(({ ignored, text }) => ignored !== true && text !== '')
      .map(({ text }) => String(text)),
  );
}

async function planned(options: CaseOptions = {}): Promise<PluginCase> {
  const created = await startPlugin({ command: 'run', ...options });
  await created.host.says(sessionId, 'Do both.');
  await created.host.writesTodos(sessionId, [todo('first'), todo('second')]);
  return created;
}

describe('`opencode run`', () => {
  it('design: the host is kept before the step ends, and the continuation takes the place', async () => {
    const running = await planned();
    const { host } = running;
    await step(running, { text: 'All done!' });
    const held = host.messages(sessionId).at(-1);
    expect(held?.info['id']).toBe(lastUser(host));
    const asked = await step(running, { text: 'Going on.', reason: 'tool-calls' });
    expect(words(asked).at(-1)).toContain(
      '[TODO CONTINUATION] 0/2 completed, 2 remaining.',
    );
    await running.settle();
    const kept = host
      .messages(sessionId)
      .filter(({ parts }) => parts.some(({ metadata }) => metadata !== undefined));
    expect(kept.map(({ info }) => info['id'])).toEqual([held?.info['id']]);
    expect(words(kept)).toEqual([expect.stringContaining('“first”')]);
  });

  it('design: there is no countdown and no toast', async () => {
    const running = await planned();
    await step(running, { text: 'All done!' });
    await running.settle();
    await running.host.idles(sessionId);
    await running.rest();
    expect(running.host.toasts).toEqual([]);
    expect(await running.decisions()).toMatchObject([
      { decision: { answer: 'continue' } },
    ]);
  });

  it('G1: words between two tool calls are no stop: nothing is decided, counted or shown', async () => {
    const running = await planned();
    await step(running, {
      text: 'Now I look at it.',
      reason: 'tool-calls',
      tool: 'read',
    });
    await running.settle();
    expect(await running.decisions()).toEqual([]);
    expect((await running.session()).counters.total).toBe(0);
    const asked = await step(running, {
      text: 'More.',
      reason: 'tool-calls',
      tool: 'read',
    });
    expect(words(asked)).toEqual(['Do both.']);
  });

  it('design: a step with several texts is held once', async () => {
    const running = await planned();
    const { host } = running;
    const complete = host.hooks['experimental.text.complete'];
    host.hooks['experimental.text.complete'] = async (input, output) => {
      await complete?.(input, output);
      await running.clock.advance(5);
      await complete?.(input, output);
    };
    await step(running, { text: 'First. All done!' });
    expect(host.messages(sessionId)).toHaveLength(2);
  });

  it('P14: a step without a text is held when it ends', async () => {
    const running = await planned();
    await step(running, {});
    expect(running.host.messages(sessionId)).toHaveLength(2);
    const asked = await step(running, { text: 'Yes.', reason: 'tool-calls' });
    expect(words(asked).at(-1)).toContain('Your last answer was empty.');
  });

  it('P8: a second question in a row is let go: nothing keeps the host, although a step without a word would', async () => {
    const running = await planned();
    await step(running, { text: 'Shall I go on?' });
    await step(running, { text: 'Shall I really go on?' });
    await running.settle();
    expect((await running.session()).settled).toMatchObject({ outcome: 'paused' });
    expect(
      running.host.messages(sessionId),
      'the human, and one continuation',
    ).toHaveLength(2);
    expect(running.host.endedByPlugin).toEqual([]);
  });

  it('design: a host that was kept and is then let go is told to leave, which is not an abort of the human', async () => {
    const running = await planned();
    const { host } = running;
    const complete = host.hooks['experimental.text.complete'];
    host.hooks['experimental.text.complete'] = async (input, output) => {
      await complete?.(input, output);
      await host.hooks['command.execute.before']?.(
        { command: 'untildone-pause', sessionID: sessionId, arguments: '' },
        { parts: [] },
      ).catch(() => {});
    };
    await step(running, { text: 'All done!' });
    await running.settle();
    expect(host.endedByPlugin).toEqual([sessionId]);
    const { latch, settled } = await running.session();
    expect(latch).toBeNull();
    expect(settled).toMatchObject({ outcome: 'paused' });
  });

  it('C2: an observer holds nothing', async () => {
    const running = await planned({ settings: { mode: 'observe' } });
    await step(running, { text: 'All done!' });
    await step(running, {});
    expect(running.host.messages(sessionId)).toHaveLength(1);
  });

  it('P23: the summary of a compaction is no answer', async () => {
    const running = await planned();
    await step(running, { text: 'So far we have …', summary: true });
    await running.settle();
    expect(running.host.messages(sessionId)).toHaveLength(1);
    expect(await running.decisions()).toEqual([]);
  });

  it('P29: a plan that is done is let go without a held message', async () => {
    const running = await planned();
    await running.host.calls(sessionId, 'write');
    await running.host.writesTodos(sessionId, [
      todo('first', 'completed'),
      todo('second', 'completed'),
    ]);
    await step(running, { text: 'Both are done.' });
    await running.settle();
    expect(running.host.messages(sessionId)).toHaveLength(1);
    expect((await running.session()).settled).toMatchObject({ outcome: 'claimed' });
  });

  it.each([
    ['needs no check', {}],
    ['waits for a check', { checks: { c: { command: ['true'] } }, goal: ['c'] }],
  ])(
    'V10: a project’s file that the agent wrote is told on the error output at a stop that %s',
    async (_what, settings) => {
      const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
      const told = () =>
        said.mock.calls.filter(([text]) => String(text).includes('untildone trust'));
      const running = await planned({ settings });
      await running.host.calls(sessionId, 'write');
      writeFileSync(join(running.directory, 'untildone.json'), '{"mode":"off"}');
      await running.host.writesTodos(sessionId, [
        todo('first', 'completed'),
        todo('second', 'completed'),
      ]);
      expect(told()).toHaveLength(0);
      await step(running, { text: 'Both are done.' });
      await running.settle();
      expect(told().length).toBeGreaterThan(0);
    },
  );

  it('P19: an abort between the text and the end of the step leaves the held message empty', async () => {
    const running = await planned();
    const { host } = running;
    const complete = host.hooks['experimental.text.complete'];
    host.hooks['experimental.text.complete'] = async (input, output) => {
      await complete?.(input, output);
      const error = { name: 'MessageAbortedError', data: { message: 'Aborted' } };
      await host.tells('session.error', { sessionID: sessionId, error });
    };
    await step(running, { text: 'All done!' });
    await running.rest();
    expect(words(host.messages(sessionId))).toEqual(['Do both.']);
  });
});

describe('checks under `opencode run`', () => {
  const checks = { checks: { there: { file: 'there.txt' } } };

  it('P31: a claim whose check fails is told with the answer to the list', async () => {
    const settings = { ...checks, todoChecks: [{ title: 'first', checks: ['there'] }] };
    const running = await planned({ settings });
    const { host, directory } = running;
    await host.tells('todo.updated', {
      sessionID: sessionId,
      todos: [todo('first', 'completed'), todo('second')],
    });
    const output = { output: '' };
    const answered = host.hooks['tool.execute.after']?.(
      { tool: 'todowrite', sessionID: sessionId, callID: 'c' },
      output,
    );
    await until(running, answered);
    expect(output.output).toContain(
      'The check of “first” failed, so it is not completed and stays open.',
    );
    expect(directory).not.toBe('');
  });

  it('V1: with nothing open the host waits for the goal’s checks, and a failure goes on', async () => {
    const running = await planned({ settings: { ...checks, goal: ['there'] } });
    await running.host.calls(sessionId, 'write');
    await running.host.writesTodos(sessionId, [
      todo('first', 'completed'),
      todo('second', 'completed'),
    ]);
    await until(running, step(running, { text: 'Both are done.' }));
    expect(running.host.injected(sessionId)).toEqual([
      expect.stringContaining('of the whole work failed'),
    ]);
    expect((await running.decisions())[0]?.decision).toMatchObject({
      textKind: 'failed-check',
    });
  });

  it('M8: work without a plan is told to wait for them, and the next text waits itself', async () => {
    const running = await startPlugin({
      command: 'run',
      settings: { ...checks, goal: ['there'] },
    });
    await running.host.says(sessionId, 'Write it.');
    await running.host.calls(sessionId, 'write');
    await step(running, { text: 'Done.' });
    const asked = await step(running, {
      text: 'I wait.',
      reason: 'tool-calls',
      tool: 'todo_verify',
    });
    expect(words(asked).at(-1)).toContain('Call todo_verify');
  });
});

/** The checks take real time, and the simulated clock has to move along with it. */
async function until(
  { clock }: PluginCase,
  work: Promise<unknown> | undefined,
): Promise<void> {
  let isDone = false;
  const watched = Promise.resolve(work).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await clock.advance(5);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await watched;
}

const started = (...words: string[]) =>
  leavesOnIdle(['bun', '/$bunfs/src/index.js', ...words]);

describe('how the host was started', () => {
  it('design: `run` leaves on the first idle, wherever its flags stand', () => {
    expect(started('run', 'do it')).toBe(true);
    expect(started('--print-logs', '--log-level', 'DEBUG', 'run', 'serve the cake')).toBe(
      true,
    );
    expect(started('github', 'run')).toBe(true);
  });

  it('design: everything else stays', () => {
    for (const words of [
      [],
      ['serve'],
      ['web'],
      ['acp'],
      ['/home/me/run'],
      ['run', '-i'],
      ['run', '--interactive'],
    ])
      expect(started(...words), words.join(' ')).toBe(false);
    expect(started('serve', '--hostname', 'run')).toBe(false);
  });
});

function stopOf(
  step: Partial<NonNullable<SessionMemory['lastStep']>> | null,
  text = '',
  failed = false,
) {
  const plugin = createWaitingPlugin();
  const memory = plugin.told.of('ses_1');
  const whole = {
    messageId: 'msg_2',
    parentId: null,
    finish: 'stop',
    error: null,
    summary: false,
  };
  memory.lastStep = step === null ? null : { ...whole, ...step };
  memory.lastText = { messageId: 'msg_2', text };
  memory.failedSinceBusy = failed;
  return openCodeSession(plugin, 'ses_1').stopOf(factsOf(memory), null);
}

describe('how a step ended', () => {
  it('G2: by what the host says of it', () => {
    expect(stopOf({}, 'Done.')).toMatchObject({ end: 'normal', question: false });
    expect(stopOf({}, ' \n')).toMatchObject({ end: 'empty' });
    expect(stopOf({ finish: 'length' }, 'And so')).toMatchObject({ end: 'length' });
    expect(stopOf({ finish: 'content-filter' }, '', true)).toMatchObject({
      end: 'content-filter',
    });
    expect(stopOf({ error: { name: 'APIError' } }, 'Half')).toMatchObject({
      end: 'error',
    });
    expect(stopOf({}, 'Half', true)).toMatchObject({ end: 'error' });
    expect(stopOf({ finish: null }, 'Half')).toMatchObject({ end: 'cancelled' });
    expect(stopOf({ finish: 'tool-calls' })).toMatchObject({ end: 'normal' });
    expect(stopOf(null)).toMatchObject({ end: 'normal' });
  });

  it('G11: a question at its end counts, one in a summary does not', () => {
    expect(stopOf({}, 'Shall I go on?')).toMatchObject({ question: true });
    expect(stopOf({ summary: true }, 'Open: which one?')).toMatchObject({
      question: false,
    });
  });

  it('P18: subagents that are at work are named', () => {
    const plugin = createWaitingPlugin();
    for (const [id, busy] of [
      ['ses_2', true],
      ['ses_3', false],
    ] as const)
      Object.assign(plugin.told.of(id), {
        busy,
        info: { id, parentId: 'ses_1', reverted: false },
      });
    const memory = plugin.told.of('ses_1');
    expect(openCodeSession(plugin, 'ses_1').stopOf(factsOf(memory), null)).toMatchObject({
      background: [{ id: 'ses_2', kind: 'subagent' }],
    });
  });
});

describe('what a process remembers', () => {
  it('design: a call is told once, and memory is bounded', () => {
    const { memory, isNews } = createWaitingPlugin().told.follow('ses_1');
    expect(isNews('a running')).toBe(true);
    expect(isNews('a running')).toBe(false);
    for (let index = 0; index < 2000; index += 1) {
      isNews(`call ${index}`);
    }
    expect(memory.heard.size).toBeLessThanOrEqual(1000);
    expect(memory.heard.has('call 1999')).toBe(true);
  });

  it('design: a host with very many sessions is not remembered whole', () => {
    const { told } = createWaitingPlugin();
    told.of('busy').busy = true;
    const first = told.of('ses_0');
    for (let index = 1; index < 2500; index += 1) told.of(`ses_${index}`);
    expect(told.of('busy').busy).toBe(true);
    expect(told.of('ses_0')).not.toBe(first);
  });
});
