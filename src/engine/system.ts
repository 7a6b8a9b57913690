// The real clock, identifiers and hash. Everything else in the engine gets them handed in.
import * as crypto from 'node:crypto';
import type { HashFunction } from '../core/ledger.ts';
import type { Clock, Identifiers } from './clock.ts';

/** setTimeout counts in 32 bits; a later wake-up is made in stages. */
const longestTimeout = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  wake(at, callback) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const delay = Math.max(0, at - Date.now());
      timer = setTimeout(() => (Date.now() < at ? arm() : callback()), Math.min(delay, longestTimeout));
      timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
};

/** UUID version 7: the first 48 bits are the time, so that new rows land beside each other in an index. */
export function createIdentifiers(clock: Clock = systemClock): Identifiers {
  return {
    next() {
      const bytes = crypto.randomBytes(16);
      bytes.writeUIntBE(clock.now(), 0, 6);
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
      const hex = bytes.toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
  };
}

/** In one call where the runtime has it: an event is hashed several times, and making an object for each costs more. */
export const sha256: HashFunction =
  typeof crypto.hash === 'function'
    ? (text) => crypto.hash('sha256', text)
    : (text) => crypto.createHash('sha256').update(text).digest('hex');
