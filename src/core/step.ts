// What one event does: the next session, the rows to write, the commands to perform, and the decision if one was
// made. Small constructors so that the apply functions read as sentences.
import type { Command } from './commands.ts';
import type { Decision } from './decision.ts';
import { noRowChanges, type RowChanges } from './rows.ts';
import type { Session } from './session.ts';

export interface Step {
  readonly session: Session;
  readonly rowChanges: RowChanges;
  readonly commands: readonly Command[];
  readonly decision: Decision | null;
}

export function step(session: Session, commands: readonly Command[] = []): Step {
  return { session, rowChanges: noRowChanges, commands, decision: null };
}

/** The second step after the first: rows and commands of both, session and decision of the second. */
export function join(first: Step, second: Step): Step {
  return {
    session: second.session,
    rowChanges: {
      created: [...first.rowChanges.created, ...second.rowChanges.created],
      updated: [...first.rowChanges.updated, ...second.rowChanges.updated],
      ledger: [...first.rowChanges.ledger, ...second.rowChanges.ledger],
      fingerprints: [...first.rowChanges.fingerprints, ...second.rowChanges.fingerprints],
    },
    commands: [...first.commands, ...second.commands],
    decision: second.decision ?? first.decision,
  };
}
