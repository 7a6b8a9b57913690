// When a provider wants to be asked again, from whatever it says: a header in seconds, in milliseconds or as a date,
// the reset times of its limits, a detail in the body, or its prose (G9). Always bounded: a server's word, or a
// clock that is wrong, must not park an agent for a week.
import { detailsIn, type ErrorFacts, field } from './error-facts.ts';

/** Longer limits exist; asking once more after this time costs one refused call. */
export const longestWaitMs = 6 * 3_600_000;

export function retryAt(facts: ErrorFacts, now: number): number | null {
  const { headers } = facts;
  const at =
    after(now, number(headers['retry-after-ms'])) ??
    moment(headers['retry-after'], now) ??
    after(now, duration(retryDelay(facts.body))) ??
    after(now, duration(/try again in ((?:\d+(?:\.\d+)? ?(?:ms|s|m|h))+)/i.exec(facts.message)?.[1])) ??
    limitReset(headers, now);
  return at === null ? null : Math.min(Math.max(at, now), now + longestWaitMs);
}

function after(now: number, milliseconds: number | null): number | null {
  return milliseconds === null ? null : now + milliseconds;
}

/** Seconds, a date, or the seconds or milliseconds since 1970. */
function moment(text: string | undefined, now: number): number | null {
  const plain = number(text);
  if (plain !== null) return plain > 1e12 ? plain : plain > 1e9 ? plain * 1000 : now + plain * 1000;
  const spoken = duration(text);
  if (spoken !== null) return now + spoken;
  // Date.parse makes a date of almost anything; a real one has a month's name or a year with a dash.
  const isDate = text !== undefined && /[a-z]{3}|\d{4}-/i.test(text);
  const date = isDate ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : date;
}

function number(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `7s`, `1m30.5s`, `120ms`. */
function duration(text: unknown): number | null {
  if (typeof text !== 'string' || !/^(?:[\d.]+ ?(?:ms|s|m|h))+$/.test(text.trim())) return null;
  const parts = text.matchAll(/([\d.]+) ?(ms|s|m|h)/g);
  const total = [...parts].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ''] ?? 0),
    0,
  );
  return Number.isFinite(total) ? total : null;
}

function retryDelay(body: unknown): unknown {
  return detailsIn(body)
    .map((detail) => field(detail, 'retryDelay'))
    .find((delay) => delay !== undefined);
}

const resetHeader = /^(?:anthropic-ratelimit-(?<before>.+)-reset|x-ratelimit-reset(?:-(?<behind>.+))?)$/;

/** Several limits run side by side: the one that is used up counts, else the one that resets first. */
function limitReset(headers: Readonly<Record<string, string>>, now: number): number | null {
  const resets = Object.entries(headers).flatMap(([name, text]) => {
    const match = resetHeader.exec(name);
    const at = match === null ? null : moment(text, now);
    if (match === null || at === null) return [];
    const { before, behind } = match.groups ?? {};
    const remaining =
      before === undefined
        ? headers[behind === undefined ? 'x-ratelimit-remaining' : `x-ratelimit-remaining-${behind}`]
        : headers[`anthropic-ratelimit-${before}-remaining`];
    return [{ at, isUsedUp: remaining?.trim() === '0' }];
  });
  const usedUp = resets.filter(({ isUsedUp }) => isUsedUp).map(({ at }) => at);
  if (usedUp.length > 0) return Math.max(...usedUp);
  return resets.length === 0 ? null : Math.min(...resets.map(({ at }) => at));
}
