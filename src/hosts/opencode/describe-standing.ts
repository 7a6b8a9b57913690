// How a session stands and why it was decided so, in a few lines for a human inside the host. From the record alone.
import type { Decision } from '../../core/decision.ts';
import { noNeeds } from '../../core/rows.ts';
import { oneLine } from '../../core/safe-text.ts';
import { openCount, planSize, type Session } from '../../core/session.ts';
import type { StoreReader } from '../../engine/store.ts';

/** Open todos that are named. */
const namedTodos = 3;

export async function describeStanding(reader: StoreReader, session: Session, now: number): Promise<string> {
  const { counts, counters } = session;
  const { next } = await reader.rows(session, { ...noNeeds, next: namedTodos });
  const [last] = await reader.decisions(session.id, 1);
  const blocked = counts.blocked > 0 ? `, ${counts.blocked} blocked` : '';
  return [
    `untildone: ${describeState(session, now)}`,
    `plan: ${planSize(counts)} todos, ${openCount(counts)} open${blocked}`,
    ...next.map(({ title }) => `next: ${oneLine(title, 120)}`),
    `continuations since your last message: ${counters.total}, ${counters.stagnant} of them without progress`,
    ...(last === undefined ? [] : [`last decision: ${oneLine(last.decision.sentence, 300)}`]),
  ].join('\n');
}

function describeState({ latch, pause, parked, timer, settled, turn }: Session, now: number): string {
  if (latch !== null) return 'stopped by you; a message or /untildone-resume lifts that';
  if (pause?.by === 'human') return 'paused by you; /untildone-resume lifts that';
  if (pause !== null) return `paused${pause.reason === null ? '' : `: ${oneLine(pause.reason, 200)}`}`;
  if (timer !== null && parked !== null)
    return `goes on in ${Math.max(0, Math.ceil((timer.dueAt - now) / 1000))} s`;
  if (parked !== null) return `waits (${oneLine(parked.cause, 60)})`;
  if (settled !== null) return `the last turn ended as ${settled.outcome}`;
  return turn === null || turn.ended ? 'idle' : 'watches the agent at work';
}

export function describeDecision({ answer, reason, sentence, outcome, inputs, observed }: Decision): string {
  const looked = Object.entries(inputs).map(([name, value]) => `${name} ${oneLine(String(value), 80)}`);
  return [
    `untildone: ${observed ? 'would have answered' : 'answered'} ${answer} (${reason})`,
    oneLine(sentence, 300),
    ...(outcome === null ? [] : [`outcome: ${outcome}`]),
    ...(looked.length === 0 ? [] : [`it looked at: ${oneLine(looked.join(', '), 500)}`]),
    '`untildone why` in a terminal lists every rule.',
  ].join('\n');
}
