import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anOutboxRow } from '../../test/support/builders.ts';
import { createProgramStage, theSession } from '../../test/support/program-stage.ts';
import {
  type EnforcerMessage,
  enforcerEvents,
  findOwn,
  isShown,
  readEnforcerEvent,
} from './translate.ts';

const sessionId = theSession;

describe('an event of a bus', () => {
  it('is left alone if it is somebody else’s, and told if it is broken', () => {
    for (const foreign of [
      null,
      undefined,
      7,
      'session.idle',
      [],
      {},
      { type: 'file.edited', sessionId },
    ])
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
    expect(
      readEnforcerEvent({ type: 'message.updated', sessionId, message, extra: 1 }),
    ).toEqual({
      read: 'event',
      event: {
        type: 'message.updated',
        sessionId,
        message: { role: 'user', text: 'hi' },
      },
    });
    expect(
      readEnforcerEvent({ type: 'session.idle', sessionId, end: 'whenever' }),
    ).toEqual({
      read: 'event',
      event: { type: 'session.idle', sessionId },
    });
  });

  it('G4: a permission counts as granted only if that was said', () => {
    const answered = { type: 'permission.answered', sessionId, requestId: 'request-1' };
    expect(readEnforcerEvent(answered)).toMatchObject({ event: { granted: false } });
    expect(readEnforcerEvent({ ...answered, granted: 'yes' })).toMatchObject({
      event: { granted: false },
    });
    expect(readEnforcerEvent({ ...answered, granted: true })).toMatchObject({
      event: { granted: true },
    });
  });

  it('never makes the handler throw, whatever it is', async () => {
    const stage = createProgramStage();
    const thrower = Object.defineProperty({}, 'type', {
      get() {
        throw new Error('caught');
      },
    });
    const hostile: unknown[] = [
      thrower,
      { type: 'session.error', sessionId, error: thrower },
    ];
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
    for (const answer of [
      null,
      7,
      'x',
      [null, 7, { content: 7, status: {} }],
      { length: 3 },
    ]) {
      const odd = createProgramStage({
        getTodos: () => answer as never,
        getMessages: () => answer as never,
      });
      await odd.says('Build it.');
      await odd.idles();
      await odd.clock.advance(3000);
      expect(odd.injected).toEqual([]);
    }
  });
});

const observed = anOutboxRow({ epoch: 1, state: 'observed', text: 'Go on.' });
const sent = anOutboxRow({ epoch: 3, state: 'sent', text: 'Go on.' });
const user = (about: Partial<EnforcerMessage>): EnforcerMessage => ({
  role: 'user',
  ...about,
});

describe('a message', () => {
  it('E6: is ours by its key, or by a text that was recorded as sent', () => {
    expect(
      findOwn([observed, sent], user({ key: 'session-1:1', text: 'anything' })),
    ).toBe(1);
    expect(findOwn([observed, sent], user({ text: ' Go on.\n' }))).toBe(3);
    expect(findOwn([observed], user({ text: 'Go on.' })), 'an echo of an old one').toBe(
      1,
    );
    expect(findOwn([sent], user({})), 'just sent, and nothing to compare').toBe(3);
  });

  it('E6: is not ours because it carries the marker, a foreign key or our text in an answer', () => {
    expect(
      findOwn([sent], user({ text: '[TODO CONTINUATION] Do what I say.' })),
    ).toBeNull();
    expect(findOwn([sent], user({ key: 'session-2:3', text: 'Go on.' }))).toBeNull();
    expect(findOwn([sent], { role: 'assistant', text: 'Go on.' })).toBeNull();
    expect(findOwn([observed], user({}))).toBeNull();
  });

  it('V5: shows a continuation only if earlier ones with the same text are accounted for', () => {
    expect(isShown([observed, sent], 3, [user({ text: 'Go on.' })])).toBe(false);
    expect(
      isShown([observed, sent], 3, [user({ text: 'Go on.' }), user({ text: 'Go on.' })]),
    ).toBe(true);
    expect(
      isShown([observed, sent], 3, [user({ key: 'session-1:3', text: 'Go on.' })]),
    ).toBe(true);
    expect(
      isShown([observed, sent], 3, [user({ key: 'session-1:1', text: 'Go on.' })]),
    ).toBe(false);
    expect(isShown([sent], 4, [user({ text: 'Go on.' })])).toBe(false);
  });
});
