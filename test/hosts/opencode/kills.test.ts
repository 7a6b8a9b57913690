import { describe, expect, it } from 'vitest';
import { runHostKills } from './host-kills.ts';

// The same program kills the host 200 times in `npm run test:extra -- opencode-kills`.
describe('OpenCode, killed and started again', () => {
  it('V5: kill -9 in countdown and injection, eight times: one continuation each, none lost, none doubled', async () => {
    const report = await runHostKills({ kills: 8, seed: 7 });
    expect(report.broken).toEqual([]);
    expect(report.kills).toBe(8);
    const early = report.phases.countdown + report.phases.intended + report.phases.sent;
    expect(
      early,
      'kills that fell before the continuation was seen',
    ).toBeGreaterThanOrEqual(2);
  }, 900_000);
});
