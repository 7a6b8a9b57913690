// What an answer that walked the workspace left out, in words for the model.
import type { Walk } from '../../checks/walk.ts';

export function describeLeft(left: Walk['left'], walkedEntries: number): string[] {
  const notes: string[] = [];
  if (left.unreadableFolders > 0) notes.push(`(${left.unreadableFolders} folders could not be read.)`);
  if (left.isCut) notes.push(`(Stopped after ${walkedEntries} names: name a folder with "path".)`);
  return notes;
}
