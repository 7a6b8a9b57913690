// What the last reading of a plan file said, and which todo each line stands for. Only differences from it are
// changes: a box that is still empty does not reopen what the agent completed a moment ago.
import { isObject } from '../core/config/read-value.ts';
import { type Priority, priorities } from '../core/todo.ts';
import type { PlanItem } from './plan-file.ts';

export type KnownItem = Pick<
  PlanItem,
  'title' | 'context' | 'completionCriteria' | 'priority' | 'checked' | 'blocked' | 'checks'
> & { readonly todoId: string };

export interface KnownFile {
  readonly planId: string;
  /** Of the text that was read or written last. */
  readonly hash: string;
  readonly items: readonly KnownItem[];
  /** Todos whose lines were removed and that are not settled yet. */
  readonly removed: readonly string[];
}

/** Where that is kept between two processes. Losing it is safe: then boxes can only add ticks, on both sides. */
export interface PlanFileMemory {
  /** The newest first: what was intended before a write counts if the file is now what was to be written. */
  load(): Promise<readonly KnownFile[]>;
  save(known: readonly KnownFile[]): Promise<void>;
}

export function createTransientMemory(): PlanFileMemory {
  let kept: readonly KnownFile[] = [];
  return {
    load: async () => kept,
    save: async (known) => {
      kept = known;
    },
  };
}

export function knownItem(item: PlanItem, todoId: string): KnownItem {
  const { title, context, completionCriteria, priority, checked, blocked, checks } = item;
  return { todoId, title, context, completionCriteria, priority, checked, blocked, checks };
}

/** Damaged or written by another version: as if there were nothing. */
export function readKnownFiles(value: unknown): KnownFile[] {
  if (!Array.isArray(value)) return [];
  const files = value.map(readKnownFile);
  return files.every((file) => file !== null) ? files : [];
}

function readKnownFile(value: unknown): KnownFile | null {
  if (!isObject(value)) return null;
  const { planId, hash, items, removed } = value;
  if (typeof planId !== 'string' || typeof hash !== 'string' || !isTexts(removed)) return null;
  const read = Array.isArray(items) ? items.map(readKnownItem) : [null];
  return read.every((item) => item !== null) ? { planId, hash, items: read, removed } : null;
}

function readKnownItem(value: unknown): KnownItem | null {
  if (!isObject(value)) return null;
  const { todoId, title, context, completionCriteria, priority, checked, blocked, checks } = value;
  const isKnown =
    typeof todoId === 'string' &&
    typeof title === 'string' &&
    isTextOrNull(context) &&
    isTextOrNull(completionCriteria) &&
    (priority === null || priorities.some((word) => word === priority)) &&
    typeof checked === 'boolean' &&
    isTextOrNull(blocked) &&
    isTexts(checks);
  if (!isKnown) return null;
  return {
    ...{ todoId, title, context, completionCriteria, checked, blocked, checks },
    priority: priority as Priority | null,
  };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
