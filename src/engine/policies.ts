// Policy snapshots: taken at each genuine human message, kept in the store by hash, read back by decide (V2).
import { canonicalPolicy, type Policy } from '../core/config/policy.ts';
import type { HashFunction } from '../core/ledger.ts';
import type { Session } from '../core/session.ts';
import type { StoreReader, StoreTransaction } from './store.ts';

/** What holds right now for this session, read from files and environment. Must not throw: the engine asks mid-way. */
export type CurrentPolicy = (session: Session) => Policy;

export interface Policies {
  /** Stores the policy that holds now and returns its hash. */
  snapshot(transaction: StoreTransaction, session: Session): Promise<string>;
  /** null: it is not there, or not as it was stored. */
  byHash(reader: StoreReader, hash: string): Promise<Policy | null>;
}

export function createPolicies(current: CurrentPolicy, hash: HashFunction): Policies {
  const known = new Map<string, Policy>();
  return {
    async snapshot(transaction, session) {
      const policy = current(session);
      const text = canonicalPolicy(policy);
      const key = policyKey(text, hash);
      if (!known.has(key) || (await transaction.policy(key)) === null)
        await transaction.savePolicy(key, text);
      known.set(key, policy);
      return key;
    },
    async byHash(reader, key) {
      const cached = known.get(key);
      if (cached !== undefined) return cached;
      const text = await reader.policy(key);
      if (text === null || policyKey(text, hash) !== key) return null;
      const policy = JSON.parse(text) as Policy;
      known.set(key, policy);
      return policy;
    },
  };
}

/** By what a snapshot is found; a text with another key was edited in the store (V4). */
export function policyKey(text: string, hash: HashFunction): string {
  return hash(text).slice(0, 32);
}
