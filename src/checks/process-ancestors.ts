// The processes above this one, nearest first: from /proc on Linux, from ps elsewhere. It
// ends no process.
import { readFileSync } from 'node:fs';
import { askPs, processFields } from '../engine/system.ts';

export interface AncestorProcess {
  readonly id: number;
  readonly parentId: number;
  readonly argv: readonly string[];
  /**
   * Variables with a value, as they were when the program started; empty if they cannot
   * be read.
   */
  readonly variables: ReadonlyMap<string, string>;
}

type ReadProcess = (id: number) => AncestorProcess | null;

/** Yields the ancestors up to the first one that cannot be read. */
export function* ancestorsOf(
  id: number,
  read: ReadProcess = readProcess,
): Generator<AncestorProcess> {
  const visited = new Set([id]);
  for (let next = read(id)?.parentId ?? 0; next > 0 && !visited.has(next); ) {
    visited.add(next);
    const ancestor = read(next);
    if (ancestor === null) return;
    yield ancestor;
    next = ancestor.parentId;
  }
}

const readProcess: ReadProcess = process.platform === 'linux' ? readFromProc : readFromPs;

export function readFromProc(id: number): AncestorProcess | null {
  const fields = processFields(id);
  if (fields === null) return null;
  const argv = (readProcFile(id, 'cmdline') ?? '')
    .split('\0')
    .filter((argument) => argument !== '');
  const settings = (readProcFile(id, 'environ') ?? '').split('\0');
  const variables = settings.flatMap((setting) => {
    const [, name, value] = /^(\w+)=(.+)$/s.exec(setting) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return { id, parentId: Number(fields[1]) || 0, argv, variables: new Map(variables) };
}

function readProcFile(id: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'utf8');
  } catch {
    // Safe: the process ended, or belongs to another user. A variable that cannot be read
    // counts against nobody.
    return null;
  }
}

/** Without variables: the other signs of an agent are still examined. */
export function readFromPs(id: number): AncestorProcess | null {
  const line = askPs(id, '-ww', '-o', 'ppid=,args=');
  if (line === null) return null;
  const [parent, ...argv] = line.split(/\s+/);
  return { id, parentId: Number(parent) || 0, argv, variables: new Map() };
}
