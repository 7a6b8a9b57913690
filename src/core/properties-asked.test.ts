// Random lives of sessions in asked hosts. The invariants that must hold stand by name in
// test/properties/invariants.ts.
import { describe, it } from 'vitest';
import { assertInvariants } from '../../test/properties/property-runs.ts';

describe('whatever happens in an asked host', () => {
  it('G3 G4 G6 G7 V1 V4: every invariant holds after every event', {
    timeout: 1_800_000,
  }, () => {
    assertInvariants('asked', 10_000);
  });
});
