// Is a human speaking? `resume` (and what else only a human may say) asks here. It finds
// what an agent of ours started, however that hides; of other hosts' agents it finds
// those that do not. docs/permissions.md says what it cannot find.
import { closeSync, constants, openSync } from 'node:fs';
import { hasLimitMark } from '../checks/process.ts';
import { type AncestorProcess, ancestorsOf } from '../checks/process-ancestors.ts';
import {
  hostOfCommand,
  hostOfVariables,
  sessionsOfVariables,
} from '../hosts/host-processes.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A sentence that says why not; null: nothing speaks against it. */
export function whyNoHuman(
  environment: Environment,
  ancestors: Iterable<AncestorProcess> = ancestorsOf(process.pid),
): string | null {
  const agent = findAgentAbove(environment, ancestors);
  if (agent !== null) {
    return `Only a human may do this, and ${agent} called it. Use a terminal of your own.`;
  }
  return hasControllingTerminal()
    ? null
    : 'Only a human may do this, and there is no terminal here to do it from.';
}

/** The agent host or session of ours above this process; null: none was found. */
export function findAgentAbove(
  environment: Environment,
  ancestors: Iterable<AncestorProcess> = ancestorsOf(process.pid),
  isMarked = hasLimitMark(),
): string | null {
  const marked = hostOfVariables((variable) => (environment[variable] ?? '') !== '');
  if (marked !== null) return marked;
  if (isMarked) return 'a session of untildone';
  for (const { argv, variables } of ancestors) {
    const host =
      hostOfVariables((variable) => variables.has(variable)) ?? hostOfCommand(argv);
    if (host !== null) return host;
  }
  return null;
}

/**
 * The sessions whose agent may have called this, the nearest first; empty: its host names
 * none.
 */
export function findAgentSessions(
  environment: Environment,
  ancestors: Iterable<AncestorProcess> = ancestorsOf(process.pid),
): Promise<readonly string[]> {
  const own = (name: string) => environment[name];
  let given = own;
  for (const { argv, variables } of ancestors) {
    // The process right beneath the host has the variables that the host gave; further
    // down the agent may have set others.
    const host = hostOfCommand(argv);
    if (host !== null) return sessionsOfVariables(given, host);
    if (variables.size > 0) given = (name) => variables.get(name);
  }
  return sessionsOfVariables(own);
}

function hasControllingTerminal(): boolean {
  // Windows has no such file; there a console as input is the nearest thing.
  if (process.platform === 'win32') return process.stdin.isTTY === true;
  try {
    closeSync(openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY));
    return true;
  } catch {
    // Safe: not being able to open it is the answer.
    return false;
  }
}
