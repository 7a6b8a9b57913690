// What to tell a model that named a file which does not exist: where the path ends and what is there.
import { readdir } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Place } from '../../checks/files.ts';
import { withDirectory } from '../../checks/files.ts';
import { displayName } from '../../core/display-name.ts';

const shownNames = 8;

export async function explainMissing(place: Place): Promise<string> {
  const folder = displayName(relative(place.root, place.existing) || '.');
  let names: string[];
  try {
    names = await withDirectory(place.existing, (directory) => readdir(directory.self));
  } catch {
    // The suggestions are a courtesy: that the path does not exist is true without them.
    return `${place.shown} does not exist: ${folder} is not a folder that can be listed.`;
  }
  if (names.length === 0) return `${place.shown} does not exist: the folder ${folder} is empty.`;
  const closest = closestNames(place.missing[0] ?? '', names, shownNames).map(displayName);
  const rest = names.length > closest.length ? ', …' : '';
  return `${place.shown} does not exist. The folder ${folder} holds: ${closest.join(', ')}${rest}.`;
}

/** Names that share most letter pairs come first; names that share none keep the order of the alphabet. */
function closestNames(wanted: string, names: readonly string[], count: number): string[] {
  const wantedPairs = letterPairs(wanted);
  return [...names]
    .sort()
    .map((name) => ({ name, likeness: likeness(wantedPairs, letterPairs(name)) }))
    .sort((left, right) => right.likeness - left.likeness)
    .slice(0, count)
    .map(({ name }) => name);
}

function letterPairs(text: string): Set<string> {
  const lower = text.toLowerCase();
  return new Set(Array.from({ length: Math.max(0, lower.length - 1) }, (_, at) => lower.slice(at, at + 2)));
}

function likeness(left: Set<string>, right: Set<string>): number {
  const shared = [...left].filter((pair) => right.has(pair)).length;
  return shared === 0 ? 0 : shared / (left.size + right.size);
}
