// Times in words for people: local time to the second, and how long ago. JSON output
// keeps milliseconds.

export function formatTime(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return 'at an unknown time';
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `12 s`, `5 min`, `3 h`, `2 d`: one unit, rounded down. */
function formatSpan(milliseconds: number): string {
  const seconds = Math.floor(Math.max(0, milliseconds) / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

export function formatAge(at: number, now: number): string {
  return at > now ? `in ${formatSpan(at - now)}` : `${formatSpan(now - at)} ago`;
}

const units: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `90m`, `12h`, `30d`, `4w` in milliseconds. Null: the text is no such span. */
export function parseSpan(text: string): number | null {
  const match = /^(\d{1,6})([mhdw])$/.exec(text.trim());
  if (match === null) return null;
  return Number(match[1]) * (units[match[2] ?? ''] ?? 0);
}
