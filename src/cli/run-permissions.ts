import type { Asking } from '../agent/loop/tool-calls.ts';
import type { PermissionPolicy } from '../agent/workspace/permission.ts';
import { addGrant, type GrantPlace, provenGrants } from '../agent/workspace/remembered-grants.ts';
import { workspaceTools } from '../agent/workspace/workspace-tools.ts';
import { UntildoneError } from '../core/error.ts';
import { closestName, type Problem, problemSentence } from '../core/problem.ts';
import type { Settings } from '../core/settings.ts';
import type { Session } from '../core/state.ts';
import { findUserConfigDirectory } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { stateDirectory } from '../store/state-directory.ts';
import { canAnswerHere } from './ask-at-terminal.ts';
import type { Arguments } from './command.ts';
import type { Io } from './io.ts';
import { complain, count, shown } from './print.ts';

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
  const unknown = unknownAllowedTool(settings);
  if (unknown !== null) throw new UntildoneError('invalid-config', problemSentence(unknown));
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

/** A session that has asked its human goes on asking when it is taken up, unless a flag names another mode. */
export function keepAsking(
  policy: PermissionPolicy,
  given: Arguments,
  session: Session | null,
): PermissionPolicy {
  const isNamed = modes.some((mode) => given.has(mode));
  const hasAsked = session?.permissions !== undefined;
  return isNamed || !hasAsked || policy.mode === 'read-only' ? policy : { ...policy, mode: 'ask' };
}

/** Where untildone keeps what it knows and what the human wants: a workspace may lie around them. */
function ownFolders({ env }: Io): readonly string[] {
  const config = findUserConfigDirectory(env);
  return [stateDirectory(env), ...(config === null ? [] : [config])];
}

/** `permissions.allow` names a tool that does not exist or that everybody may use; null: it does not. */
export function unknownAllowedTool({ permissions }: Pick<Settings, 'permissions'>): Problem | null {
  const known = workspaceTools.filter(({ access }) => access !== 'read').map(({ name }) => name);
  const name = Object.keys(permissions.allow).find((one) => !known.includes(one));
  if (name === undefined) return null;
  const closest = closestName(name, known);
  const hint = closest === null ? `known are ${known.join(', ')}` : `did you mean ${closest}?`;
  return {
    path: `permissions.allow.${shown(name, 40)}`,
    message: `there is no such tool that needs permission; ${hint}`,
  };
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
  const are = unproven === 1 ? 'is' : 'are';
  if (unproven > 0)
    complain(
      io,
      `warning: ${count(unproven, 'remembered permission')} ${are} not on record as a human's answer and ${are} ignored; see untildone permissions.`,
    );
  return {
    waitMs: permissions.waitSeconds * 1000,
    remembered: grants,
    remember: async (grant) => addGrant(place, grant),
  };
}
