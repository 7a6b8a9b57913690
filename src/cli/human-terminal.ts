// Decides whether a human calls a command that only a human may call, such as `resume`.
// It finds every agent that untildone started, even if that agent hides; agents of other
// hosts are found only if they do not hide. docs/permissions.md says what it cannot find.
import { closeSync, constants, openSync } from 'node:fs';
import { hasLimitMark } from '../checks/process.ts';
import { type AncestorProcess, ancestorsOf } from '../checks/process-ancestors.ts';
import {
  hostOfCommand,
  hostOfVariables,
  sessionsOfVariables,
} from '../hosts/host-processes.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Says in a sentence why the caller cannot count as a human. Null: it can. */
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

/** The agent host or session of ours above this process. Null: none was found. */
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
 * The sessions whose agent may have called this, nearest first. Empty: its host names
 * none.
 */
export function findAgentSessions(
  environment: Environment,
  ancestors: Iterable<AncestorProcess> = ancestorsOf(process.pid),
): Promise<readonly string[]> {
  const readOwnVariable = (name: string) => environment[name];
  let readVariable = readOwnVariable;
  for (const { argv, variables } of ancestors) {
    // The process right beneath the host has the variables that the host set; further
    // down the agent may have changed them.
    const host = hostOfCommand(argv);
    if (host !== null) return sessionsOfVariables(readVariable, host);
    if (variables.size > 0) readVariable = (name) => variables.get(name);
  }
  return sessionsOfVariables(readOwnVariable);
}

function hasControllingTerminal(): boolean {
  // Windows has no such file, so a console as input has to do.
  if (process.platform === 'win32') return process.stdin.isTTY === true;
  try {
    closeSync(openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY));
    return true;
  } catch {
    // Safe: failing to open it is the answer.
    return false;
  }
}
