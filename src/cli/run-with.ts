// `run --with HOST`: chooses the program that `run` drives, and how. It refuses what that
// program cannot do before anything is started.
import type { DrivenRunOptions } from '../agent/drive.ts';
import type { Origins } from '../core/config.ts';
import { UntildoneError } from '../core/error.ts';
import { closestName } from '../core/problem.ts';
import { type Settings, settingTable } from '../core/settings.ts';
import { hasSpoken, type State } from '../core/state.ts';
import type { DriveMode, HostDriver } from '../engine/host-driver.ts';
import { hostOf, hosts } from '../hosts/hosts.ts';
import { shippedFolder, whyNotShipped } from '../hosts/install/files.ts';
import { findProgram } from '../hosts/install/installer.ts';
import type { Arguments } from './command.ts';
import { hostTitle, nameSession } from './describe-session.ts';
import type { Io } from './io.ts';
import { escapeForTerminal } from './print.ts';

export type DrivenAgent = Pick<
  DrivenRunOptions,
  'driver' | 'program' | 'mode' | 'model' | 'flags' | 'conversation'
>;

const usageError = (sentence: string) => new UntildoneError('usage', sentence);

export const drivenHosts = hosts.flatMap(({ name, driver }) =>
  driver === undefined ? [] : [name],
);

/**
 * The program that the arguments or the resumed session name. Null: our own agent does
 * the work.
 */
export async function drivenAgent(
  given: Arguments,
  io: Io,
  { settings, origins }: Readonly<{ settings: Settings; origins: Origins }>,
  resumed: State | null,
): Promise<DrivenAgent | null> {
  const drivenBefore = resumed?.descriptor.driven ?? null;
  const name = given.text('with') ?? drivenBefore?.host ?? null;
  if (name === null && given.passedOn.length > 0)
    throw usageError(
      'What stands behind `--` is for the program that --with names, and none is named.',
    );
  if (name === null) return null;
  // A plan that was moved here has no conversation with any program yet.
  if (resumed !== null && hasSpoken(resumed) && drivenBefore?.host !== name) {
    const whose =
      drivenBefore === null ? 'the agent of untildone' : hostTitle(drivenBefore.host);
    throw usageError(
      `Session ${nameSession(resumed)} was begun with ${whose} and goes on with it: leave --with out.`,
    );
  }
  const driver = await hostOf(name)?.driver?.();
  const closest =
    drivenHosts.find((one) => one.startsWith(name)) ?? closestName(name, drivenHosts);
  const guess = closest === null ? '' : ` Did you mean ${closest}?`;
  if (driver === undefined)
    throw usageError(
      `--with ${escapeForTerminal(name, 40)}: not a program that can be driven.${guess} Known are ${drivenHosts.join(', ')}.`,
    );
  refuseForeign(given, driver, settings, origins);
  const program = findProgram(driver.program, io.env);
  if (program === null)
    throw usageError(
      `${driver.title} was not found on PATH (no program "${driver.program}"). To get it: ${driver.howToGet}`,
    );
  const incomplete = whyNotShipped(shippedFolder(), [
    'hook.js',
    'host-commands.js',
    'server.js',
  ]);
  if (incomplete !== null) throw usageError(incomplete);
  const namedModel = origins['model'] === 'flag' ? settings.model : given.text('model');
  return {
    driver,
    program,
    mode: modeOf(given) ?? (drivenBefore?.mode as DriveMode | undefined) ?? 'edit',
    model: namedModel ?? resumed?.agent.model ?? null,
    flags: given.passedOn.length > 0 ? given.passedOn : (drivenBefore?.flags ?? []),
    conversation: drivenBefore?.id ?? null,
  };
}

function modeOf(given: Arguments): DriveMode | null {
  if (given.has('read-only') && given.has('auto'))
    throw usageError('--read-only and --auto contradict each other.');
  if (given.has('auto')) return 'auto';
  return given.has('read-only') ? 'read-only' : null;
}

/** These settings act in every run; all others of `run` are only for our own agent. */
const forEveryRun: readonly string[] = ['baselineSeconds', 'liveView', 'model'];

function refuseForeign(
  given: Arguments,
  { title, reports }: HostDriver,
  settings: Settings,
  origins: Origins,
) {
  const asks = ['ask', 'allow-list'].find((mode) => given.has(mode));
  if (asks !== undefined)
    throw usageError(
      `--${asks} is for the agent of untildone: ${title} asks nobody here. --read-only and --auto work.`,
    );
  const isForeign = (path: string) => {
    const name = path.split('.')[0] as keyof Settings;
    const { actsIn } = settingTable[name] ?? { actsIn: [] };
    return (
      origins[path] === 'flag' && String(actsIn) === 'run' && !forEveryRun.includes(name)
    );
  };
  const foreign = Object.keys(origins).find(isForeign);
  if (foreign !== undefined)
    throw usageError(
      `${foreign} is for the agent of untildone; ${title} has settings of its own, and takes flags behind \`--\`.`,
    );
  const budgets = [
    ['maxTokens', 'tokens'],
    ['maxCost', 'cost'],
  ] as const;
  for (const [name, measure] of budgets)
    if (settings[name] !== null && !reports[measure])
      throw usageError(
        `${name} is set, but ${title} does not tell its ${measure}: this limit would never be reached. maxMinutes works.`,
      );
}
