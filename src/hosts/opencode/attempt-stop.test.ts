import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../simulated/simulated-clock.ts';
import { factsOf, stopEvent } from './attempt-stop.ts';
import type { PluginContext } from './plugin-context.ts';
import { createSessionMemories, type LastStep, rememberCall, rememberSent } from './session-memory.ts';

const clock = createSimulatedClock();

function stopOf(step: Partial<LastStep> | null, text = '', failed = false) {
  const memories = createSessionMemories();
  const memory = memories.of('ses_1');
  const context = { clock, memories } as unknown as PluginContext;
  memory.lastStep =
    step === null
      ? null
      : { messageId: 'msg_2', parentId: null, finish: 'stop', failed: false, summary: false, ...step };
  memory.lastText = { messageId: 'msg_2', text };
  memory.failedSinceBusy = failed;
  return stopEvent(context, memory, factsOf(memory), 'e', null);
}

describe('how a step ended', () => {
  it('G2: by what the host says of it', () => {
    expect(stopOf({}, 'Done.')).toMatchObject({ end: 'normal', question: false });
    expect(stopOf({}, ' \n')).toMatchObject({ end: 'empty' });
    expect(stopOf({ finish: 'length' }, 'And so')).toMatchObject({ end: 'length' });
    expect(stopOf({ finish: 'content-filter' }, '', true)).toMatchObject({ end: 'content-filter' });
    expect(stopOf({ failed: true }, 'Half')).toMatchObject({ end: 'error' });
    expect(stopOf({}, 'Half', true)).toMatchObject({ end: 'error' });
    expect(stopOf({ finish: null }, 'Half')).toMatchObject({ end: 'cancelled' });
    expect(stopOf({ finish: 'tool-calls' })).toMatchObject({ end: 'normal' });
    expect(stopOf(null)).toMatchObject({ end: 'normal' });
  });

  it('G11: a question at its end counts, one in a summary does not', () => {
    expect(stopOf({}, 'Shall I go on?')).toMatchObject({ question: true });
    expect(stopOf({ summary: true }, 'Open: which one?')).toMatchObject({ question: false });
  });

  it('P18: subagents that are at work are named', () => {
    const memories = createSessionMemories();
    const context = { clock, memories } as unknown as PluginContext;
    for (const [id, busy] of [
      ['ses_2', true],
      ['ses_3', false],
    ] as const) {
      const child = memories.of(id);
      child.info = { id, parentId: 'ses_1', directory: null, reverted: false };
      child.busy = busy;
    }
    const memory = memories.of('ses_1');
    expect(stopEvent(context, memory, factsOf(memory), 'e', null)).toMatchObject({
      background: [{ id: 'ses_2', kind: 'subagent' }],
    });
  });
});

describe('what a process remembers', () => {
  it('design: a call is told once, and memory is bounded', () => {
    const memory = createSessionMemories().of('ses_1');
    expect(rememberCall(memory, 'a running')).toBe(true);
    expect(rememberCall(memory, 'a running')).toBe(false);
    for (let index = 0; index < 1000; index += 1) {
      rememberCall(memory, `call ${index}`);
      rememberSent(memory, `msg_${index}`, index);
    }
    expect(memory.calls.size).toBeLessThanOrEqual(400);
    expect(memory.sent.size).toBeLessThanOrEqual(50);
    expect(memory.sent.get('msg_999')).toBe(999);
  });

  it('design: a host with very many sessions is not remembered whole', () => {
    const memories = createSessionMemories();
    memories.of('busy').busy = true;
    const first = memories.of('ses_0');
    for (let index = 1; index < 2500; index += 1) memories.of(`ses_${index}`);
    expect(memories.of('busy').busy).toBe(true);
    expect(memories.of('ses_0')).not.toBe(first);
  });
});
