import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import {
  createPayload,
  promptPayload,
  sessionId,
  stopPayload,
  toolPayload,
} from '../../test/support/payload-cases.ts';
import { createTemporaryRepository } from '../../test/support/temporary-repository.ts';
import { answerCall } from './asked-answers.ts';
import { claudeCode } from './claude-code/host.ts';

/** Runs hooks in a repository, by the real clock. */
function enter() {
  const { root, put } = createTemporaryRepository();
  const store = createMemoryStore();
  const environment = {
    PATH: process.env['PATH'],
    HOME: join(root, '.git'),
    UNTILDONE_HOME: join(root, '.git'),
  };
  const never = new Promise(() => {});
  let calls = 0;
  const send = async (payload: object, aheadMs = 0) => {
    // The kernel stamps files by ticks of its clock.
    await sleep(25);
    const at = Date.now() + aheadMs;
    const read = claudeCode.translate(
      { ...payload, cwd: root },
      { at, environment, toolPrefix: null },
    );
    if (!read.ok) throw new Error('it was not understood');
    const { call } = read;
    if (call.asks.type === 'record' && !call.asks.decided)
      return store.append(call.asks.events);
    const hook = {
      at,
      since: at,
      steady: () => at,
      environment,
      toolPrefix: null,
      timeout: null,
      ignored: [],
      bindReceipt: async () => {},
    };
    const host = { ...claudeCode, readList: () => null };
    return answerCall({ host, call, hook, store }, never);
  };
  const shell = () =>
    toolPayload(
      'Bash',
      `call-${++calls}`,
      { command: 'make' },
      { stdout: '', stderr: '' },
    );
  const state = async () => (await store.state(sessionId))?.work.fingerprint;
  return { put, send, shell, state };
}

it('V2: hooks go by the ignore rules of the last prompt', async () => {
  const { put, send, shell, state } = enter();
  put('work.txt', 'one');
  await send(promptPayload('do it'));
  await send(createPayload('1', 'the work'));
  await send(shell());
  await send(stopPayload());
  const before = await state();
  put('.git/info/exclude', 'work.txt\n');
  await send(shell());
  await send(stopPayload({ last_assistant_message: 'Once more.' }));
  expect(await state(), 'a rule that hides a file changes nothing').toBe(before);
  put('work.txt', 'two');
  await send(shell());
  await send(stopPayload({ last_assistant_message: 'And more.' }));
  const after = await state();
  expect(after, 'what it hides still counts').not.toBe(before);
  await send(promptPayload('go on', { prompt_id: 'another' }));
  await send(shell());
  await send(stopPayload({ last_assistant_message: 'Yes.' }));
  expect(await state(), 'until the human speaks').not.toBe(after);
});

it('V2 P42: after a clock that was set back, a new nested .gitignore hides nothing', async () => {
  const { put, send, shell, state } = enter();
  const hourMs = 3_600_000;
  put('made/work.txt', 'one');
  await send(promptPayload('do it'), 2 * hourMs);
  await send(createPayload('1', 'the work'));
  await send(promptPayload('go on', { prompt_id: 'another' }));
  await send(shell());
  await send(stopPayload());
  const before = await state();
  put('made/.gitignore', '*\n');
  await send(shell());
  await send(stopPayload({ last_assistant_message: 'Once more.' }));
  const hidden = await state();
  put('made/work.txt', 'two');
  await send(shell());
  await send(stopPayload({ last_assistant_message: 'And more.' }));
  expect(before).toEqual(expect.any(String));
  expect(await state(), 'what it hides still counts').not.toBe(hidden);
});
