// The id under which a continuation stands in the host: made from the continuation itself, so that sending it again
// replaces it instead of adding a second one (V5). The host orders messages by their ids, which begin with the time.
import { sha256 } from '../../engine/system.ts';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 14;
const timeMask = (1n << 48n) - 1n;

/** @param at when it was decided: after every message that the session had then */
export function hostId(prefix: 'msg' | 'prt', key: string, at: number): string {
  const time = ((BigInt(Math.max(0, Math.trunc(at))) * 4096n + 1n) & timeMask).toString(16).padStart(12, '0');
  let rest = BigInt(`0x${sha256(`${prefix}:${key}`)}`);
  let random = '';
  while (random.length < randomLength) {
    random += digits[Number(rest % 62n)] ?? '0';
    rest /= 62n;
  }
  return `${prefix}_${time}${random}`;
}
