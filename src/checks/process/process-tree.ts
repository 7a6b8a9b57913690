// Finds and ends all processes of a command. On Linux that is: its process group, every descendant, and every
// process that carries its mark in the environment, which also finds those that moved to a session of their
// own and were orphaned. Elsewhere it is the process group alone.
//
// What gets away: a process that did both, leave its family (setsid and a second fork) and drop or overwrite
// its environment; and anything started through another service (docker, systemd, cron).
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../files/file-error.ts';

export interface ProcessTree {
  /** The process group, which is the id of the process that leads it. */
  readonly group: number;
  /** NAME=value as it stands in the environment of every process of the tree. */
  readonly mark: string;
}

const pollMs = 25;
/** How often what is still there is killed again: a tree that forks faster than this many looks is given up. */
const killRounds = 40;

/** Asks with SIGTERM, ends with SIGKILL after the grace. Answers how many processes it found and how many stay. */
export async function endProcessTree(
  tree: ProcessTree,
  graceMs: number,
): Promise<{ found: number; left: number }> {
  let members = findProcessTree(tree);
  const found = members.length;
  sendSignal(tree, members, 'SIGTERM');
  const deadline = performance.now() + graceMs;
  while (members.length > 0 && performance.now() < deadline) {
    await sleep(pollMs);
    members = findProcessTree(tree);
  }
  for (let round = 0; members.length > 0 && round < killRounds; round += 1) {
    sendSignal(tree, members, 'SIGKILL');
    await sleep(pollMs);
    members = findProcessTree(tree);
  }
  return { found, left: members.length };
}

/** Ends what a session left behind when it was killed itself: to be called before it is resumed. */
export async function endMarkedProcesses(
  mark: string,
  graceMs: number,
): Promise<{ found: number; left: number }> {
  return endProcessTree({ group: noGroup, mark }, graceMs);
}

/** No process is in it; 0 would be our own. */
const noGroup = -1;

function sendSignal(tree: ProcessTree, members: readonly number[], signal: NodeJS.Signals): void {
  // The group in one call first: between two single ones it could fork.
  const targets = members.length > 0 && tree.group > 1 ? [-tree.group, ...members] : members;
  for (const target of targets) {
    try {
      process.kill(target, signal);
    } catch {
      // Gone already, or not ours to end; what stays is counted afterwards.
    }
  }
}

/** The living processes of the tree; ended ones that nobody collected yet do not count. */
export function findProcessTree(tree: ProcessTree): number[] {
  return process.platform === 'linux' ? findOnLinux(tree) : findGroup(tree.group);
}

function findGroup(group: number): number[] {
  if (group <= 1) return [];
  try {
    process.kill(-group, 0);
    return [-group];
  } catch (error) {
    // EPERM: there is one, but not ours to end. Anything else: there is none.
    return errorCode(error) === 'EPERM' ? [-group] : [];
  }
}

function findOnLinux(tree: ProcessTree): number[] {
  const parents = new Map<number, number>();
  const members = new Set<number>();
  for (const name of readdirSync('/proc')) {
    const id = Number(name);
    if (!Number.isInteger(id) || id === process.pid) continue;
    const seen = lookAtProcess(id);
    if (seen === null) continue;
    parents.set(id, seen.parent);
    if (seen.group === tree.group || hasMark(id, tree.mark)) members.add(id);
  }
  // Children of members, until no more are found: those that dropped the mark but kept their parent.
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const [id, parent] of parents) if (members.has(parent)) members.add(id);
  }
  return [...members];
}

function lookAtProcess(id: number): { parent: number; group: number } | null {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'latin1');
    // The name in parentheses may itself hold spaces and parentheses: the fields start after the last one.
    const [state, parent, group] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? null : { parent: Number(parent), group: Number(group) };
  } catch {
    // It ended between being listed and being looked at.
    return null;
  }
}

function hasMark(id: number, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${id}/environ`, 'utf8')}`.includes(`\0${mark}\0`);
  } catch {
    // Another user's process, or gone: not one of ours.
    return false;
  }
}
