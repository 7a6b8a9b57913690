// What installers share whose host keeps hooks and MCP servers in one settings.json: in the project and in the home of the user.
// The project's own file is either committed (`--shared`) or kept out of git; the host reads it only in the folder where it starts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { HookTimeout } from '../asked-call.ts';
import { listOf, recordOf } from '../untrusted.ts';
import type { Edit, FileTarget } from './changes.ts';
import { hookCommandsIn, writeHookCommand } from './files.ts';
import { hookProofs, movedVariables, serverCall, serverName } from './hook-host.ts';
import * as installer from './installer.ts';
import { broken, ok, readSources } from './installer.ts';
import type { Json } from './json-text.ts';

type Installed = Readonly<{ hook: string; timeout: HookTimeout }>;

export type SettingsHost = Readonly<{
  name: string;
  title: string;
  /** Such as `.gemini`. */
  folder: string;
  /** Where the user's own settings are. */
  userFolder: string;
  /** Nearest first, behind the project's and the user's: what an administrator set. */
  managed: readonly string[];
  toolPrefix: string;
  hooks: readonly Installed[];
  /** As the host wants one hook. @param moved variables that it must find */
  element(command: string, hook: Installed, moved: Record<string, string>): Json;
  /** More of the registered server than its call and its variables. */
  server: Readonly<Record<string, Json>>;
  /** Tools that the server offers; null: all of them. */
  tools: readonly string[] | null;
  harmlessStop: object;
  /** What else it is given. */
  more?(scope: installer.Scope): Readonly<{ edits?: readonly Edit[]; targets?: readonly FileTarget[] }>;
  /** Notes at `init`. */
  notes?(at: Place): readonly string[];
  /** What only this host knows. @param mend the command that installs it again */
  examine(at: Place, mend: string): installer.Examination;
}>;

export type Place = Readonly<{
  /** Where the host has to be started. */
  project: string;
  /** Those that exist, in the order in which they win. */
  sources: ReturnType<typeof readSources>;
}>;

export function surveySettings(host: SettingsHost, basis: installer.InstallBasis): installer.HostSurvey {
  const { name, title, folder, hooks } = host;
  const { folder: here, root, mainRoot, excludeFile, isTracked } = installer.findProject(basis);
  const file = join(folder, 'settings.json');
  const own = join(root, file);
  const settings = { project: own, shared: own, user: join(host.userFolder, 'settings.json') };
  const read = (path: string) => readSources([path])[0]?.value ?? {};
  const installed = (scope: installer.Scope) =>
    hookCommandsIn(read(settings[scope])['hooks'], name).filter(
      // What everyone can start names no file of this machine.
      (one) => scope === 'user' || (one.file === undefined) === (scope === 'shared'),
    );
  const look = (): Place => ({
    project: root,
    sources: readSources([...host.managed, own, settings.user]),
  });

  function layout(scope: installer.Scope) {
    const request = { ...basis, scope };
    const moved = movedVariables(request);
    const command = writeHookCommand(request, name, [`--tools=${host.toolPrefix}`]);
    const call = { ...serverCall(request, host.tools), ...(scope !== 'shared' && { env: moved }) };
    const more = host.more?.(scope) ?? {};
    const edits: Edit[] = [
      ...hooks.map(
        (one): Edit => ({
          ...{ kind: 'hook', path: ['hooks', one.hook] },
          value: host.element(command, one, moved),
        }),
      ),
      {
        ...{ kind: 'member', path: ['mcpServers', serverName], named: true },
        value: { ...call, ...host.server },
      },
      ...(more.edits ?? []),
    ];
    const targets: FileTarget[] = [{ path: settings[scope], edits }, ...(more.targets ?? [])];
    const isProjects = scope === 'project' && excludeFile !== null;
    const isCommitted = isProjects && isTracked(join(mainRoot, file));
    if (isProjects && !isCommitted)
      targets.push({ path: excludeFile, edits: [{ kind: 'line', text: `/${file}` }] });
    const notes = [
      isCommitted &&
        `${own} is tracked by git, and now contains paths of this machine: install with --user or --shared instead.`,
      scope !== 'user' && here !== root && elsewhere,
      ...(host.notes?.(look()) ?? []),
    ];
    return { targets, notes: notes.filter((one) => one !== false), summary: `${hooks.length} hooks` };
  }

  const elsewhere = `${title} reads ${file} only in the folder where it is started: start it in ${root}, or install with --user.`;

  function examine(scopes: readonly installer.Scope[]): installer.Examination {
    const at = look();
    const mend = `untildone init ${name}${installer.scopeFlags[scopes[0] ?? 'project']}`;
    const wrong = at.sources.find(({ problem }) => problem !== null);
    const { command, args } = recordOf(registered());
    const program = listOf(args)[0];
    const isGone = command !== 'npx' && typeof program === 'string' && !existsSync(program);
    return [
      [
        wrong &&
          broken(
            'settings',
            `${title} does not start with ${wrong.path}: it ${wrong.problem}.`,
            `mend ${wrong.path}`,
          ),
        !scopes.includes('user') && here !== root && installer.note('settings', elsewhere),
        ok('settings', 'The settings can be read.'),
      ],
      [
        !command && broken('server', 'The MCP server is not registered, so the model cannot pause.', mend),
        isGone && broken('server', `The MCP server is registered, but its program is gone: ${program}`, mend),
        ok('server', 'The MCP server is registered.'),
      ],
      ...host.examine(at, mend),
    ];
  }

  const registered = () =>
    [own, settings.user]
      .map((path) => recordOf(read(path)['mcpServers'])[serverName])
      .find((one) => one !== undefined);

  return {
    project: root,
    plugin: null,
    layout,
    installed,
    examine,
    proofs: (scopes) =>
      hookProofs(basis, {
        ...{ host: name, title, harmlessStop: host.harmlessStop, scopes },
        hooksIn: (scope) => read(settings[scope])['hooks'],
        server: registered(),
      }),
  };
}
