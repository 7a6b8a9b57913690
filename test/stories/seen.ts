// What the tests look at in a story that was played: short names for the questions that
// many of them ask.
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import type { LoggedRequest } from '../../src/scripted-model/index.ts';
import type { Played } from './play.ts';

type EventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>;

export function eventsOf<Type extends AgentEvent['type']>(
  { events }: Pick<Played, 'events'>,
  type: Type,
): readonly EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

/** The kinds of the continuations, in order. */
export function continuations(played: Played): readonly string[] {
  return eventsOf(played, 'continuation').map(({ textKind }) => textKind);
}

/** The words of continuation `index` (from 0). */
export function continuationText(played: Played, index: number): string {
  return eventsOf(played, 'continuation')[index]?.text ?? '';
}

/** The requests that carried a continuation for the first time: one for each. */
export function continuedRequests({
  requests,
  events,
}: Played): readonly LoggedRequest[] {
  return events.flatMap((event) => {
    const first =
      event.type === 'continuation'
        ? requests.find((each) => heard(each).includes(event.text))
        : undefined;
    return first === undefined ? [] : [first];
  });
}

/**
 * All that was said to the model since it last spoke; the plan at the end is left out.
 */
export function heard({ messages }: LoggedRequest): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const texts = messages.slice(last + 1).filter(({ role }) => role === 'user');
  return texts.map(({ text }) => text.split('[CURRENT PLAN]')[0] ?? '').join('\n');
}

/** Everything in a request that a person or the system said, the plan included. */
export function userTexts({ messages }: LoggedRequest): readonly string[] {
  return messages.filter(({ role }) => role === 'user').map(({ text }) => text);
}

/** What a tool answered in the last results of a request. */
export function lastResults({
  messages,
}: LoggedRequest): readonly { text: string; isError: boolean }[] {
  return messages.findLast(({ role }) => role === 'tool')?.toolResults ?? [];
}

export function statuses({ todos }: Played): Readonly<Record<string, string>> {
  return Object.fromEntries(todos.map(({ title, status }) => [title, status]));
}

/** What the human read as the agent's answer. */
export function shownText(played: Pick<Played, 'events'>): string {
  return eventsOf(played, 'text')
    .map(({ text }) => text)
    .join('');
}

/** How it ended, in the form in which tests say what they expect. */
export function ending({ ended }: Played): {
  readonly outcome: string;
  readonly reason: string;
  readonly exitCode: number;
} {
  return { outcome: ended.outcome, reason: ended.reason, exitCode: ended.exitCode };
}
