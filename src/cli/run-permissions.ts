// What a run may do: from the flags, the settings that are not the project's, and what the human granted for good.
import { homedir } from 'node:os';
import type { Asking } from '../agent/permissions/permission-gate.ts';
import { addGrant, type GrantPlace, provenGrants } from '../agent/permissions/remembered-grants.ts';
import type { PermissionPolicy } from '../agent/workspace/permission.ts';
import { workspaceTools } from '../agent/workspace/workspace-tools.ts';
import { closestName } from '../core/config/closest-name.ts';
import type { Settings } from '../core/config/settings.ts';
import { UntildoneError } from '../core/untildone-error.ts';
import { findUserConfigDirectory } from '../engine/policy-source.ts';
import type { Store } from '../ports/store.ts';
import { stateDirectory } from '../stores/state-directory.ts';
import { canAnswerHere } from './ask-at-terminal.ts';
import type { Arguments } from './command.ts';
import type { Io } from './io.ts';
import { complain, shown } from './print.ts';

export const modeOptions = {
  ask: { summary: 'Ask for what the allow-list does not cover; so it is on a terminal.' },
  'allow-list': { summary: 'Refuse what the allow-list does not cover; so it is without a terminal.' },
  'read-only': { summary: 'Nothing is changed and no command runs.' },
  auto: { summary: 'Any command may run: only where the directory and the machine are yours to lose.' },
} as const;

type Mode = PermissionPolicy['mode'];
const modes = Object.keys(modeOptions) as Mode[];

export async function permissionsOf(given: Arguments, io: Io, settings: Settings): Promise<PermissionPolicy> {
  const { permissions, tools } = settings;
  const [flag, other] = modes.filter((mode) => given.has(mode));
  if (flag !== undefined && other !== undefined)
    throw new UntildoneError('usage', `--${flag} and --${other} contradict each other.`);
  refuseUnknownTools(permissions.allow);
  return {
    mode: flag ?? permissions.mode ?? (await defaultMode(given, io)),
    shellAllow: tools.shellAllow,
    allow: permissions.allow,
    kept: ownFolders(io),
  };
}

async function defaultMode(given: Arguments, io: Io): Promise<Mode> {
  return !given.has('json') && (await canAnswerHere(io)) ? 'ask' : 'allow-list';
}

/** Where untildone keeps what it knows and what the human wants: a workspace may lie around them. */
function ownFolders({ env }: Io): readonly string[] {
  const config = findUserConfigDirectory(env, env['HOME'] ?? homedir());
  return [stateDirectory(env), ...(config === null ? [] : [config])];
}

function refuseUnknownTools(allow: Settings['permissions']['allow']): void {
  const known = workspaceTools.filter(({ access }) => access !== 'read').map(({ name }) => name);
  for (const name of Object.keys(allow)) {
    if (known.includes(name)) continue;
    const closest = closestName(name, known);
    const hint = closest === null ? `known are ${known.join(', ')}` : `did you mean ${closest}?`;
    throw new UntildoneError(
      'invalid-config',
      `permissions.allow.${shown(name, 40)}: there is no such tool that needs permission; ${hint}`,
    );
  }
}

/** Everything about asking but whether somebody is here. */
export async function askingOf(
  io: Io,
  store: Store,
  directory: string,
  { permissions }: Settings,
): Promise<Omit<Asking, 'here'>> {
  const place: GrantPlace = { stateDirectory: stateDirectory(io.env), directory };
  const { grants, unproven } = await provenGrants(store, place);
  if (unproven > 0)
    complain(
      io,
      `warning: ${unproven} remembered permissions are not on record as a human's answer and are ignored; see untildone permissions.`,
    );
  return {
    waitMs: permissions.waitSeconds * 1000,
    remembered: grants,
    remember: async (grant) => addGrant(place, grant),
  };
}
