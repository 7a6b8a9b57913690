// What a workspace holds: each path with its mode and the id of its content. Equal content gives an equal listing,
// whether git knows the file, has it staged or committed, or is not there at all.

/**
 * Keys are paths relative to the workspace as the bytes of their names, one character a byte (latin1): names need not
 * be UTF-8, and the order is that of the bytes. Values are `mode id`.
 */
export type Listing = ReadonlyMap<string, string>;

/** A path as people and patterns know it, as the key of a listing. */
export function keyOfPath(path: string): string {
  return isAscii(path) ? path : Buffer.from(path, 'utf8').toString('latin1');
}

export function pathOfKey(key: string): string {
  return isAscii(key) ? key : Buffer.from(key, 'latin1').toString('utf8');
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

export interface ListingChanges {
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly added: readonly string[];
}

export function compareListings(before: Listing, after: Listing): ListingChanges {
  const changed: string[] = [];
  const deleted: string[] = [];
  for (const [key, value] of before) {
    const now = after.get(key);
    if (now === undefined) deleted.push(pathOfKey(key));
    else if (now !== value) changed.push(pathOfKey(key));
  }
  const added = [...after.keys()].filter((key) => !before.has(key)).map(pathOfKey);
  return { changed: changed.sort(), deleted: deleted.sort(), added: added.sort() };
}
