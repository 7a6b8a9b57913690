// What every event carries, whatever happened.

export interface EventBase {
  /** Unique; an event with a known id is applied once, however often it is delivered. */
  readonly id: string;
  readonly sessionId: string;
  /** Milliseconds since 1970, taken when it happened. */
  readonly at: number;
}
