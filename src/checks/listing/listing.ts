// What a workspace holds: each path with its mode and the id of its content. Equal content gives an equal listing,
// whether git knows the file, has it staged or committed, or is not there at all.

/**
 * One record a file, in the order of the bytes of the paths: `H mode id 0<tab>path<nul>`. That is the form in which
 * git prints it, so that the listing of a clean repository is its very words and costs nothing to make. One character
 * a byte (latin1), since names need not be UTF-8.
 */
export type Listing = string;

/** Path, one character a byte → `mode id`. */
export type ListedFiles = ReadonlyMap<string, string>;

/** A path as people and patterns know it, one character a byte. */
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

export function writeListing(files: ListedFiles): Listing {
  const keys = [...files.keys()].sort();
  return keys.map((key) => record(key, files.get(key) ?? '')).join('');
}

function record(key: string, value: string): string {
  return `H ${value} 0\t${key}\0`;
}

export function readListing(listing: Listing): Map<string, string> {
  const files = new Map<string, string>();
  for (let start = 0, end = 0; start < listing.length; start = end + 1) {
    end = endOfRecord(listing, start);
    const tab = listing.indexOf('\t', start);
    files.set(listing.slice(tab + 1, end), listing.slice(start + 2, tab - 2));
  }
  return files;
}

/** Every path of the changes gets its new value or, with null, goes; all else stays as it is written. */
export function changeListing(listing: Listing, changes: ReadonlyMap<string, string | null>): Listing {
  if (changes.size === 0) return listing;
  const keys = [...changes.keys()].sort();
  const parts: string[] = [];
  let next = 0;
  let kept = 0;
  const write = (key: string) => {
    const value = changes.get(key);
    if (typeof value === 'string') parts.push(record(key, value));
  };
  let replaced: string | null = null;
  for (let start = 0, end = 0; start < listing.length; start = end + 1) {
    end = endOfRecord(listing, start);
    const path = listing.slice(listing.indexOf('\t', start) + 1, end);
    const due = keys[next];
    // git writes an unmerged path several times.
    if (path !== replaced && (due === undefined || path < due)) continue;
    parts.push(listing.slice(kept, start));
    while (next < keys.length && (keys[next] ?? '') <= path) write(keys[next++] ?? '');
    if (changes.has(path)) replaced = path;
    kept = path === replaced ? end + 1 : start;
  }
  parts.push(listing.slice(kept));
  for (const key of keys.slice(next)) write(key);
  return parts.join('');
}

function endOfRecord(listing: Listing, start: number): number {
  const end = listing.indexOf('\0', start);
  return end === -1 ? listing.length : end;
}

export interface ListingChanges {
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly added: readonly string[];
}

export function compareFiles(before: ListedFiles, after: ListedFiles): ListingChanges {
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
