// Commands that a human types inside the host: how things stand, pause, resume, why. They are answered here, without a
// shell and without a model; an agent has no way to type one. The host knows no command that is only answered, so that
// whoever handles one breaks it off with an error that nobody is shown.
import { oneLine } from '../../core/safe-text.ts';
import { describeDecision, describeStanding } from './describe-standing.ts';
import { type PluginContext, readSessionRecord, tell } from './plugin-context.ts';
import type { ConfigLike } from './plugin-types.ts';
import type { SessionMemory } from './session-memory.ts';

interface PluginCommand {
  readonly description: string;
  answer(context: PluginContext, memory: SessionMemory, words: string): Promise<string>;
}

const commands: Readonly<Record<string, PluginCommand>> = {
  'untildone-status': {
    description: 'Shows the plan, what untildone does or waits for, and its last decision',
    answer: showStatus,
  },
  'untildone-why': {
    description: 'Explains the last decision of untildone in this session',
    answer: showReason,
  },
  'untildone-pause': {
    description: 'No continuations in this session until untildone-resume',
    answer: pause,
  },
  'untildone-resume': {
    description: 'Lifts a pause or a stop in this session',
    answer: resume,
  },
};

/** A command of the human's own with the same name stays theirs. */
export function addCommands(config: ConfigLike): void {
  config.command ??= {};
  for (const [name, { description }] of Object.entries(commands))
    config.command[name] ??= { template: `/${name}`, description: `${description} (no model is asked)` };
}

/** Null: not one of ours. */
export function findCommand(name: string): PluginCommand | null {
  return Object.hasOwn(commands, name) ? (commands[name] ?? null) : null;
}

const nothingYet = 'untildone has seen nothing of this session yet.';

async function showStatus(context: PluginContext, memory: SessionMemory): Promise<string> {
  const session = await readSessionRecord(context, memory.id);
  if (session === null) return nothingYet;
  return context.store.read((reader) => describeStanding(reader, session, context.clock.now()));
}

async function showReason(context: PluginContext, memory: SessionMemory): Promise<string> {
  const [last] = await context.store.read(async (reader) => reader.decisions(memory.id, 1));
  return last === undefined ? nothingYet : describeDecision(last.decision);
}

async function pause(context: PluginContext, memory: SessionMemory, words: string): Promise<string> {
  const reason = oneLine(words, 300) || null;
  const detail = `paused/${context.identifiers.next()}`;
  await tell(context, memory, detail, { type: 'human-paused', reason });
  return 'Paused: untildone sends nothing in this session until /untildone-resume.';
}

async function resume(context: PluginContext, memory: SessionMemory): Promise<string> {
  const session = await readSessionRecord(context, memory.id);
  if (session === null || (session.latch === null && session.pause === null))
    return 'This session is neither paused nor stopped; nothing was changed.';
  const detail = `resumed/${context.identifiers.next()}`;
  const { decision } = await tell(context, memory, detail, { type: 'human-resumed' });
  return `Resumed. ${decision === null ? '' : decision.sentence}`.trim();
}
