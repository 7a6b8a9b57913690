// The priority at the end of a title: `!high`, `!medium` or `!low`, behind a space. No mark: the file does not say.
import { type Priority, priorities } from '../core/todo.ts';

export interface MarkedTitle {
  readonly title: string;
  readonly priority: Priority | null;
}

export function readPriority(text: string): MarkedTitle {
  const at = text.lastIndexOf(' !');
  const word = text.slice(at + 2).toLowerCase();
  const priority = at > 0 ? priorities.find((candidate) => candidate === word) : undefined;
  const title = text.slice(0, Math.max(0, at)).trim();
  return priority === undefined || title === '' ? { title: text, priority: null } : { title, priority };
}

/** A title that ends like a mark gets its mark said even where it is the default, or it would be read as one. */
export function formatPriority(title: string, priority: Priority): string {
  const needed = priority !== 'medium' || readPriority(title).priority !== null;
  return needed ? `${title} !${priority}` : title;
}
