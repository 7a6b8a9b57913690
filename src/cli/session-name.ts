// How people tell sessions apart (V11): a short id that they can type, and the first words of the human.
import type { Session } from '../core/state.ts';
import { shown } from './print.ts';

/** Ids of neighbours begin alike, since they begin with the time; their ends are random. */
const shortLength = 6;
/** So long they are typed as they are. */
const longestTyped = 16;

/** @param others what must not end in the same letters */
export function shortId(id: string, others: readonly string[] = []): string {
  if (id.length <= longestTyped) return shown(id, longestTyped);
  const rivals = others.filter((other) => other !== id);
  let length = shortLength;
  while (length < id.length && rivals.some((other) => other.endsWith(id.slice(-length)))) length += 1;
  const end = id.slice(-length);
  // A host's id may be anything; what looks like an option or a pattern is not typed.
  return /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u.test(end) ? end : shown(id, 60);
}

/** `8e34db “migrate the tests to vitest”`; without words the whole id, which may say more than its end. */
export function nameSession({ id, title }: Pick<Session, 'id' | 'title'>): string {
  return title === undefined ? shown(id, 60) : `${shortId(id)} “${shown(title, 60)}”`;
}

/** For `--json`: whole ids. */
export function sessionFields({ id, title }: Pick<Session, 'id' | 'title'>) {
  return { session: id, title: title ?? null };
}
