// Notifies the human of a session that ended or asks them something, as their settings
// said at their last message. A detached program sends the notice: a hook exits at once,
// often before an address has answered.
import { homedir } from 'node:os';
import type { Moment } from '../core/decision.ts';
import { ownVariables } from '../core/own-variables.ts';
import type { Session } from '../core/state.ts';
import { createNotice, deliverNotice } from '../engine/notify.ts';
import { type Environment, frozenPolicy } from '../engine/policy.ts';
import { findProgram, startProgram } from '../engine/start-program.ts';
import type { Store } from '../engine/store.ts';
import { appendFailure } from './shared.ts';

/**
 * `told`: the turn and outcome of the last notice about each session, because a host may
 * report one stop twice.
 */
type NoticeContext = Readonly<{
  store: Pick<Store, 'policy'>;
  environment: Environment;
  told?: Map<string, string> | undefined;
}>;
/** What a notice says of a session. */
export type Watched = Pick<
  Session,
  'id' | 'title' | 'descriptor' | 'policyHash' | 'updatedAt'
> &
  Partial<Pick<Session, 'turn'>>;

/**
 * Starts the program that sends the notice, unless it was sent before or the human wants
 * none. Resolves when the notice is on its way.
 */
export async function sendHumanNotice(
  { store, environment, told }: NoticeContext,
  session: Watched,
  moment: Moment,
) {
  const key = `${session.turn?.id}:${moment.outcome}`;
  const isKnown =
    told?.get(session.id) === key && (moment.outcome !== null || moment.isApproval);
  told?.set(session.id, key);
  if (isKnown) return;
  const policy = await frozenPolicy(store, session);
  const { command = null, webhook = null, on = [] } = policy?.settings.notify ?? {};
  const notice = createNotice({ on }, session, { ...moment, at: session.updatedAt });
  if (notice === null || (command ?? webhook) === null) return;
  const packed = JSON.stringify({ notice, command, webhook });
  const builtFiles = [
    './notify.js',
    './plugin/programs/notify.js',
    '../plugin/programs/notify.js',
  ];
  const file = findProgram(import.meta.url, builtFiles, [
    './notify.ts',
    '../programs/notify.ts',
  ]);
  if (file !== null)
    startProgram(file, [], { ...environment, [ownVariables.notice]: packed }, homedir());
  else await sendNotice({ ...environment, [ownVariables.notice]: packed });
}

/**
 * Sends the notice that the environment holds. A failure is one line in the log of hooks
 * and disturbs nobody.
 */
export async function sendNotice({
  [ownVariables.notice]: given = '',
  ...environment
}: Environment) {
  const { notice, ...how } = JSON.parse(given);
  for (const sentence of await deliverNotice(notice, how, environment)) {
    const failure = Object.assign(new Error(sentence), { code: 'notify' });
    const { at, host, session: sessionId } = notice;
    appendFailure(environment, failure, { at, host, hook: null, sessionId });
  }
}
