// Policy snapshots: taken at each genuine human message, kept in the store by hash, read back by decide (V2).
import { canonicalPolicy, type Policy } from '../core/config/policy.ts';
import type { HashFunction } from '../core/ledger.ts';
import type { Session } from '../core/session.ts';
import type { StoreReader, StoreTransaction } from '../ports/store.ts';

/** What holds right now for this session, read from files and environment. Must not throw: the engine asks mid-way. */
export type CurrentPolicy = (session: Session) => Policy;

export interface Policies {
  /** Stores the policy that holds now and returns its hash. */
  snapshot(transaction: StoreTransaction, session: Session): Promise<string>;
  byHash(reader: StoreReader, hash: string): Promise<Policy | null>;
}

export function createPolicies(current: CurrentPolicy, hash: HashFunction): Policies {
  const known = new Map<string, Policy>();
  return {
    async snapshot(transaction, session) {
      const policy = current(session);
      const text = canonicalPolicy(policy);
      const key = hash(text).slice(0, 32);
      if (!known.has(key) || (await transaction.policy(key)) === null)
        await transaction.savePolicy(key, text);
      known.set(key, policy);
      return key;
    },
    async byHash(reader, key) {
      const cached = known.get(key);
      if (cached !== undefined) return cached;
      const text = await reader.policy(key);
      if (text === null) return null;
      const policy = JSON.parse(text) as Policy;
      known.set(key, policy);
      return policy;
    },
  };
}
