// One session of the host over HTTP, as a person's client drives it: messages, aborts,
// answers to questions; and what the host shows of it. It reads nothing of our own
// record.
import { waitUntil } from '../harness/wait-until.ts';
import type { HostEvent, Serve } from './serve.ts';

export interface HostTodo {
  readonly content: string;
  readonly status: string;
}

export interface HostPart {
  readonly type: string;
  readonly text?: string;
  readonly synthetic?: boolean;
  /** Shown to people and never to the model. */
  readonly ignored?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tool?: string;
  readonly state?: {
    readonly status: string;
    readonly output?: string;
    readonly error?: string;
  };
}

export interface HostMessage {
  readonly info: {
    readonly id: string;
    readonly role: 'user' | 'assistant';
    readonly agent?: string;
    readonly model?: {
      readonly providerID: string;
      readonly modelID: string;
      readonly variant?: string;
    };
    readonly finish?: string;
    readonly error?: { readonly name: string };
    readonly time: { readonly created: number; readonly completed?: number };
  };
  readonly parts: readonly HostPart[];
}

export interface MessageOptions {
  readonly agent?: string;
  readonly model?: string;
  readonly variant?: string;
}

export interface Conversation {
  readonly id: string;
  readonly directory: string;
  /** Resolves when the host took it, long before the answer. */
  say(text: string, options?: MessageOptions): Promise<void>;
  abort(): Promise<void>;
  command(name: string, words?: string): Promise<void>;
  compact(model?: string): Promise<void>;
  remove(): Promise<void>;
  reply(permission: string, reply: 'once' | 'always' | 'reject'): Promise<void>;
  rejectQuestion(question: string): Promise<void>;
  answerQuestion(question: string, answer: string): Promise<void>;
  /** Events of this session that the test received, oldest first. */
  events(type?: string): readonly HostEvent[];
  waitFor(type: string, count?: number, seconds?: number): Promise<HostEvent>;
  /** Idle now, and so many turns have ended since the session began. */
  waitForTurns(count: number, seconds?: number): Promise<void>;
  messages(): Promise<readonly HostMessage[]>;
  todos(): Promise<readonly HostTodo[]>;
  children(): Promise<readonly { readonly id: string }[]>;
}

export async function openConversation(
  serve: Serve,
  directory: string,
): Promise<Conversation> {
  const { id } = await serve.call<{ id: string }>(directory, 'POST', '/session', {
    title: 'A test',
  });
  return joinConversation(serve, directory, id);
}

/** A session that exists already, in another life of the host for instance. */
export function joinConversation(
  serve: Serve,
  directory: string,
  id: string,
): Conversation {
  const call = <Answer>(method: string, path: string, body?: object): Promise<Answer> =>
    serve.call<Answer>(directory, method, path, body);
  const events = (type?: string): readonly HostEvent[] =>
    serve.events.filter(
      (event) => sessionOf(event) === id && (type === undefined || event.type === type),
    );
  const waitFor = async (type: string, count = 1, seconds = 60): Promise<HostEvent> => {
    await waitUntil(`${type} ${count}×`, () => events(type).length >= count, seconds);
    return events(type)[count - 1]!;
  };
  return {
    id,
    directory,
    events,
    waitFor,
    async say(text, { agent = 'build', model = 'first', variant } = {}) {
      await call('POST', `/session/${id}/prompt_async`, {
        agent,
        model: { providerID: 'scripted', modelID: model },
        ...(variant === undefined ? {} : { variant }),
        parts: [{ type: 'text', text }],
      });
    },
    abort: () => call('POST', `/session/${id}/abort`),
    async command(name, words = '') {
      // A plugin that keeps the model out of it can only throw, which the host answers
      // with 500 and its clients ignore.
      await call('POST', `/session/${id}/command`, {
        command: name,
        arguments: words,
      }).catch(() => {});
    },
    async compact(model = 'first') {
      await call('POST', `/session/${id}/summarize`, {
        providerID: 'scripted',
        modelID: model,
      });
    },
    remove: () => call('DELETE', `/session/${id}`),
    reply: (permission, reply) =>
      call('POST', `/permission/${permission}/reply`, { reply }),
    rejectQuestion: (question) => call('POST', `/question/${question}/reject`),
    answerQuestion: (question, answer) =>
      call('POST', `/question/${question}/reply`, { answers: [[answer]] }),
    async waitForTurns(count, seconds = 60) {
      await waitUntil(`${count} turns ended`, () => turnsOf(events()) >= count, seconds);
    },
    messages: () => call('GET', `/session/${id}/message`),
    todos: () => call('GET', `/session/${id}/todo`),
    children: () => call('GET', `/session/${id}/children`),
  };
}

function sessionOf({ properties }: HostEvent): unknown {
  return (
    properties['sessionID'] ??
    (properties['info'] as { sessionID?: string } | undefined)?.sessionID
  );
}

/** How often the session went from busy to idle: the host tells of some idles twice. */
function turnsOf(events: readonly HostEvent[]): number {
  let turns = 0;
  let isBusy = false;
  for (const { type, properties } of events) {
    if (type !== 'session.status') continue;
    const status = (properties['status'] as { type: string }).type;
    if (status === 'idle' && isBusy) turns += 1;
    isBusy = status !== 'idle';
  }
  return turns;
}
