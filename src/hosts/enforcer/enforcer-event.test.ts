import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createProgramStage, theSession } from '../../../test/support/program-stage.ts';
import { enforcerEvents, readEnforcerEvent } from './enforcer-event.ts';

const sessionId = theSession;

describe('an event of a bus', () => {
  it('is left alone if it is somebody else’s, and told if it is broken', () => {
    for (const foreign of [null, undefined, 7, 'session.idle', [], {}, { type: 'file.edited', sessionId }])
      expect(readEnforcerEvent(foreign)).toEqual({ read: 'foreign' });
    for (const broken of [
      { type: 'session.idle' },
      { type: 'session.idle', sessionId: 7 },
      { type: 'session.idle', sessionId: ' ' },
      { type: 'session.idle', sessionId: 'x'.repeat(500) },
      { type: 'message.updated', sessionId },
      { type: 'message.updated', sessionId, message: { role: 'system' } },
      { type: 'tool.after', sessionId, tool: null },
      { type: 'question.asked', sessionId },
    ])
      expect(readEnforcerEvent(broken).read, JSON.stringify(broken)).toBe('broken');
  });

  it('is read field by field: what is wrong beside the point is left out', () => {
    const message = { role: 'user', id: 7, text: 'hi', agent: {}, extra: 'x' };
    expect(readEnforcerEvent({ type: 'message.updated', sessionId, message, extra: 1 })).toEqual({
      read: 'event',
      event: { type: 'message.updated', sessionId, message: { role: 'user', text: 'hi' } },
    });
    expect(readEnforcerEvent({ type: 'session.idle', sessionId, end: 'whenever' })).toMatchObject({
      event: { end: undefined },
    });
  });

  it('G4: a permission counts as granted only if that was said', () => {
    const answered = { type: 'permission.answered', sessionId, requestId: 'request-1' };
    expect(readEnforcerEvent(answered)).toMatchObject({ event: { granted: false } });
    expect(readEnforcerEvent({ ...answered, granted: 'yes' })).toMatchObject({ event: { granted: false } });
    expect(readEnforcerEvent({ ...answered, granted: true })).toMatchObject({ event: { granted: true } });
  });

  it('never makes the handler throw, whatever it is', async () => {
    const stage = createProgramStage();
    const thrower = Object.defineProperty({}, 'type', {
      get() {
        throw new Error('caught');
      },
    });
    const hostile: unknown[] = [thrower, { type: 'session.error', sessionId, error: thrower }];
    for (const event of hostile) await stage.enforcer.handler(event as never);
    const anything = fc.record({
      type: fc.constantFrom(...enforcerEvents),
      sessionId: fc.oneof(fc.constant(sessionId), fc.anything()),
      message: fc.oneof(
        fc.record({ role: fc.constantFrom('user', 'assistant'), text: fc.anything() }),
        fc.anything(),
      ),
      tool: fc.anything(),
      error: fc.anything(),
      requestId: fc.anything(),
    });
    await fc.assert(
      fc.asyncProperty(anything, (event) => stage.enforcer.handler(event as never)),
      { numRuns: 200, seed: 20260101 },
    );
    expect(stage.errors.length).toBeGreaterThan(0);
    for (const answer of [null, 7, 'x', [null, 7, { content: 7, status: {} }], { length: 3 }]) {
      const odd = createProgramStage({ getTodos: () => answer as never, getMessages: () => answer as never });
      await odd.says('Build it.');
      await odd.idles();
      await odd.clock.advance(3000);
      expect(odd.injected).toEqual([]);
    }
  });
});
