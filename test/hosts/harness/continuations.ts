// Which continuations really reached the model: told from the requests that it got, never
// from our own record.
import type { LoggedRequest } from '../../../src/scripted-model/index.ts';

const marker = '[TODO CONTINUATION]';

/**
 * Every copy in the order of its arrival, from the marker on: one that is sent twice
 * counts twice.
 */
export function continuationsIn(requests: readonly LoggedRequest[]): readonly string[] {
  const seen = new Map<string, number>();
  return requests.flatMap((request) => {
    const copies = request.messages.flatMap(({ text }) =>
      text
        .split(marker)
        .slice(1)
        .map((rest) => `${marker}${rest}`),
    );
    // The history is sent whole with every request: only what was not in it before has
    // just arrived.
    const conversation = conversationOf(request);
    const known = seen.get(conversation) ?? 0;
    seen.set(conversation, copies.length);
    return copies.slice(known);
  });
}

/**
 * What the model was told since it last spoke, for each request of the work itself;
 * titles and summaries are none.
 */
export function toldTexts(requests: readonly LoggedRequest[]): readonly string[] {
  return requests
    .filter(({ isAside }) => !isAside)
    .map(({ messages }) => {
      const spoke = messages.findLastIndex(({ role }) => role === 'assistant');
      return messages
        .slice(spoke + 1)
        .map(({ text }) => text)
        .join('\n');
    });
}

/**
 * The session of the host and the script that answers it: a subagent has a script of its
 * own.
 */
function conversationOf({ headers, script, isAside }: LoggedRequest): string {
  const session = headers['x-claude-code-session-id'] ?? headers['x-session-id'] ?? '';
  return [session, script ?? '', isAside].join('|');
}
