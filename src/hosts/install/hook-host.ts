// The installer of hosts with hooks: it plans hooks and our MCP server as the host wants
// them, finds them again, and names the calls by which `doctor` sees that they answer. A
// host says how its words differ and where its files are. Nothing here changes a file.
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { type HookTimeout, hookTimeouts } from '../asked-call.ts';
import { type HookLanguage, hooksOf } from '../asked-translate.ts';
import { startVariables } from '../project-variables.ts';
import { type Fields, listOf, recordOf } from '../untrusted.ts';
import type { Edit, FileTarget } from './changes.ts';
import * as files from './files.ts';
import * as installer from './installer.ts';
import { brokenRow, noteRow, okRow, readSource } from './installer.ts';
import type { Json } from './json-text.ts';

export const serverName = 'untildone';
/** Our tools that do what todo tools of hosts cannot. */
export const offeredTools = ['todo_pause', 'todo_verify'];
/**
 * All our tools. They change only the plan, so they are granted by name: a pattern would
 * also grant what later versions add.
 */
export const allTools = [
  'create_todo',
  'list_todo',
  'complete_todo',
  'update_todo',
  'todo_write',
  'todo_read',
  ...offeredTools,
];

type Variables = Readonly<Record<string, string>>;
type ServerCall = Readonly<{ command: string; args: readonly string[]; env?: Variables }>;
type Named = 'title' | 'program' | 'knownVersions' | 'howToRemovePlugin';

/** How a host differs from the others, for its installer. */
export type HookHost = Pick<installer.HostInstaller, Named> &
  Readonly<{
    npmPackage: string;
    /** The name of the host, and its hooks. */
    language: HookLanguage;
    /** What stands before the names of our tools. */
    toolPrefix: string;
    /**
     * The host gets all our tools, because its own list may be missing; else it gets only
     * `offeredTools`.
     */
    offersAll?: true;
    /** The host ignores a whole file if it has comments. */
    refusesComments?: true;
    /** The host sets no variables for hooks, so they stand in the command. */
    commandSetsVariables?: true;
    /**
     * One hook as the host wants it. @param moved UNTILDONE_HOME, if the state directory
     * is not in its default place
     */
    element(
      command: string,
      hook: ReturnType<typeof hooksOf>[number],
      moved: Variables,
    ): Json;
    /** Our MCP server as the host wants it. */
    server(call: ServerCall): Readonly<Record<string, Json>>;
    /** Text appended to "The MCP server is registered". */
    serverRights?: string;
    /** Fields that differ in the sample Stop payload that `doctor` sends to the hook. */
    stop: object;
    /** Text appended to the number of hooks. */
    summary?: string;
    afterInstall?: string;
    look(basis: installer.InstallBasis, project: installer.Project): HookPlace;
  }>;

/**
 * What an install writes. `moved`: UNTILDONE_HOME, if the state directory is not in its
 * default place.
 */
type Written = Readonly<{
  command: string;
  hooks: readonly Edit[];
  server: Edit;
  moved: Variables;
}>;

/** Where the files of a host are, for one person and one project. */
export type HookPlace = Readonly<{
  project: string;
  /** The file that loads us as a plugin of the host; null: none does. */
  plugin?: string | null;
  hookFiles: Readonly<Record<installer.Scope, string>>;
  /** The file, and the keys that lead to our server in it. */
  servers: Readonly<Record<installer.Scope, readonly [string, ...string[]]>>;
  /** Whether the host will take our grants: only then do texts name our tools. */
  isGranted?(scope: installer.Scope): boolean;
  /** The files to change. `local`: files of the project that git shall ignore. */
  layout(
    scope: installer.Scope,
    written: Written,
  ): Readonly<{
    targets: FileTarget[];
    local: readonly string[];
    notes?: readonly (string | false)[];
  }>;
  /**
   * Examines what only this host knows.
   * @param mend the command that installs again
   * @param server whether our server is registered
   */
  examine(
    scopes: readonly installer.Scope[],
    mend: string,
    server: installer.Row,
  ): installer.Examination;
}>;

/** Makes the installer of a host with hooks. */
export function hookInstaller(host: HookHost): installer.HostInstaller {
  const { title, language, npmPackage } = host;
  return {
    afterInstall: `${title} sessions that are already running keep their old settings: restart them.`,
    ...host,
    name: language.host,
    programs: ['hook.js', 'host-commands.js'],
    pieces: 'hooks',
    oldestVersion: null,
    howToGet: `npm install --global ${npmPackage}`,
    survey: (basis) => surveyHooks(host, basis),
  };
}

function surveyHooks(
  host: HookHost,
  basis: installer.InstallBasis,
): installer.HostSurvey {
  const { host: name } = host.language;
  const found = installer.findProject(basis);
  const place = host.look(basis, found);
  const { project, plugin = null, hookFiles, servers } = place;
  const hooksIn = (scope: installer.Scope) =>
    readSource(hookFiles[scope], host.refusesComments)['hooks'];
  // A stranger may have written a project's file: of the programs that it names, only our
  // own copy is called, by the Node of this call (V10).
  const isOwnCopy = (
    { node, file, version }: files.InstalledProgram,
    program: files.ProgramName,
  ) =>
    node === basis.node &&
    file === join(files.programsFolder(basis.stateDirectory, version), program);
  /** Our server as registered; the nearest one counts, as in the host. */
  const registered = () => {
    const all = installer.allScopes.map((scope) => {
      const [path, ...keys] = servers[scope];
      const server = recordOf(
        installer.settingIn(readSource(path, host.refusesComments), ...keys),
      );
      return { server, isOfProject: path !== servers.user[0] };
    });
    return (
      all.find(({ server }) => server['command'] !== undefined) ?? {
        server: {},
        isOfProject: false,
      }
    );
  };

  return {
    project,
    plugin,
    layout(scope) {
      const request = { ...basis, scope };
      // Hooks and server must find a state directory that was moved, but a committed file
      // names no folder of this machine.
      const isMoved = basis.env['UNTILDONE_HOME'] && scope !== 'shared';
      const moved: Variables = isMoved ? { UNTILDONE_HOME: basis.stateDirectory } : {};
      const words =
        place.isGranted?.(scope) === false ? [] : [`--tools=${host.toolPrefix}`];
      const started = startVariables(host.language);
      const variables = { ...started, ...(host.commandSetsVariables && moved) };
      const command = files.writeHookCommand(request, name, words, variables);
      const hooks = hooksOf(host.language).map((one): Edit => {
        return {
          kind: 'hook',
          path: ['hooks', one.hook],
          value: host.element(command, one, moved),
        };
      });
      const [program = '', ...args] = files.programCall(request, 'host-commands.js');
      const offered = host.offersAll ? [] : ['--tools', offeredTools.join(',')];
      const call = { command: program, args: [...args, 'mcp', ...offered] };
      const env = { ...started, ...moved };
      const value = host.server(scope === 'shared' ? call : { ...call, env });
      const [path, ...keys] = servers[scope];
      const kind = path.endsWith('.toml') ? 'table' : 'member';
      const server: Edit = { kind, path: keys, value, named: true };
      const {
        targets,
        local,
        notes = [],
      } = place.layout(scope, { command, hooks, server, moved });
      const lines = local.map((file): Edit => ({ kind: 'line', text: `/${file}` }));
      if (scope === 'project' && found.excludeFile !== null)
        targets.push({ path: found.excludeFile, edits: lines });
      const summary = `${hooks.length} hooks${host.summary ?? ''}`;
      return { targets, notes: notes.filter((one) => one !== false), summary };
    },
    installed: (scope) =>
      files.hookCommandsIn(hooksIn(scope), name).filter(({ file }) => {
        const isOneFile = scope !== 'user' && hookFiles.project === hookFiles.shared;
        // If both scopes share a file, the hook without a file path is the shared one,
        // which npx starts.
        return !isOneFile || (file === undefined) === (scope === 'shared');
      }),
    examine(scopes) {
      // We are only there as a plugin, which brings its own server, asks for each grant
      // and sets no switches.
      if (scopes[0] === undefined) return [];
      const mend = installer.initCommand(name, scopes[0]);
      return place.examine(
        scopes,
        mend,
        examineServer(registered().server, mend, host.serverRights),
      );
    },
    proofs(scopes) {
      const commands = scopes.flatMap((scope) =>
        files
          .hookCommandsIn(hooksIn(scope), name)
          .filter((one) => scope === 'user' || isOwnCopy(one, 'hook.js')),
      );
      const { node = '', file = '' } = commands.find((one) => one.node && one.file) ?? {};
      const { server, isOfProject } = registered();
      const words = [server['command'], ...listOf(server['args'])].filter(
        (word) => typeof word === 'string',
      );
      const [program = '', copy = ''] = words;
      const version = files.versionOfCopy(copy, 'host-commands.js') ?? '';
      const isOurs =
        !isOfProject ||
        isOwnCopy({ node: program, file: copy, version }, 'host-commands.js');
      const proofs = [
        hookProof(host, [node, file, name]),
        serverProof(isOurs ? words : []),
      ];
      // A call by npx is left out, because it would fetch the package.
      return proofs.filter(({ call: [called = ''] }) => isAbsolute(called));
    },
  };
}

function examineServer(
  { command, args, enabled }: Fields,
  mend: string,
  rights = '',
): installer.Row {
  const program = listOf(args)[0];
  const isGone = command !== 'npx' && typeof program === 'string' && !existsSync(program);
  return [
    !command &&
      brokenRow(
        'server',
        'The MCP server is not registered, so the model cannot pause.',
        mend,
      ),
    isGone &&
      brokenRow(
        'server',
        `The MCP server is registered, but its program is gone: ${program}`,
        mend,
      ),
    enabled === false &&
      noteRow('server', 'The MCP server is switched off, so the model cannot pause.'),
    okRow('server', `The MCP server is registered${rights}.`),
  ];
}

const greeting = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'untildone doctor', version: '1' },
  },
};

/** Calls the MCP server as a client greets it. */
const serverProof = (call: readonly string[]): installer.Proof => ({
  name: 'server-call',
  call,
  input: () => `${JSON.stringify(greeting)}\n`,
  isProved: (answer) => answer.includes('"serverInfo"'),
  proved: 'The MCP server was started, and answers.',
  failed: 'The MCP server was started, and does not answer.',
});

/** Calls the hook as the host calls it at the end of a turn. */
function hookProof({ title, stop }: HookHost, call: readonly string[]): installer.Proof {
  const ended = {
    hook_event_name: 'Stop',
    session_id: 'untildone-doctor',
    transcript_path: '/dev/null',
    stop_hook_active: false,
    ...stop,
  };
  return {
    name: 'hook-call',
    call,
    input: (scratch) => JSON.stringify({ ...ended, cwd: scratch }),
    // A hook answers {} whatever happens, but only one that works has opened its store.
    isProved: (_answer, state) => existsSync(join(state, 'untildone.db')),
    proved: `The hook was called as ${title} calls it, and answers.`,
    failed: `The hook was called as ${title} calls it, and does not work.`,
  };
}

/** One hook as Claude Code, and hosts that followed it, want it. */
export function hookElement(
  command: string,
  timeout: HookTimeout,
  env: Variables = {},
): Json {
  const variables = Object.keys(env).length === 0 ? {} : { env };
  return {
    hooks: [{ type: 'command', command, timeout: hookTimeouts[timeout], ...variables }],
  };
}

/** The finding that a setting switches hooks off. */
export const switchedOff = (path: string, key: string) =>
  brokenRow(
    'trust',
    `Hooks are switched off in ${path}.`,
    `take "${key}" out of ${path}`,
  );
