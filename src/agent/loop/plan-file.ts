// Keeps the plan file of a run in step while the agent works: read after every step and before every stop attempt, its
// boxes written back (V1). It decides nothing, and a file that cannot be read or written holds no run up.

import { UntildoneError } from '../../core/error.ts';
import { oneLine } from '../../core/safe-text.ts';
import { problemText } from '../../plan-file/plan-file.ts';
import type { SyncReport } from '../../plan-file/plan-file-sync.ts';
import type { Run } from './run.ts';

export type PlanFile = ReturnType<typeof followPlanFile>;

export function followPlanFile(run: Pick<Run, 'goal' | 'planFile' | 'permissions' | 'engine' | 'tell'>) {
  const file = run.planFile?.(run.engine);
  /** A run that may change nothing leaves the boxes alone too. */
  const writes = run.permissions.mode !== 'read-only';
  const told = new Set<string>();
  const tell = (sentence: string): void => {
    // A file that stays wrong is looked at after every step; once is enough to know.
    if (told.has(sentence)) return;
    told.add(sentence);
    run.tell({ type: 'notice', sentence: `Plan file: ${oneLine(sentence, 300)}` });
  };
  const sync = async (direction: 'sync' | 'settle' | 'push'): Promise<SyncReport | null> => {
    if (file === undefined || (!writes && direction === 'push')) return null;
    const synced = await file[writes ? direction : 'pull']();
    const problems = synced.ok ? '' : synced.problems.map(problemText).join('; ');
    const mend = `${problems}. Until that is mended the plan stays as it was.`;
    for (const sentence of synced.ok ? synced.notices : [mend]) tell(sentence);
    return synced;
  };
  return {
    /** At the beginning. Throws if the plan did not take the whole file that a human's message handed over. */
    async begin(): Promise<void> {
      const synced = await sync('sync');
      if (run.goal === null || synced === null || (synced.ok && synced.refused === 0)) return;
      // Without its todos there would be nothing to verify, and the run would end as done.
      const sentence = 'The plan file could not be taken over as a whole; nothing was done.';
      throw new UntildoneError('usage', sentence);
    },
    /** What changed in the file goes into the plan, then the boxes into the file. */
    follow: () => sync('sync'),
    /** Around a stop attempt: the file is read before, and written afterwards. */
    async around<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
      await sync('settle');
      const answer = await ask();
      await sync('push');
      return answer;
    },
    /** The boxes once more: the run is over, and nothing is read into a plan that is settled. Never throws. */
    async close(): Promise<void> {
      // Safe: the plan is in the store, and the next run writes the boxes.
      await sync('push').catch(() => tell('its boxes are not up to date.'));
    },
  };
}
