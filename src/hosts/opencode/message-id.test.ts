import { describe, expect, it } from 'vitest';
import { hostId } from './message-id.ts';

describe('ids of messages', () => {
  it('V5: the same continuation has the same id, another one another', () => {
    expect(hostId('msg', 'ses_1:4', 1000)).toBe(hostId('msg', 'ses_1:4', 1000));
    expect(hostId('msg', 'ses_1:5', 1000)).not.toBe(hostId('msg', 'ses_1:4', 1000));
    expect(hostId('prt', 'ses_1:4', 1000).slice(3)).not.toBe(hostId('msg', 'ses_1:4', 1000).slice(3));
  });

  it("design: they look like the host's own and rise with time", () => {
    // As the host made it for a message of this moment.
    const own = 'msg_1dfd1747c001JDyF75mOmtLR7c';
    const ours = hostId('msg', 'ses_1:4', 1_794_756_408_445);
    expect(ours).toMatch(/^msg_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
    expect(ours > own).toBe(true);
    expect(hostId('msg', 'ses_1:4', 1_794_756_408_443) < own).toBe(true);
  });
});
