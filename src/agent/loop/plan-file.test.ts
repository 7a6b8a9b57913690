import { describe, expect, it } from 'vitest';
import type { PlanFileSync } from '../../plan-file/plan-file-sync.ts';
import { noTotals, type SyncReport } from '../../plan-file/plan-file-sync.ts';

import { type AgentRunOptions, type AnyRun, followPlanFile } from './run.ts';

const plan = { title: null, goalChecks: [], items: [], warnings: [] };
const fine: SyncReport = { ok: true, plan, withoutLine: 0, ...noTotals };
const wrong: SyncReport = { ok: false, problems: ['line 3: this check is empty'] };

/** What was called, in order, and what the human was told. */
function follow(report: () => SyncReport, options: Partial<AgentRunOptions> = {}) {
  const calls: string[] = [];
  const told: string[] = [];
  const say = (name: string) => async () => {
    calls.push(name);
    return report();
  };
  const file: PlanFileSync = {
    pull: say('pull'),
    push: say('push'),
    sync: say('sync'),
    settle: say('settle'),
  };
  const permissions = { mode: 'auto', shellAllow: [] };
  const followed = followPlanFile({
    goal: 'Do it.',
    permissions,
    planFile: () => file,
    ...options,
    tell: (event: Parameters<AnyRun['tell']>[0]) =>
      told.push(event.type === 'notice' ? event.sentence : event.type),
  } as unknown as Parameters<typeof followPlanFile>[0]);
  const ask = () => followed.around(async () => void calls.push('ask'));
  return { followed, ask, calls, told };
}

describe('the plan file of a run', () => {
  it('V1: is read before a stop attempt is answered, and written after it and at the end', async () => {
    const { followed, ask, calls } = follow(() => fine);
    await followed.begin();
    await followed.follow();
    await ask();
    await followed.close();
    expect(calls).toEqual(['sync', 'sync', 'settle', 'ask', 'push', 'push']);
  });

  it('C3: is only read by a run that may change nothing', async () => {
    const { followed, ask, calls } = follow(() => fine, {
      permissions: { mode: 'read-only', shellAllow: [] },
    });
    await followed.begin();
    await followed.follow();
    await ask();
    await followed.close();
    expect(calls).toEqual(['pull', 'pull', 'pull', 'ask']);
  });

  it('T6: one that the plan does not take as a whole ends the run that was to work through it', async () => {
    await expect(follow(() => wrong).followed.begin()).rejects.toThrow(
      'could not be taken over as a whole',
    );
    await expect(
      follow(() => ({ ...fine, refused: 1 })).followed.begin(),
    ).rejects.toThrow('as a whole');
    await expect(
      follow(() => wrong, { goal: null }).followed.begin(),
    ).resolves.toBeUndefined();
  });

  it('T6: one that is broken meanwhile is told once and holds nothing up', async () => {
    const { followed, ask, told } = follow(() => wrong);
    await followed.follow();
    await ask();
    await followed.close();
    expect(told).toEqual([
      'Plan file: line 3: this check is empty. Until that is fixed, the plan stays as it was.',
    ]);
  });

  it('V1: a last write that fails is told and hides no other failure', async () => {
    const { followed, told } = follow(() => {
      throw new Error('the disk is full');
    });
    await expect(followed.close()).resolves.toBeUndefined();
    expect(told).toEqual(['Plan file: its boxes are not up to date.']);
  });
});
