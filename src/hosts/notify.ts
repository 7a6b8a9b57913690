// Tells the human of a host's session that ended or asks them something, as they said at
// their last message. A program that nobody waits for does it: a hook goes on at once,
// and may be gone before an address has answered.
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
 * `told`: of which turn and outcome each session was told last; a host may tell of one
 * stop twice.
 */
type Place = Readonly<{
  store: Pick<Store, 'policy'>;
  environment: Environment;
  told?: Map<string, string> | undefined;
}>;
export type Watched = Pick<
  Session,
  'id' | 'title' | 'descriptor' | 'policyHash' | 'updatedAt'
> &
  Partial<Pick<Session, 'turn'>>;

/** Resolves when the notice is on its way. */
export async function tellHuman(
  { store, environment, told }: Place,
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
  const given = JSON.stringify({ notice, command, webhook });
  const built = [
    './notify.js',
    './plugin/programs/notify.js',
    '../plugin/programs/notify.js',
  ];
  const file = findProgram(import.meta.url, built, [
    './notify.ts',
    '../programs/notify.ts',
  ]);
  if (file !== null)
    startProgram(file, [], { ...environment, [ownVariables.notice]: given }, homedir());
  else await sendNotice({ ...environment, [ownVariables.notice]: given });
}

/** What fails is one line of the log of hooks, and disturbs nobody. */
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
