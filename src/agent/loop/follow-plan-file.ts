// Keeps the plan file of a run in step while the agent works: read after every step and before every stop attempt, its
// boxes written back (V1). It decides nothing, and a file that cannot be read or written holds no run up.
import { oneLine } from '../../core/safe-text.ts';
import { UntildoneError } from '../../core/untildone-error.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Runtime } from '../../engine/runtime.ts';
import { problemText } from '../../plan-file/plan-file.ts';
import type { PlanFileSync } from '../../plan-file/plan-file-sync.ts';
import type { SyncReport } from '../../plan-file/sync-report.ts';
import type { Emit } from '../agent-event.ts';
import type { PermissionPolicy } from '../workspace/permission.ts';

export interface FollowOptions {
  /** null: a session is taken up again without a new message. */
  readonly goal: string | null;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly emit: Emit;
  /** `read-only`: the boxes are left alone too. */
  readonly permissions: PermissionPolicy;
  /** Over the engine of the run; absent: there is no plan file. */
  readonly planFile?: (engine: Runtime) => PlanFileSync;
}

export interface FollowedPlanFile {
  /** At the beginning. Throws if the plan did not take the whole file that a human's message handed over. */
  begin(): Promise<void>;
  /** What changed in the file goes into the plan, then the boxes into the file. */
  follow(): Promise<void>;
  /** The runtime that reads the file before it is asked, and writes it afterwards. */
  readonly runtime: Runtime;
  /** The boxes once more: the run is over, and nothing is read into a plan that is settled. Never throws. */
  close(): Promise<void>;
}

export function followPlanFile(runtime: Runtime, options: FollowOptions): FollowedPlanFile {
  const file = options.planFile?.(runtime);
  const nothing = async (): Promise<void> => {};
  if (file === undefined) return { runtime, begin: nothing, follow: nothing, close: nothing };
  const { emit, clock, sessionId } = options;
  const writes = options.permissions.mode !== 'read-only';
  const told = new Set<string>();

  function tell(report: SyncReport): void {
    for (const sentence of report.ok ? report.notices : [leftOut(report.problems.map(problemText))]) {
      // A file that stays wrong is looked at after every step; once is enough to know.
      if (told.has(sentence)) continue;
      told.add(sentence);
      emit({ type: 'notice', at: clock.now(), sessionId, sentence: `Plan file: ${oneLine(sentence, 300)}` });
    }
  }

  return {
    async begin() {
      const report = await (writes ? file.sync() : file.pull());
      tell(report);
      if (options.goal === null || (report.ok && report.refused === 0)) return;
      // Without its todos there would be nothing to verify, and the run would end as done.
      throw new UntildoneError(
        'usage',
        'The plan file could not be taken over as a whole; nothing was done.',
      );
    },
    follow: async () => tell(await (writes ? file.sync() : file.pull())),
    runtime: {
      ...runtime,
      async ask(event, deadlineAt) {
        tell(await (writes ? file.settle() : file.pull()));
        const handled = await runtime.ask(event, deadlineAt);
        if (writes) tell(await file.push());
        return handled;
      },
    },
    async close() {
      if (!writes) return;
      try {
        tell(await file.push());
      } catch {
        // Safe: the plan is in the store, and the next run writes the boxes.
        emit({
          type: 'notice',
          at: clock.now(),
          sessionId,
          sentence: 'Plan file: its boxes are not up to date.',
        });
      }
    },
  };
}

function leftOut(problems: readonly string[]): string {
  return `${problems.join('; ')}. Until that is mended the plan stays as it was.`;
}
