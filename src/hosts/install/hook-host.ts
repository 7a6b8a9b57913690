// What installers of hosts with hooks share: the call of our MCP server and its grants, variables that both must find, and what
// `doctor` calls to see that they answer. Nothing is changed here.
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { listOf, recordOf } from '../untrusted.ts';
import {
  hookCommandsIn,
  type InstalledProgram,
  type ProgramName,
  programCall,
  programsFolder,
  versionOfCopy,
} from './files.ts';
import type { InstallBasis, InstallRequest, Proof, Scope } from './installer.ts';

export const serverName = 'untildone';
/** What todo tools of hosts cannot do. */
export const offeredTools = ['todo_pause', 'todo_verify'];
/** They change only the plan. A pattern would also grant what later versions add. */
export const allTools = [
  ...['create_todo', 'list_todo', 'complete_todo', 'update_todo'],
  ...['todo_write', 'todo_read', ...offeredTools],
];

/** Hooks and server must find a state directory that was moved; a committed file names no folder of this machine. */
export const movedVariables = ({ env, stateDirectory, scope }: InstallRequest): Record<string, string> =>
  env['UNTILDONE_HOME'] && scope !== 'shared' ? { UNTILDONE_HOME: stateDirectory } : {};

/** @param tools null: all of them, for a host whose own list is missing */
export function serverCall(request: InstallRequest, tools: readonly string[] | null) {
  const [command = '', ...args] = programCall(request, 'host-commands.js');
  return { command, args: [...args, 'mcp', ...(tools === null ? [] : ['--tools', tools.join(',')])] };
}

const greeting = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    ...{ protocolVersion: '2025-06-18', capabilities: {} },
    clientInfo: { name: 'untildone doctor', version: '1' },
  },
};

type Called = Readonly<{
  host: string;
  title: string;
  /** The end of a turn in which nothing was done, in this host's words; a folder is added. */
  harmlessStop: object;
  scopes: readonly Scope[];
  /** What the settings of a scope hold under their hooks. */
  hooksIn(scope: Scope): unknown;
  /** The registered server, `{ command, args }`; anything else: there is none. */
  server: unknown;
  /** It stands in a file of the project. */
  isServerOfProject?: boolean;
}>;

/** The hook is called as the host calls it, at the end of a turn; the server is greeted as a client greets it. */
export function hookProofs(basis: InstallBasis, called: Called): Proof[] {
  const { host, title, harmlessStop, scopes, hooksIn } = called;
  // A project's file may be a stranger's: of what it names only our own copy is called, by the Node of this call (V10).
  const isOwnCopy = ({ node, file, version }: InstalledProgram, name: ProgramName = 'hook.js') =>
    node === basis.node && file === join(programsFolder(basis.stateDirectory, version), name);
  const hook = scopes
    .flatMap((scope) =>
      hookCommandsIn(hooksIn(scope), host).filter((one) => scope === 'user' || isOwnCopy(one)),
    )
    .find(({ node, file }) => node && file);
  const { command, args } = recordOf(called.server);
  const words = [command, ...listOf(args)].filter((word) => typeof word === 'string');
  const [node = '', file = ''] = words;
  const version = versionOfCopy(file, 'host-commands.js') ?? '';
  const isServerOurs = !called.isServerOfProject || isOwnCopy({ node, file, version }, 'host-commands.js');
  return [
    {
      name: 'hook-call',
      call: hook === undefined ? [] : [hook.node ?? '', hook.file ?? '', host],
      input: (scratch: string) => JSON.stringify({ ...harmlessStop, cwd: scratch }),
      // It answers {} whatever happens; only one that works has opened its store.
      isProved: (_answer: string, state: string) => existsSync(join(state, 'untildone.db')),
      proved: `The hook was called as ${title} calls it, and answers.`,
      failed: `The hook was called as ${title} calls it, and does not work.`,
    },
    {
      name: 'server-call',
      call: isServerOurs ? words : [],
      input: () => `${JSON.stringify(greeting)}\n`,
      isProved: (answer: string) => answer.includes('"serverInfo"'),
      proved: 'The MCP server was started, and answers.',
      failed: 'The MCP server was started, and does not answer.',
    },
    // A call by npx would fetch the package.
  ].filter(({ call: [program = ''] }) => isAbsolute(program));
}
