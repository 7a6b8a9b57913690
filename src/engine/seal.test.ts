import { describe, expect, it } from 'vitest';
import { aSession } from '../../test/support/builders.ts';
import { checkSeal, seal } from './seal.ts';
import { sha256 } from './system.ts';

describe('V4: the seal of a session', () => {
  const sealed = seal(aSession({ epoch: 3 }), sha256);

  it('holds when the session is read back as it was saved, and may be renewed', () => {
    const read = JSON.parse(JSON.stringify(sealed)) as typeof sealed;
    expect(checkSeal(read, sha256)).toBe(read);
    expect(seal(sealed, sha256)).toEqual(sealed);
  });

  it('is broken by any edit, and so is a session without one: it is marked, and stays as it is otherwise', () => {
    const edited = { ...sealed, counts: { ...sealed.counts, pending: 0, completed: 1 } };
    const { seal: _none, ...bare } = sealed;
    for (const session of [edited, bare, { ...sealed, seal: '' }]) {
      const checked = checkSeal(session, sha256);
      expect(checked.recordBroken).toBe('its session is not as it was saved');
      expect({ ...checked, recordBroken: null }).toEqual(session);
    }
  });

  it('an earlier sentence about the damage is kept', () => {
    const broken = { ...sealed, recordBroken: 'its ledger was cut' };
    expect(checkSeal(broken, sha256).recordBroken).toBe('its ledger was cut');
  });
});
