import { describe, expect, it } from 'vitest';
import { aSession, aTodo } from '../../test/support/builders.ts';
import { sealOf, sha256 } from './system.ts';

describe('V4: the seal of a session', () => {
  const session = aSession({ epoch: 3 });
  const seal = sealOf(session, 'head', 2, sha256);

  it('holds when the session is read back as it was saved, and may be renewed', () => {
    const { plan: _, ...saved } = { ...session, seal };
    const read = JSON.parse(JSON.stringify(saved)) as typeof session;
    expect(sealOf(read, 'head', 2, sha256)).toBe(seal);
    const planned = { ...session, seal, plan: [aTodo()] };
    expect(sealOf(planned, 'head', 2, sha256)).toBe(seal);
  });

  it('is broken by any edit of the session, of the end of its ledger and of the length of its plan', () => {
    expect(sealOf({ ...session, epoch: 4 }, 'head', 2, sha256)).not.toBe(seal);
    expect(sealOf({ ...session, recordBroken: 'damaged' }, 'head', 2, sha256)).not.toBe(
      seal,
    );
    expect(sealOf(session, 'other head', 2, sha256)).not.toBe(seal);
    expect(sealOf(session, null, 2, sha256)).not.toBe(seal);
    expect(sealOf(session, 'head', 3, sha256)).not.toBe(seal);
  });
});
