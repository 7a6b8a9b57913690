// Commands that a human types inside the host: how things stand, pause, resume, why. They are answered here from the
// record, without a shell and without a model; an agent has no way to type one. The host knows no command that is only
// answered, so that whoever handles one breaks it off with an error that nobody is shown.
import type { Decision } from '../../core/decision.ts';
import { oneLine } from '../../core/safe-text.ts';
import { countPlan, nextTodos, openCount, planSize, type Session } from '../../core/state.ts';
import { hostId, type Plugin, type SessionMemory, speakerOf } from './host.ts';
import type { ConfigLike } from './translate.ts';

type Answer = (plugin: Plugin, memory: SessionMemory, words: string) => Promise<string>;

const nothingYet = 'untildone has seen nothing of this session yet.';

const commands: Readonly<Record<string, { readonly description: string; readonly answer: Answer }>> = {
  'untildone-status': {
    description: 'Shows the plan, what untildone does or waits for, and its last decision',
    answer: describeStanding,
  },
  'untildone-why': {
    description: 'Explains the last decision of untildone in this session',
    async answer(plugin, memory) {
      const last = await lastDecision(plugin, memory);
      return last === null ? nothingYet : describeDecision(last);
    },
  },
  'untildone-pause': {
    description: 'No continuations in this session until untildone-resume',
    async answer({ told }, memory, words) {
      await told.tell(memory, { type: 'human-paused', reason: oneLine(words, 300) || null });
      return 'Paused: untildone sends nothing in this session until /untildone-resume.';
    },
  },
  'untildone-resume': {
    description: 'Lifts a pause or a stop in this session',
    async answer({ told }, memory) {
      const session = await told.record(memory);
      if (session === null || (session.latch === null && session.pause === null))
        return 'This session is neither paused nor stopped; nothing was changed.';
      const handled = await told.tell(memory, { type: 'human-resumed' });
      return `Resumed. ${handled?.decision?.sentence ?? ''}`.trim();
    },
  },
};

/** A command of the human's own with the same name stays theirs. */
export function addCommands(config: ConfigLike): void {
  config.command ??= {};
  for (const [name, { description }] of Object.entries(commands))
    config.command[name] ??= { template: `/${name}`, description: `${description} (no model is asked)` };
}

export function isOurCommand(name: string): boolean {
  return Object.hasOwn(commands, name);
}

/**
 * As a message of its own where the session sits idle, which no model is asked about; as a toast while it works, because
 * a message would be taken for one to answer.
 */
export async function answerCommand(plugin: Plugin, id: string, name: string, words: string): Promise<void> {
  const { told, calls, clock, headless, voice } = plugin;
  if (name === 'untildone-resume') told.of(id).holds.clear();
  await told.after(id, async (memory) => {
    const text = (await commands[name]?.answer(plugin, memory, words)) ?? '';
    const session = headless || memory.busy ? null : await told.record(memory);
    if (session !== null) {
      const messageID = hostId('msg', told.identifiers.next(), clock.now());
      const part = { type: 'text', text, ignored: true, metadata: { untildone: { notice: true } } } as const;
      if ((await calls.show(id, { messageID, ...speakerOf(session), parts: [part] })) === null) return;
    }
    await voice.notify({ level: 'info', title: `/${name}`, message: text });
  });
}

async function lastDecision({ told }: Plugin, { stored }: SessionMemory): Promise<Decision | null> {
  const [last] = await told.store().decisions(stored, 1);
  return last?.decision ?? null;
}

/** Open todos that are named. */
const namedTodos = 3;

async function describeStanding(plugin: Plugin, memory: SessionMemory): Promise<string> {
  const { told, clock } = plugin;
  const session = await told.record(memory);
  if (session === null) return nothingYet;
  const { plan, counters } = session;
  const counts = countPlan(plan);
  const last = await lastDecision(plugin, memory);
  const blocked = counts.blocked > 0 ? `, ${counts.blocked} blocked` : '';
  return [
    `untildone: ${describeState(session, clock.now())}`,
    `plan: ${planSize(counts)} todos, ${openCount(counts)} open${blocked}`,
    ...nextTodos(plan, namedTodos).map(({ title }) => `next: ${oneLine(title, 120)}`),
    `continuations since your last message: ${counters.total}, ${counters.stagnant} of them without progress`,
    ...(last === null ? [] : [`last decision: ${oneLine(last.sentence, 300)}`]),
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
