// What users can set about a scripted model's answers. Free of Node's types: it is part of the published declarations,
// and those must stand without anything else installed.
import type { LoggedRequest } from './request-log.ts';

export interface AnsweringOptions {
  /** Requests with another key are refused as the real API refuses them. */
  readonly apiKey?: string;
  /** Requests for other models are refused. Default: every name is a model. */
  readonly models?: readonly string[];
  /** Requests above this estimate fail as too long. */
  readonly contextWindow?: number;
  /** Every answer begins so much later. */
  readonly latencyMs?: number;
  /** One line per request, for people. */
  readonly log?: (line: string) => void;
  readonly onRequest?: (request: LoggedRequest) => void;
}
