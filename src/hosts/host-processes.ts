// Finds out which host a process belongs to: by its command, by its package if a runtime
// runs it, and by the variables that hosts set for commands of their agents. An agent
// must not speak as the human.
import { agentSessionVariable, sessionVariable } from '../checks/process.ts';
import { hosts } from './hosts.ts';

const runtimes = ['node', 'nodejs', 'bun', 'deno'];

/** The host of a process with these arguments; null: none that we know. */
export function hostOfCommand(argv: readonly string[]): string | null {
  const words = argv.map((argument) => argument.replaceAll('\\', '/'));
  const programs = programsOf(words);
  for (const { title, process: shown } of hosts) {
    const isCommand = (program: string) => shown.commands.includes(baseName(program));
    const isPackage = (program: string) =>
      shown.packages.some((part) => program.includes(`/node_modules/${part}/`));
    if (programs.some((program) => isCommand(program) || isPackage(program)))
      return title;
  }
  const ours = programs.find(isOurProgram);
  return ours !== undefined && words[words.indexOf(ours) + 1] === 'run'
    ? 'untildone run'
    : null;
}

/** The host that set one of these variables. An empty value counts as not set. */
export function hostOfVariables(isSet: (variable: string) => boolean): string | null {
  if (isSet(sessionVariable)) return 'a session of untildone';
  return hosts.find(({ process: { variables } }) => variables.some(isSet))?.title ?? null;
}

/**
 * The ids of sessions that a command with these variables may belong to, the nearest
 * first: a command in a host that one of our runs drives has the host's own id and that
 * of the run. Empty: no session is named.
 * @param nearest the title of the host right above; null: it is not known
 */
export async function sessionsOfVariables(
  variable: (name: string) => string | undefined,
  nearest: string | null = null,
): Promise<string[]> {
  const ids = [variable(agentSessionVariable)];
  for (const { title, process: marks, asked } of hosts) {
    if (asked === undefined || !marks.variables.some((name) => variable(name))) continue;
    const adapter = await asked();
    const id = adapter.agentCommandOf(variable)?.sessionId ?? undefined;
    // A host that another host's agent started inherits the variables of that host.
    if (title === nearest) ids.unshift(id);
    else ids.push(id);
  }
  ids.push(variable(sessionVariable));
  return ids.flatMap((id) => id || []);
}

/**
 * The program, and for a runtime its script, which may stand behind the value of a flag.
 * A bare word behind the script is an argument.
 */
function programsOf([program = '', ...rest]: readonly string[]): string[] {
  if (!runtimes.includes(baseName(program))) return [program];
  const [first = '', second = ''] = rest.filter((argument) => !argument.startsWith('-'));
  return [program, first, ...(second.includes('/') ? [second] : [])];
}

function isOurProgram(argument: string): boolean {
  return baseName(argument) === 'untildone' || argument.endsWith('untildone/dist/bin.js');
}

function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return name.replace(/\.(?:exe|cmd|js|mjs|cjs)$/, '');
}
