// The plainest plugin that continues an agent: on idle with open todos it injects at
// once, a few times, and looks at nothing else. It shows what the host itself allows, and
// is what ours is measured against.

interface Client {
  readonly session: {
    todo(given: {
      path: { id: string };
    }): Promise<{ data?: readonly { readonly status: string }[] }>;
    promptAsync(given: { path: { id: string }; body: object }): Promise<unknown>;
  };
}

interface Given {
  readonly event: {
    readonly type: string;
    readonly properties: { readonly sessionID: string };
  };
}

/**
 * No limit of ours cuts in: this one keeps a model that never moves from going on for
 * ever.
 */
const most = 5;

// The host calls every export of a plugin file, so this is the only one.
// biome-ignore lint/style/noDefaultExport: the host's loader asks for it.
export default {
  id: 'bare',
  async server({ client }: { readonly client: Client }) {
    const sent = new Map<string, number>();
    return {
      async event({ event: { type, properties } }: Given) {
        if (type !== 'session.idle') return;
        const { sessionID: id } = properties;
        const { data: todos = [] } = await client.session.todo({ path: { id } });
        const count = sent.get(id) ?? 0;
        if (count >= most || todos.every(({ status }) => status === 'completed')) return;
        sent.set(id, count + 1);
        const text = '[TODO CONTINUATION] Go on.';
        const model = { providerID: 'scripted', modelID: 'first' };
        await client.session.promptAsync({
          path: { id },
          body: {
            agent: 'build',
            model,
            parts: [{ type: 'text', text, synthetic: true }],
          },
        });
      },
    };
  },
};
