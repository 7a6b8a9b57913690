import { describe, expect, it } from 'vitest';
import { aSession } from '../../test/support/builders.ts';
import { defaultSettings } from '../core/config/settings.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { createPolicies } from './policies.ts';
import { sha256 } from './system.ts';

const policy = { settings: defaultSettings, goalChecks: ['unit'] };

describe('snapshots of the policy', () => {
  it('V2: are found again by their hash, by any process', async () => {
    const store = createMemoryStore();
    const key = await store.transact(async (transaction) =>
      createPolicies(() => policy, sha256).snapshot(transaction, aSession()),
    );
    const other = createPolicies(() => ({ ...policy, goalChecks: [] }), sha256);
    expect(await store.read(async (reader) => other.byHash(reader, key))).toEqual(policy);
  });

  it('V4: a text that does not fit its hash is no snapshot', async () => {
    const store = createMemoryStore();
    const forged = JSON.stringify({ ...policy, goalChecks: [] });
    await store.transact(async (transaction) => transaction.savePolicy('a'.repeat(32), forged));
    const policies = createPolicies(() => policy, sha256);
    expect(await store.read(async (reader) => policies.byHash(reader, 'a'.repeat(32)))).toBeNull();
  });
});
