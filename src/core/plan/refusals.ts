// Why an item is refused, in a sentence that the model can act on (T6). The good items apply all the same.
import type { Refusal } from '../commands.ts';
import type { Settings } from '../config/settings.ts';
import { oneLine } from '../safe-text.ts';
import { priorities, statusFromWord, todoStatuses } from '../todo.ts';

interface Item {
  readonly title: string;
  readonly status?: string | undefined;
  readonly priority?: string | undefined;
}

/** Null: the item is well formed. */
export function refuseItem(item: Item, index: number | null, settings: Settings): Refusal | null {
  const where = index === null ? 'the todo' : `item ${index + 1}`;
  if (item.title.trim() === '') {
    return {
      index,
      code: 'no-title',
      sentence: `${where} has no title; give each todo a short, concrete title.`,
    };
  }
  const bytes = utf8Length(item.title);
  if (bytes > settings.maxTitleBytes) {
    return {
      index,
      code: 'title-too-long',
      sentence: `${where} has a title of ${bytes} bytes; at most ${settings.maxTitleBytes} are allowed. Move detail into its context.`,
    };
  }
  if (item.status !== undefined && statusFromWord(item.status) === null) {
    return {
      index,
      code: 'unknown-status',
      sentence: `${where} has the unknown status "${oneLine(item.status, 40)}"; use one of ${todoStatuses.join(', ')}.`,
    };
  }
  if (item.priority !== undefined && !(priorities as readonly string[]).includes(item.priority)) {
    return {
      index,
      code: 'unknown-priority',
      sentence: `${where} has the unknown priority "${oneLine(item.priority, 40)}"; use one of ${priorities.join(', ')}.`,
    };
  }
  return null;
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00) {
      bytes += 4;
      i += 1;
    } else bytes += 3;
  }
  return bytes;
}
