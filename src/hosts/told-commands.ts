// Answers commands that a human types in a host that tells us when it idles: from the
// record, without a model. An agent cannot type one.
import type { Decision } from '../core/decision.ts';
import { oneLine } from '../core/safe-text.ts';
import {
  countPlan,
  hadEndedOtherwise,
  nextTodos,
  openCount,
  planSize,
  type State,
} from '../core/state.ts';
import type { HostConnection } from './told.ts';

/** The commands, with what each does. */
export const commands = {
  'untildone-status':
    'Shows the plan, what untildone does or waits for, and its last decision',
  'untildone-why': 'Explains the last decision of untildone in this session',
  'untildone-pause': 'Tells the agent nothing in this session until untildone-resume',
  'untildone-resume': 'Ends a pause or a stop in this session',
};
export type CommandName = keyof typeof commands;
export const commandNames = Object.keys(commands) as readonly CommandName[];
const nothingYet = 'untildone has seen nothing of this session yet.';

type Command = Readonly<{ id: string; name: CommandName; words: string; now: number }>;

/**
 * Carries out a command and gives the answer for the human.
 * @param command `id`: the session; `words`: what the human wrote behind the name
 */
export async function answerCommand<Own extends object>(
  told: HostConnection<Own>,
  command: Command,
): Promise<string> {
  const { id, name, words, now } = command;
  const { memory, after, record, tell } = told.follow(id);
  if (name === 'untildone-resume') memory.holds.clear();
  const answer = await after(async () => {
    const session = await record();
    const decision = (await told.store().decisions(memory.stored, 1))[0]?.decision;
    switch (name) {
      case 'untildone-status':
        return session === null ? nothingYet : describeStanding(session, decision, now);
      case 'untildone-why':
        return decision === undefined ? nothingYet : describeDecision(decision);
      case 'untildone-pause':
        await tell({ type: 'human-paused', reason: oneLine(words, 300) || null });
        return 'Paused: untildone tells the agent nothing in this session until /untildone-resume.';
      case 'untildone-resume': {
        if (!session?.latch && !session?.pause)
          return 'This session is neither paused nor stopped; nothing was changed.';
        const resumed = await tell({ type: 'human-resumed' });
        return `Resumed. ${resumed.decision?.sentence ?? ''}`.trim();
      }
    }
  });
  return answer ?? 'untildone could not do that; its log says why.';
}

function describeStanding(
  session: State,
  last: Decision | undefined,
  now: number,
): string {
  const { plan, counters } = session;
  const counts = countPlan(plan);
  const blocked = counts.blocked > 0 ? `, ${counts.blocked} blocked` : '';
  return [
    `untildone: ${describeState(session, now)}`,
    `plan: ${planSize(counts)} todos, ${openCount(counts)} open${blocked}`,
    ...nextTodos(plan, 3).map(({ title }) => `next: ${oneLine(title, 120)}`),
    `continuations since your last message: ${counters.total}, ${counters.stagnant} of them without progress`,
    last && `last decision: ${oneLine(last.sentence, 300)}`,
  ]
    .filter(Boolean)
    .join('\n');
}

function describeState(session: State, now: number): string {
  const { latch, settled } = session;
  const hold = describeHold(session);
  if (hold === null) return describeWork(session, now);
  const cameAfterEnd = hadEndedOtherwise(session, latch === null ? 'paused' : 'aborted');
  return cameAfterEnd && settled !== null
    ? `the last turn ended as ${settled.outcome}; ${hold}`
    : hold;
}

function describeHold({ latch, pause }: State): string | null {
  if (latch !== null)
    return 'stopped by you; send a message or /untildone-resume to go on';
  if (pause?.by === 'human') return 'paused by you; /untildone-resume goes on';
  if (pause !== null)
    return `paused${pause.reason === null ? '' : `: ${oneLine(pause.reason, 200)}`}`;
  return null;
}

function describeWork({ parked, timer, settled, turn }: State, now: number): string {
  if (timer !== null && parked !== null)
    return `goes on in ${Math.max(0, Math.ceil((timer.dueAt - now) / 1000))} s`;
  if (parked !== null) return `waiting (${parked.cause})`;
  if (settled !== null) return `the last turn ended as ${settled.outcome}`;
  return turn === null || turn.ended ? 'idle' : 'watching the agent work';
}

const answers = {
  continue: 'the agent was sent on',
  wait: 'it waits',
  'let-go': 'the agent may stop',
} as const;

function describeDecision({
  answer,
  reason,
  sentence,
  outcome,
  inputs,
  observed,
}: Decision): string {
  const looked = Object.entries(inputs).map(
    ([name, value]) => `${name} ${oneLine(String(value), 80)}`,
  );
  return [
    `untildone: ${observed ? 'only watching; else ' : ''}${answers[answer]} (${reason})`,
    oneLine(sentence, 300),
    outcome && `outcome: ${outcome}`,
    looked.length > 0 && `it looked at: ${oneLine(looked.join(', '), 500)}`,
    '`untildone why` in a terminal lists every rule.',
  ]
    .filter(Boolean)
    .join('\n');
}
