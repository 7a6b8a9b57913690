import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anEvent } from '../../test/support/builders.ts';
import type { Event } from './events.ts';
import { parseEvent } from './events.ts';

const job = { id: 'job-1', kind: 'shell', description: 'npm test' } as const;
const about = { callId: 'c', tool: 'shell', subject: 'npm test', pattern: 'npm **' };
const requestId = 'request-1';
const everyEvent: readonly Event[] = [
  ...Object.values(anEvent).map((build) => build()),
  anEvent.waitStarted({ wait: { kind: 'compaction' } }),
  anEvent.waitStarted({ wait: { kind: 'permission', requestId, about } }),
  anEvent.waitStarted({ wait: { kind: 'question', requestId } }),
  anEvent.waitStarted({ wait: { kind: 'background', job } }),
  anEvent.waitEnded({ wait: { kind: 'compaction', shrunk: true } }),
  anEvent.waitEnded({
    wait: { kind: 'permission', requestId, granted: true, remembered: 'always' },
  }),
  anEvent.waitEnded({ wait: { kind: 'question', requestId, rejected: false } }),
  anEvent.waitEnded({ wait: { kind: 'background', jobId: 'job-1' } }),
  anEvent.deliveryReported({ news: 'failed', error: 'The host did not answer.' }),
];

function sentenceOf(value: unknown): string {
  const parsed = parseEvent(value);
  if (parsed.ok) throw new Error('the event was accepted');
  return parsed.sentence;
}

function eventOf(value: unknown): Event {
  const parsed = parseEvent(value);
  if (!parsed.ok) throw new Error(parsed.sentence);
  return parsed.event;
}

describe('parseEvent', () => {
  it.each(everyEvent.map((event) => [event.type, event]))(
    'reads %s back as it was sent',
    (_type, event) => {
      expect(parseEvent(JSON.parse(JSON.stringify(event)))).toEqual({ ok: true, event });
    },
  );

  it.each(everyEvent.map((event) => [event.type, event]))(
    'refuses %s without its base fields',
    (type, event) => {
      for (const field of ['id', 'sessionId', 'at'] as const) {
        const { [field]: _left, ...rest } = event;
        expect(sentenceOf(rest)).toMatch(
          `This ${type} event is not valid: ${field} must be`,
        );
      }
    },
  );

  it('refuses a wait of an unknown kind, and one without its request', () => {
    expect(sentenceOf({ ...anEvent.waitStarted(), wait: { kind: 'lunch' } })).toBe(
      'This wait-started event is not valid: wait.kind must be one of recovery, compaction, permission, question, background, got "lunch".',
    );
    expect(
      sentenceOf({ ...anEvent.waitStarted(), wait: { kind: 'permission' } }),
    ).toContain('wait.requestId must be a text of 1 to 200 characters, got nothing');
  });

  it('names the closest known type of an unknown one', () => {
    expect(sentenceOf({ type: 'plan-writen' })).toBe(
      'There is no event of the type "plan-writen"; did you mean "plan-written"?',
    );
    expect(sentenceOf({ type: 'StopAttempted' })).toContain(
      'did you mean "stop-attempted"?',
    );
    expect(sentenceOf({ ...anEvent.waitStarted(), type: 'permission-asked' })).toContain(
      'There is no event of the type "permission-asked"',
    );
    expect(sentenceOf({ type: 'zzzzzzzzz' })).toBe(
      'There is no event of the type "zzzzzzzzz".',
    );
    expect(sentenceOf({ type: 'constructor' })).toContain(
      'There is no event of the type "constructor"',
    );
  });

  it('T6: a bad title, status or priority costs its item later, not the event now', () => {
    const items = [
      { freshId: 'a', content: '' },
      { freshId: 'b', content: 'x'.repeat(100_000) },
      { freshId: 'c' },
      { freshId: 'd', content: 7, status: 7 },
      { freshId: 'e', content: 'e', status: 'no such status', priority: ['high'] },
    ];
    const event = eventOf(
      JSON.parse(JSON.stringify(anEvent.planWritten({ items: items as never }))),
    );
    expect(event).toMatchObject({
      items: [
        { content: '' },
        { content: 'x'.repeat(100_000) },
        { content: '' },
        { content: '', status: '7' },
        { content: 'e', status: 'no such status', priority: 'a list of 1' },
      ],
    });
  });

  it('T6: a list that is none makes the whole event invalid', () => {
    expect(sentenceOf({ ...anEvent.planWritten(), items: { 0: 'x' } })).toBe(
      'This plan-written event is not valid: items must be a list of at most 100000 entries, got an object.',
    );
    expect(
      sentenceOf({ ...anEvent.todosCreated(), items: new Array(100_001).fill({}) }),
    ).toContain('items must be a list of at most 100000 entries, got a list of 100001');
  });

  it('says where in a list the problem is', () => {
    const items = [
      { id: 'a', title: 'A' },
      { id: 'b', title: 'B', order: 0 },
    ];
    expect(sentenceOf({ ...anEvent.todosCreated(), items })).toBe(
      'This todos-created event is not valid: items[1].order must be a whole number of at least 1, got 0.',
    );
  });

  it('leaves unknown keys, inherited values and prototypes behind', () => {
    const hostile = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"extra":1,"type":"human-resumed","id":"e","sessionId":"s","at":5}',
    ) as unknown;
    const event = eventOf(hostile);
    expect(event).toEqual({ type: 'human-resumed', id: 'e', sessionId: 's', at: 5 });
    expect(Object.keys(event).sort()).toEqual(['at', 'id', 'sessionId', 'type']);
    expect(Object.getPrototypeOf(event)).toBe(Object.prototype);
    expect(({} as { polluted?: number }).polluted).toBe(undefined);
    const inherited = Object.create({
      type: 'human-resumed',
      id: 'e',
      sessionId: 's',
      at: 5,
    }) as unknown;
    expect(sentenceOf(inherited)).toContain('The type of an event must be a text');
    const halfInherited = Object.assign(Object.create({ id: 'e' }) as object, {
      type: 'human-resumed',
      sessionId: 's',
      at: 5,
    });
    expect(sentenceOf(halfInherited)).toContain('id must be');
  });

  it('reads null and nothing alike where a field may be absent', () => {
    const { text: _text, fingerprint: _fingerprint, ...rest } = anEvent.humanSpoke();
    expect(eventOf(rest)).toMatchObject({ text: null, fingerprint: null });
    const items = [{ id: 'a', title: 'A', context: null, order: null }];
    expect(eventOf({ ...anEvent.todosCreated(), items })).toMatchObject({
      items: [{ id: 'a', title: 'A' }],
    });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0, -1, '5', 8.64e15 + 1, 2n, null])(
    'refuses %s as the time of an event',
    (at) => {
      expect(sentenceOf({ ...anEvent.humanResumed(), at })).toContain(
        'at must be a time in milliseconds since 1970',
      );
    },
  );

  it('refuses ids of more than 200 characters and texts of more than a megabyte', () => {
    expect(eventOf(anEvent.humanResumed({ id: 'x'.repeat(200) })).id).toHaveLength(200);
    expect(sentenceOf(anEvent.humanResumed({ id: 'x'.repeat(201) }))).toContain(
      'id must be a text of 1 to 200',
    );
    expect(sentenceOf(anEvent.humanSpoke({ text: 'x'.repeat(1_048_577) }))).toContain(
      'text must be a text of at most',
    );
  });

  it('refuses what cannot be read instead of throwing', () => {
    const trap = {
      get type(): string {
        throw new Error('trap');
      },
    };
    expect(sentenceOf(trap)).toBe(
      'An event must be plain data, and this one cannot be read.',
    );
  });

  it('never throws, whatever comes in, and what it accepts it accepts again unchanged', () => {
    const damaged = fc
      .tuple(fc.constantFrom(...everyEvent), fc.string(), fc.anything())
      .map(([event, key, value]) => ({ ...event, [key]: value }));
    const replaced = fc
      .constantFrom(...everyEvent)
      .chain((event) =>
        fc.tuple(
          fc.constant(event),
          fc.constantFrom(...Object.keys(event)),
          fc.anything({ withBigInt: true }),
        ),
      )
      .map(([event, key, value]) => ({ ...event, [key]: value }));
    fc.assert(
      fc.property(fc.oneof(fc.anything(), damaged, replaced), (value) => {
        const parsed = parseEvent(value);
        if (parsed.ok) expect(parseEvent(parsed.event)).toEqual(parsed);
        else expect(parsed.sentence).toMatch(/^[A-Z][^\n]*[.?]$/u);
      }),
      { numRuns: 2000 },
    );
  });
});
