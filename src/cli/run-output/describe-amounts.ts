// Amounts in few letters: how long something took, how many tokens it needed, what it cost.
import type { UsageView } from '../../agent/agent-event.ts';

/** `12 ms`, `2.1 s`, `5 min`: at most six letters, so that it fits at the end of a line. */
export function formatShort(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.max(0, Math.round(milliseconds))} ms`;
  // 59.95 s would be rounded up to 60.0 s.
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

/** The longest that `formatShort` returns for anything under a year. */
export const shortWidth = 6;

/** `45 s`, `4 min 12 s`, `3 h 5 min`. */
export function formatElapsed(milliseconds: number): string {
  const seconds = Math.round(Math.max(0, milliseconds) / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Local time of the day; the date too where it is another day. */
export function formatClock(at: number, now: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return 'an unknown time';
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (new Date(now).toDateString() === date.toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** `950`, `1.2k`, `120k`, `3.4M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(Math.max(0, Math.round(tokens)));
  const [value, unit] = tokens < 999_500 ? [tokens / 1000, 'k'] : [tokens / 1_000_000, 'M'];
  return `${value < 99.95 ? value.toFixed(1).replace(/\.0$/, '') : value.toFixed(0)}${unit}`;
}

/** Prices have no currency in the configuration, so a cost has none either. Unknown: not a word. */
export function describeCost(cost: number | null): string {
  if (cost === null) return '';
  return `cost ${cost.toFixed(cost < 1 ? 4 : 2)}`;
}

export function describeTokens({ inputTokens, cachedTokens, outputTokens }: UsageView): string {
  const cached = cachedTokens > 0 ? ` (${formatTokens(cachedTokens)} cached)` : '';
  return `${formatTokens(inputTokens)} tokens in${cached}, ${formatTokens(outputTokens)} out`;
}
