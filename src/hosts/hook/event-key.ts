// Ids of events that come from hooks: made from the payload alone, so that the same call delivered twice is one
// event. They also say what happened in which prompt, which trail.ts reads back.

/** `work` and `stop` by the main agent; `side`: what says nothing about where its turn stands. */
export const eventKinds = ['prompt', 'work', 'stop', 'failure', 'open', 'side', 'list', 'gate'] as const;
export type EventKind = (typeof eventKinds)[number];

export interface EventOrigin {
  readonly host: string;
  readonly sessionId: string;
  readonly promptId: string | null;
}

/** Longer details, and those that could be taken for a border, are told by their hash. */
const plainDetail = /^[\w.:-]{1,64}$/u;

export function eventKey(origin: EventOrigin, kind: EventKind, detail: string): string {
  const told = plainDetail.test(detail) ? detail : shortHash(detail);
  return [origin.host, origin.sessionId, origin.promptId ?? '', kind, told].join('/');
}

/** Null: the event did not come from a hook of this host and session. */
export function readEventKey(
  id: string,
  host: string,
  sessionId: string,
): { readonly promptId: string | null; readonly kind: EventKind } | null {
  const prefix = `${host}/${sessionId}/`;
  if (!id.startsWith(prefix)) return null;
  const [promptId = '', kind] = id.slice(prefix.length).split('/');
  const known = eventKinds.find((name) => name === kind);
  return known === undefined ? null : { promptId: promptId === '' ? null : promptId, kind: known };
}

export function shortHash(text: string): string {
  // Loaded here and not above: most calls need no hash, and the module costs a hook a tenth of its time.
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Our id for a todo of a host's list: unique everywhere, and the same however we learn of the todo. */
export function todoIdOf(sessionId: string, todoKey: string): string {
  return `${sessionId}/${todoKey}`;
}
