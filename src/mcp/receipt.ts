// Receipts: the last line of every tool result, by which a host's hook finds out which session of ours a call was
// made in. A receipt names, in this order, the server process, the place that it worked in, and the moment of the call.

export interface Receipt {
  /** 16 hex digits; one server process. */
  readonly server: string;
  /** Which of the server's places the call was made in; see places.ts. */
  readonly place: number;
  /** 12 hex digits: every id that the call gave out starts with them. */
  readonly call: string;
}

const pattern = /^udr_([0-9a-f]{16})([0-9a-f]{4})([0-9a-f]{12})$/;

export function formatReceipt({ server, place, call }: Receipt): string {
  return `udr_${server}${place.toString(16).padStart(4, '0')}${call}`;
}

/** Null: this is no receipt of ours. */
export function parseReceipt(text: string): Receipt | null {
  const [, server, place, call] = pattern.exec(text) ?? [];
  if (server === undefined || place === undefined || call === undefined) return null;
  return { server, place: Number.parseInt(place, 16), call };
}

/** What a hook takes out of a result's text. Only the last line counts: what stands before it is hostile. */
export function findReceipt(resultText: string): string | null {
  const line = resultText.trimEnd().split('\n').at(-1) ?? '';
  const [, receipt] = /^receipt: (udr_[0-9a-f]{32})$/.exec(line) ?? [];
  return receipt ?? null;
}

/** Was this id given out by that call? Our ids start with their time, and no two calls of a server share one. */
export function isOfCall(id: string, { call }: Receipt): boolean {
  return id.replaceAll('-', '').startsWith(call);
}
