// Recorded payloads of Copilot CLI → what they ask for.
import { describe, expect, it } from 'vitest';
import {
  agentId,
  agentNotice,
  agentStarted,
  compactPayload,
  endPayload,
  failurePayload,
  insideAgent,
  promptPayload,
  sessionId,
  shellNotice,
  shellStarted,
  sqlPayload,
  startPayload,
  stopPayload,
  subagentStopPayload,
  toolPayload,
} from '../../../test/support/copilot-payloads.ts';
import { createAskedHost } from '../asked-translate.ts';
import { copilotLanguage } from './host.ts';

const { translate } = createAskedHost(copilotLanguage);

const moment = { at: 1000, environment: {}, toolPrefix: 'untildone-' };

function callOf(payload: unknown, environment = {}) {
  const read = translate(payload, { ...moment, environment });
  if (!read.ok) throw new Error(read.sentence ?? 'nothing is asked for');
  return read.call;
}
const asksOf = (payload: unknown) => callOf(payload).asks;
const isSilent = (payload: unknown) =>
  expect(translate(payload, moment)).toEqual({ ok: false, sentence: null });

describe('a stop of Copilot CLI', () => {
  it('V8: is asked with a cap of eight for the whole turn; what was said last is not in it', () => {
    expect(asksOf(stopPayload({ stop_hook_active: true }))).toEqual({
      type: 'stop',
      end: 'normal',
      lastText: '',
      isContinued: true,
      background: null,
      blockCap: 8,
      capsTurn: true,
      transcript: `/home/me/.copilot/session-state/${sessionId}/events.jsonl`,
    });
  });

  it('C4: of a subagent is its own, and its parent is known', () => {
    const call = callOf(stopPayload(insideAgent));
    expect(call).toMatchObject({ sessionId: agentId, agent: { name: 'explore' } });
    expect(call.descriptor).toMatchObject({ kind: 'subagent', parentId: sessionId });
    expect(callOf(stopPayload()).descriptor).toMatchObject({
      kind: 'main',
      parentId: null,
    });
  });

  it('names our tools as the host does, and the project as the host was started in', () => {
    const { descriptor } = callOf(stopPayload(), {
      COPILOT_PROJECT_DIR: '/work/project',
    });
    expect(descriptor.directory).toBe('/work/project');
    expect(descriptor.tools).toEqual({
      pause: 'untildone-todo_pause',
      verify: 'untildone-todo_verify',
    });
    expect(callOf(stopPayload()).descriptor.directory).toBe('/nowhere/project');
  });

  it('P26: that only plans must not write', () => {
    expect(callOf(stopPayload({ permission_mode: 'plan' })).agent.canWrite).toBe('no');
    expect(callOf(stopPayload()).agent.canWrite).toBe('yes');
  });
});

describe('a prompt', () => {
  it('is a human’s, and each has a name of its own', () => {
    const [one, other] = ['Do it.', 'Do it.'].map((text) => callOf(promptPayload(text)));
    expect(one?.asks).toEqual({
      type: 'prompt',
      text: 'Do it.',
      speaker: { type: 'human' },
    });
    expect(one?.promptId).not.toBeNull();
    expect(one?.promptId).not.toBe(other?.promptId);
  });

  it.each([
    [shellNotice, ['shell-0']],
    [agentNotice, []],
  ])('P19: is the host’s own where background work ended: %s', (text, jobIds) => {
    expect(asksOf(promptPayload(text))).toMatchObject({
      speaker: { type: 'notice', jobIds },
    });
  });

  it('V9: a notice with words behind it is a human’s', () => {
    expect(asksOf(promptPayload(`${shellNotice} stop`))).toMatchObject({
      speaker: { type: 'human' },
    });
  });

  it('of a parent to its subagent is nobody’s message', () =>
    isSilent(promptPayload('Look around', insideAgent)));
});

describe('a tool call', () => {
  it('G5: of SQL asks to read the list again, and nothing is guessed from the query', () => {
    const asks = asksOf(sqlPayload("UPDATE todos SET status = 'done'"));
    expect(asks).toMatchObject({ type: 'record', listed: true });
    expect(asks).toMatchObject({
      events: [{ type: 'tool-ended', access: 'todo', error: null }],
    });
  });

  it.each([
    ['Write', 'write'],
    ['Edit', 'write'],
    ['Read', 'read'],
    ['Grep', 'read'],
    ['Bash', 'unknown'],
    ['Agent', 'unknown'],
    ['untildone-todo_pause', 'todo'],
  ])('of %s is %s', (tool, access) => {
    const asks = asksOf(toolPayload(tool, {}, ''));
    expect(asks).toMatchObject({ listed: false });
    const events = asks.type === 'record' ? asks.events : [];
    expect(events.at(-1)).toMatchObject({ type: 'tool-ended', tool, access });
  });

  it('S6: that failed says why', () => {
    const asks = asksOf(failurePayload('sql', 'Error: near "bogus": syntax error'));
    expect(asks).toMatchObject({
      events: [{ error: 'Error: near "bogus": syntax error' }],
    });
  });

  it('of ours carries a receipt in its last line', () => {
    const receipt = `udr_${'0'.repeat(32)}`;
    const asks = asksOf(
      toolPayload('untildone-todo_pause', {}, `paused\nreceipt: ${receipt}`),
    );
    expect(asks).toMatchObject({ receipt, decided: true });
  });

  it('of a subagent is work on its parent’s plan, and reads no list', () => {
    const call = callOf(sqlPayload('SELECT 1', insideAgent));
    expect(call.sessionId).toBe(sessionId);
    expect(call.asks).not.toMatchObject({ listed: true });
  });

  it('P18: that leaves an agent or a command in the background says so, and its end is told', () => {
    const agent = asksOf(toolPayload('Agent', { description: 'look' }, agentStarted));
    const job = {
      id: '20ea3862-f6d9-4e5d-8979-cfa86c60b15c',
      kind: 'subagent',
      description: 'look',
    };
    const started = expect.objectContaining({
      type: 'wait-started',
      wait: { kind: 'background', job },
    });
    expect(agent).toMatchObject({ events: expect.arrayContaining([started]) });
    const shell = asksOf(toolPayload('Bash', { command: 'sleep 3' }, shellStarted));
    expect(shell).toMatchObject({
      events: expect.arrayContaining([
        expect.objectContaining({
          wait: {
            kind: 'background',
            job: { id: 'shell-0', kind: 'shell', description: 'sleep 3' },
          },
        }),
      ]),
    });
    expect(asksOf(subagentStopPayload())).toMatchObject({
      events: [
        { type: 'wait-ended', sessionId, wait: { kind: 'background', jobId: agentId } },
      ],
    });
  });
});

describe('the rest', () => {
  it('a session that begins, goes on or is compacted', () => {
    expect(asksOf(startPayload('new'))).toMatchObject({
      type: 'open',
      begins: true,
      givesPlan: false,
    });
    expect(asksOf(startPayload('resume'))).toMatchObject({
      type: 'open',
      givesPlan: true,
    });
    expect(asksOf(compactPayload())).toMatchObject({
      events: [{ type: 'wait-started' }],
    });
  });

  it('G9: a turn that ended with an error is on the record as such; one that is complete only closes', () => {
    const types = (payload: unknown) => {
      const asks = asksOf(payload);
      return asks.type === 'record' ? asks.events.map(({ type }) => type) : [];
    };
    expect(types(endPayload('complete'))).toEqual(['session-closed']);
    expect(types(endPayload('error'))).toEqual([
      'error-occurred',
      'stop-attempted',
      'session-closed',
    ]);
  });

  it('the same payload is the same event, whoever delivers it', () => {
    const payload = sqlPayload('SELECT 1');
    expect(asksOf(payload)).toEqual(asksOf(payload));
  });
});
