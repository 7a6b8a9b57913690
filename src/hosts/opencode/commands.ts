// Commands that a human types inside the host, answered from the record without a model; an agent cannot type one. The host
// knows no command that is only answered: it is broken off with an error that nobody is shown.
import type { Decision } from '../../core/decision.ts';
import { oneLine } from '../../core/safe-text.ts';
import { countPlan, nextTodos, openCount, planSize, type State } from '../../core/state.ts';
import { messageOf, type Plugin, placeOf, type SessionMemory } from './host.ts';
import type { ConfigLike } from './translate.ts';

type Answer = (plugin: Plugin, memory: SessionMemory, words: string) => Promise<string>;
const nothingYet = 'untildone has seen nothing of this session yet.';
const commands: Readonly<Record<string, readonly [description: string, answer: Answer]>> = {
  'untildone-status': [
    'Shows the plan, what untildone does or waits for, and its last decision',
    async ({ told, clock }, memory) => {
      const session = await told.record(memory);
      const [last] = await told.store().decisions(memory.stored, 1);
      return session === null ? nothingYet : describeStanding(session, last?.decision, clock.now());
    },
  ],
  'untildone-why': [
    'Explains the last decision of untildone in this session',
    async ({ told }, { stored }) => {
      const [last] = await told.store().decisions(stored, 1);
      return last === undefined ? nothingYet : describeDecision(last.decision);
    },
  ],
  'untildone-pause': [
    'No continuations in this session until untildone-resume',
    async ({ told }, memory, words) => {
      await told.tell(memory, { type: 'human-paused', reason: oneLine(words, 300) || null });
      return 'Paused: untildone sends nothing in this session until /untildone-resume.';
    },
  ],
  'untildone-resume': [
    'Lifts a pause or a stop in this session',
    async ({ told }, memory) => {
      const session = await told.record(memory);
      if (session === null || (session.latch === null && session.pause === null))
        return 'This session is neither paused nor stopped; nothing was changed.';
      const { decision } = await told.tell(memory, { type: 'human-resumed' });
      return `Resumed. ${decision?.sentence ?? ''}`.trim();
    },
  ],
};

/** A command of the human's own with the same name stays theirs. */
export function addCommands(config: ConfigLike): void {
  config.command ??= {};
  for (const [name, [description]] of Object.entries(commands))
    config.command[name] ??= { template: `/${name}`, description: `${description} (no model is asked)` };
}
export const isOurCommand = (name: string): boolean => Object.hasOwn(commands, name);

/** While it works a message would be answered: then a toast. */
export async function answerCommand(plugin: Plugin, id: string, name: string, words: string): Promise<void> {
  const { told, calls, clock, headless, voice } = plugin;
  if (name === 'untildone-resume') told.of(id).holds.clear();
  await told.after(id, async (memory) => {
    const text = (await commands[name]?.[1](plugin, memory, words)) ?? '';
    const session = headless || memory.busy ? null : await told.record(memory);
    if (session !== null) {
      const part = { text, ignored: true, metadata: { untildone: { notice: true } } };
      const place = placeOf(told.identifiers.next(), clock.now());
      if ((await calls.show(id, messageOf(place, session, part))) === null) return;
    }
    await voice.show({ level: 'info', title: `/${name}`, message: text });
  });
}

function describeStanding(session: State, last: Decision | undefined, now: number): string {
  const { plan, counters } = session;
  const counts = countPlan(plan);
  const blocked = counts.blocked > 0 ? `, ${counts.blocked} blocked` : '';
  return [
    `untildone: ${describeState(session, now)}`,
    `plan: ${planSize(counts)} todos, ${openCount(counts)} open${blocked}`,
    ...nextTodos(plan, 3).map(({ title }) => `next: ${oneLine(title, 120)}`),
    `continuations since your last message: ${counters.total}, ${counters.stagnant} of them without progress`,
    ...(last === undefined ? [] : [`last decision: ${oneLine(last.sentence, 300)}`]),
  ].join('\n');
}

function describeState({ latch, pause, parked, timer, settled, turn }: State, now: number): string {
  if (latch !== null) return 'stopped by you; a message or /untildone-resume lifts that';
  if (pause?.by === 'human') return 'paused by you; /untildone-resume lifts that';
  if (pause !== null) return `paused${pause.reason === null ? '' : `: ${oneLine(pause.reason, 200)}`}`;
  if (timer !== null && parked !== null)
    return `goes on in ${Math.max(0, Math.ceil((timer.dueAt - now) / 1000))} s`;
  if (parked !== null) return `waits (${oneLine(parked.cause, 60)})`;
  if (settled !== null) return `the last turn ended as ${settled.outcome}`;
  return turn === null || turn.ended ? 'idle' : 'watches the agent at work';
}

function describeDecision({ answer, reason, sentence, outcome, inputs, observed }: Decision): string {
  const looked = Object.entries(inputs).map(([name, value]) => `${name} ${oneLine(String(value), 80)}`);
  return [
    `untildone: ${observed ? 'would have answered' : 'answered'} ${answer} (${reason})`,
    oneLine(sentence, 300),
    ...(outcome === null ? [] : [`outcome: ${outcome}`]),
    ...(looked.length === 0 ? [] : [`it looked at: ${oneLine(looked.join(', '), 500)}`]),
    '`untildone why` in a terminal lists every rule.',
  ].join('\n');
}
