// The host's own limit on blocks cuts in: it would ignore a further one and report success. What really happened is
// put on the record in its place, as the outcome of the turn.
import type { Decision } from '../../core/decision.ts';
import { openCount } from '../../core/session.ts';
import { checkSeal, seal } from '../../engine/seal.ts';
import { sha256 } from '../../engine/system.ts';
import type { HookContext } from './hook-context.ts';

/** Returns the sentence for the human. */
export async function recordHostCap({ store, call, clock }: HookContext, cap: number): Promise<string> {
  return store.transact(async (transaction) => {
    const session = await transaction.session(call.sessionId);
    const at = clock.now();
    const open = session === null ? 0 : openCount(session.counts);
    const sentence = `The host takes no more than ${cap} blocks in a row without a tool call; ${open} todos are open.`;
    if (session === null) return sentence;
    const decision: Decision = {
      answer: 'let-go',
      reason: 'host-cap',
      sentence,
      inputs: { cap, open },
      outcome: 'exhausted',
      textKind: null,
      level: null,
      dueAt: null,
      observed: false,
      epoch: session.epoch,
    };
    const turn = session.turn === null ? null : { ...session.turn, ended: true };
    await transaction.addDecision({
      sessionId: session.id,
      turnId: turn?.id ?? null,
      eventId: session.lastStop?.eventId ?? call.sessionId,
      at,
      policyHash: session.policyHash,
      decision,
    });
    const settled = { outcome: 'exhausted', reason: 'host-cap', at } as const;
    await transaction.saveSession(seal({ ...checkSeal(session, sha256), turn, settled }, sha256));
    return `exhausted. ${sentence}`;
  });
}
