// Random lives of sessions in told hosts. The invariants that must hold stand by name in
// test/properties/invariants.ts.
import { describe, it } from 'vitest';
import { assertInvariants } from '../../test/properties/property-runs.ts';

describe('whatever happens in a told host', () => {
  it('G3 G4 G6 G7 E4 V5: every invariant holds after every event', {
    timeout: 1_800_000,
  }, () => {
    assertInvariants('told', 10_000);
  });
});
