import { describe, expect, it } from 'vitest';
import { createStoredItems } from './stored-items.ts';

const SAID = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'hi' }],
};

describe('the memory of the Responses API', () => {
  it('replaces a reference by the item that was sent under that id', () => {
    const stored = createStoredItems();
    stored.remember({ input: 'hello' }, { id: 'resp_1', output: [SAID] });
    expect(stored.expand({ input: [{ type: 'item_reference', id: 'msg_1' }] })).toEqual({
      kind: 'expanded',
      body: { input: [SAID] },
    });
  });

  it('goes on from a previous response', () => {
    const stored = createStoredItems();
    stored.remember({ input: 'hello' }, { id: 'resp_1', output: [SAID] });
    expect(stored.expand({ previous_response_id: 'resp_1', input: 'and now?' })).toMatchObject({
      body: { input: [{ role: 'user', content: 'hello' }, SAID, { role: 'user', content: 'and now?' }] },
    });
  });

  it('reports references that it does not know', () => {
    const stored = createStoredItems();
    expect(stored.expand({ input: [{ type: 'item_reference', id: 'msg_9' }] }).kind).toBe(
      'unknown-reference',
    );
    expect(stored.expand({ previous_response_id: 'resp_9', input: [] }).kind).toBe('unknown-reference');
  });
});
