import { expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { createStreamWriter } from './event-stream.ts';

it('issue 14.2: an answer of many letters that are two units each is kept whole', async () => {
  const store = createMemoryStore();
  const stream = createStreamWriter(store, 's');
  const text = '\u{1f980}'.repeat(9001);
  stream.take({ type: 'text', at: 1, sessionId: 's', text });
  await stream.close();
  const rows = await store.shown('s', 0);
  expect(rows.map(({ body }) => JSON.parse(body).text).join('')).toBe(text);
});
