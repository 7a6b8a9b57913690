// The Responses API remembers what it said, and clients send back references instead of the items. This is that
// memory: bounded, forgetting the oldest first. It never invents an item: an unknown reference is reported.
import { recordOf, recordsOf, textOf } from '../../json-value.ts';

const MOST_ITEMS = 20_000;
const MOST_RESPONSES = 200;

export type Expanded =
  | { readonly kind: 'expanded'; readonly body: unknown }
  | { readonly kind: 'unknown-reference'; readonly message: string };

export interface StoredItems {
  /** The body with its references and its `previous_response_id` replaced by the items they stand for. */
  expand(body: unknown): Expanded;
  remember(expandedBody: unknown, response: unknown): void;
}

function keepNewest<Value>(map: Map<string, Value>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}

export function createStoredItems(): StoredItems {
  const items = new Map<string, unknown>();
  const conversations = new Map<string, readonly unknown[]>();

  function inputOf(body: unknown): readonly unknown[] {
    const input = recordOf(body)['input'];
    return Array.isArray(input) ? input : [{ role: 'user', content: textOf(input) }];
  }

  return {
    expand(body) {
      const previous = textOf(recordOf(body)['previous_response_id']);
      const before = previous === '' ? [] : conversations.get(previous);
      if (!before) {
        return { kind: 'unknown-reference', message: `Previous response with id '${previous}' not found.` };
      }
      const input: unknown[] = [...before];
      for (const item of inputOf(body)) {
        const reference = recordOf(item);
        if (reference['type'] !== 'item_reference') {
          input.push(item);
          continue;
        }
        const id = textOf(reference['id']);
        const stored = items.get(id);
        if (stored === undefined) {
          return { kind: 'unknown-reference', message: `Item with id '${id}' not found.` };
        }
        input.push(stored);
      }
      return { kind: 'expanded', body: { ...recordOf(body), input } };
    },

    remember(expandedBody, response) {
      const output = recordsOf(recordOf(response)['output']);
      for (const item of output) items.set(textOf(item['id']), item);
      conversations.set(textOf(recordOf(response)['id']), [...inputOf(expandedBody), ...output]);
      keepNewest(items, MOST_ITEMS);
      keepNewest(conversations, MOST_RESPONSES);
    },
  };
}
