// A plugin that makes the host lose the first continuation of each session after it was
// accepted: the call was answered with 204 and no turn follows, as with an agent that
// does not exist (trap 5). It leaves everything else alone.

interface Given {
  readonly sessionID: string;
}

interface Output {
  readonly parts: readonly { readonly metadata?: { readonly untildone?: unknown } }[];
}

// biome-ignore lint/style/noDefaultExport: the host's loader asks for it.
export default {
  id: 'deaf',
  async server() {
    const lost = new Set<string>();
    return {
      async 'chat.message'({ sessionID }: Given, { parts }: Output) {
        if (lost.has(sessionID) || !parts.some(({ metadata }) => metadata?.untildone))
          return;
        lost.add(sessionID);
        throw new Error('The host lost this message.');
      },
    };
  },
};
