// OpenCode without a process: keeps sessions, messages and todos, answers a plugin's
// calls, and tells it what happens in the order and the shapes that were recorded from
// the real one. It has no model: whoever drives it says what it does.
import type {
  HooksLike,
  PluginInputLike,
  PluginLike,
  PromptBodyLike,
} from '../../src/hosts/opencode/translate.ts';

type Fields = Readonly<Record<string, unknown>>;

interface FakeSession {
  readonly info: Fields;
  readonly messages: { info: Fields; parts: readonly Fields[] }[];
  todos: Fields[];
  isBusy: boolean;
  agent: string;
  /** The newest message that the model answers. */
  asked: string;
}

export interface FakeOpencode {
  /** Texts of continuations, in the order in which the host took them. */
  injected(sessionId: string): readonly string[];
  open(sessionId: string, parentId: string | null, agent: string): Promise<void>;
  says(sessionId: string, text: string): Promise<void>;
  calls(sessionId: string, tool: string): Promise<void>;
  writesTodos(sessionId: string, todos: readonly Fields[]): Promise<void>;
  todos(sessionId: string): readonly Fields[];
  /** From an earlier process, without a word. */
  keepsTodos(sessionId: string, todos: readonly Fields[]): void;
  /** Everything that stands in the session, as the host shows it. */
  messages(
    sessionId: string,
  ): readonly { readonly info: Fields; readonly parts: readonly Fields[] }[];
  readonly toasts: readonly Fields[];
  /** From now on it answers that it took a message, and does not begin with it. */
  hesitates(): void;
  /** Sessions whose work the plugin ended. */
  readonly endedByPlugin: readonly string[];
  /** A step with this text ends the turn. */
  answers(sessionId: string, text: string): Promise<void>;
  idles(sessionId: string): Promise<void>;
  aborts(sessionId: string): Promise<void>;
  tells(type: string, properties: Fields): Promise<void>;
  /** Resolves when the plugin has taken in what it was told of the session. */
  flush(sessionId: string): Promise<void>;
  hooks: HooksLike;
}

const model = { providerID: 'scripted', modelID: 'first' };
/** As the host gives them: the last match wins. */
const anything = { permission: '*', pattern: '*', action: 'allow' };
const agents = [
  { name: 'build', mode: 'primary', permission: [anything] },
  {
    name: 'reader',
    mode: 'primary',
    permission: [anything, { permission: 'edit', pattern: '*', action: 'deny' }],
  },
];

export async function startFakeOpencode(
  plugin: PluginLike,
  directory: string,
  now: () => number,
): Promise<FakeOpencode> {
  const sessions = new Map<string, FakeSession>();
  const toasts: Fields[] = [];
  const endedByPlugin: string[] = [];
  let isHesitating = false;
  let count = 0;
  const of = (id: string): FakeSession => {
    const session = sessions.get(id);
    if (session === undefined) throw new Error(`There is no session ${id}.`);
    return session;
  };
  /** Rises like the host's own. */
  const nextId = (prefix: string): string => {
    count += 1;
    const time = ((BigInt(now()) * 4096n + BigInt(count)) & ((1n << 48n) - 1n))
      .toString(16)
      .padStart(12, '0');
    return `${prefix}_${time}${String(count).padStart(14, '0')}`;
  };
  const tells = async (type: string, properties: Fields): Promise<void> => {
    await hooks.event?.({ event: { id: nextId('evt'), type, properties } });
  };
  const turnsBusy = async (sessionID: string): Promise<void> => {
    of(sessionID).isBusy = true;
    await tells('session.status', { sessionID, status: { type: 'busy' } });
  };

  async function takeMessage(
    sessionID: string,
    info: Fields,
    said: readonly Fields[],
  ): Promise<void> {
    const session = of(sessionID);
    const parts = [...said];
    session.asked = String(info['id']);
    await hooks['chat.message']?.({ sessionID }, { message: info, parts });
    keep(session, info, parts);
    await tells('message.updated', { sessionID, info });
    await turnsBusy(sessionID);
  }

  /** A message with a known id replaces the one that was there. */
  function keep({ messages }: FakeSession, info: Fields, parts: readonly Fields[]): void {
    const known = messages.findIndex((message) => message.info['id'] === info['id']);
    messages.splice(known < 0 ? messages.length : known, known < 0 ? 0 : 1, {
      info,
      parts,
    });
  }

  const answer = async (data: unknown) => ({ data });
  async function prompt(
    sessionID: string,
    { messageID, agent, parts }: PromptBodyLike,
  ): Promise<void> {
    const info = {
      id: messageID ?? nextId('msg'),
      sessionID,
      role: 'user',
      agent: agent ?? 'build',
      model,
    };
    await takeMessage(
      sessionID,
      info,
      parts.map((part) => ({ ...part, messageID: info.id })),
    );
  }
  const client: PluginInputLike['client'] = {
    session: {
      get: ({ path }) => answer(sessions.get(path.id)?.info ?? null),
      todo: ({ path }) => answer(of(path.id).todos),
      messages: ({ path }) => answer(of(path.id).messages),
      status: () =>
        answer(
          Object.fromEntries(
            [...sessions]
              .filter(([, { isBusy }]) => isBusy)
              .map(([id]) => [id, { type: 'busy' }]),
          ),
        ),
      async prompt({ path, body: { messageID, agent, parts } }) {
        const info = {
          id: messageID ?? nextId('msg'),
          sessionID: path.id,
          role: 'user',
          agent,
          model,
        };
        const kept = parts.map((one) => ({ ...one, messageID: info.id }));
        await hooks['chat.message']?.(
          { sessionID: path.id },
          { message: info, parts: kept },
        );
        keep(of(path.id), info, kept);
        return {};
      },
      async promptAsync({ path, body }) {
        if (!isHesitating) await prompt(path.id, body);
        return {};
      },
      async abort({ path }) {
        endedByPlugin.push(path.id);
        const error = { name: 'MessageAbortedError', data: { message: 'Aborted' } };
        await tells('session.error', { sessionID: path.id, error });
        return {};
      },
    },
    app: { agents: () => answer(agents) },
    tui: {
      showToast({ body }) {
        toasts.push(body);
        return answer(true);
      },
    },
  };
  const hooks = await plugin({ client, directory });
  await hooks.config?.({});

  const part = (sessionID: string, fields: Fields): Promise<void> =>
    tells('message.part.updated', {
      part: { id: nextId('prt'), sessionID, ...fields },
      sessionID,
    });

  async function calls(
    sessionID: string,
    tool: string,
    during?: () => Promise<void>,
  ): Promise<void> {
    const callID = nextId('call');
    const messageID = nextId('msg');
    const info = {
      id: messageID,
      sessionID,
      role: 'assistant',
      parentID: of(sessionID).asked,
    };
    await tells('message.updated', { sessionID, info });
    await part(sessionID, { type: 'step-start', messageID });
    await part(sessionID, {
      type: 'tool',
      messageID,
      callID,
      tool,
      state: { status: 'running' },
    });
    await during?.();
    await hooks['tool.execute.after']?.({ tool, sessionID, callID }, { output: 'done' });
    await part(sessionID, {
      type: 'tool',
      messageID,
      callID,
      tool,
      state: { status: 'completed' },
    });
    await part(sessionID, { type: 'step-finish', messageID, reason: 'tool-calls' });
  }

  return {
    hooks,
    tells,
    toasts,
    endedByPlugin,
    messages: (sessionId) => of(sessionId).messages,
    hesitates() {
      isHesitating = true;
    },
    calls: (sessionId, tool) => calls(sessionId, tool),
    injected: (sessionId) =>
      of(sessionId).messages.flatMap(({ parts }) =>
        parts
          .filter(({ synthetic }) => synthetic === true)
          .map(({ text }) => String(text)),
      ),
    async open(sessionID, parentID, agent) {
      const info = {
        id: sessionID,
        directory,
        ...(parentID === null ? {} : { parentID }),
      };
      sessions.set(sessionID, {
        info,
        messages: [],
        todos: [],
        isBusy: false,
        agent,
        asked: '',
      });
      await tells('session.created', { sessionID, info });
    },
    async says(sessionID, text) {
      const info = {
        id: nextId('msg'),
        sessionID,
        role: 'user',
        agent: of(sessionID).agent,
        model,
      };
      await takeMessage(sessionID, info, [{ type: 'text', text, messageID: info.id }]);
    },
    async writesTodos(sessionID, todos) {
      await calls(sessionID, 'todowrite', async () => {
        of(sessionID).todos = [...todos];
        await tells('todo.updated', { sessionID, todos });
      });
    },
    keepsTodos(sessionId, todos) {
      of(sessionId).todos = [...todos];
    },
    todos: (sessionId) => of(sessionId).todos,
    async answers(sessionID, text) {
      const session = of(sessionID);
      if (!session.isBusy) await turnsBusy(sessionID);
      const messageID = nextId('msg');
      const info = {
        id: messageID,
        sessionID,
        role: 'assistant',
        parentID: session.asked,
      };
      await tells('message.updated', { sessionID, info });
      await part(sessionID, { type: 'step-start', messageID });
      await part(sessionID, {
        type: 'text',
        messageID,
        text,
        time: { start: now(), end: now() },
      });
      await part(sessionID, {
        type: 'step-finish',
        messageID,
        reason: 'stop',
        tokens: { input: 9, output: 9 },
      });
      session.messages.push({
        info: { ...info, finish: 'stop' },
        parts: [{ type: 'text', text }],
      });
      await tells('message.updated', { sessionID, info: { ...info, finish: 'stop' } });
    },
    async idles(sessionID) {
      of(sessionID).isBusy = false;
      await tells('session.status', { sessionID, status: { type: 'idle' } });
      await tells('session.idle', { sessionID });
    },
    async aborts(sessionID) {
      const error = { name: 'MessageAbortedError', data: { message: 'Aborted' } };
      const info = {
        id: nextId('msg'),
        sessionID,
        role: 'assistant',
        parentID: of(sessionID).asked,
      };
      of(sessionID).isBusy = false;
      await tells('session.idle', { sessionID });
      await tells('session.error', { sessionID, error });
      await tells('message.updated', { sessionID, info: { ...info, error } });
      await tells('session.idle', { sessionID });
    },
    // The host waits for this hook, and the hook for what was told before.
    flush: async (sessionID) =>
      hooks['tool.execute.after']?.(
        { tool: 'todowrite', sessionID, callID: 'none' },
        { output: '' },
      ),
  };
}
