// Asks the human before a call that nobody allowed yet (S7). The question is on the record before anyone is asked, so
// that it can be answered here, in another terminal, or after a crash. One question at a time; it answers none itself.
import type { PermissionAnswer } from '../../core/events.ts';
import type { PermissionRequest } from '../../core/state.ts';
import type { Emit, PermissionChoice } from '../agent-event.ts';
import { firstOf, onAbort } from '../loop/control.ts';
import type { RunParts } from '../loop/run.ts';
import type { KnownAnswers, PermissionDecision } from '../workspace/permission.ts';
import type { RememberedGrant } from './remembered-grants.ts';

export interface Asking {
  /** Somebody can answer where the run is shown: it waits as long as it takes. */
  readonly here: boolean;
  /** How long it waits for an answer from elsewhere where nobody is. */
  readonly waitMs: number;
  /** What was granted for this directory in earlier sessions. */
  readonly remembered: KnownAnswers['grants'];
  remember(grant: RememberedGrant): Promise<void>;
}

export const noAsking: Asking = { here: false, waitMs: 0, remembered: [], remember: async () => {} };

interface GatedCall {
  readonly key: string;
  /** What holds for this call, given the answers so far. */
  decide(known: KnownAnswers): Promise<PermissionDecision>;
  /** The question is on the record now; nobody was asked yet. */
  onAsk(): Promise<unknown>;
  readonly emit: Emit;
}

/** A call among those of a run and of its workers, whose ids may be equal. */
export function callKey(sessionId: string, callId: string): string {
  return `${sessionId}/${callId}`;
}

export type Permit =
  | { readonly kind: 'allowed'; readonly requestId: string | null }
  | { readonly kind: 'denied'; readonly sentence: string; readonly requestId: string | null }
  /** Nobody answered, or the human stopped the step: the call has not begun and stays on the record. */
  | { readonly kind: 'unanswered' };

/** For the session of a run: what its workers want is asked there too. */
export function createPermissionGate(run: RunParts) {
  const { clock, sessionId, control, asking } = run;
  const answeredHere = new Set<string>();
  /** Their call has its answer, though its beginning may not be on the record yet: once is once. */
  const used = new Set<string>();
  let queue: Promise<unknown> = Promise.resolve();

  const recordAnswer = (requestId: string, remembered: PermissionAnswer, event = run.base()) => {
    const granted = remembered !== 'no' && remembered !== 'withdrawn';
    const wait = { kind: 'permission', requestId, granted, remembered } as const;
    return run.record({ ...event, type: 'wait-ended', wait });
  };

  /** What holds now, and the request that the call waits for or one with the same words that was never used. */
  async function look(call: GatedCall) {
    const { grants = [], refused = [], requests = [] } = (await run.state())?.permissions ?? {};
    const decision = await call.decide({ grants: [...asking.remembered, ...grants], refused });
    const about = decision === 'allow' ? null : decision.about;
    const isAbout = ({ requestId, tool, subject }: PermissionRequest): boolean =>
      tool === about?.tool && subject === about.subject && !used.has(requestId);
    const own = requests.find(({ callId }) => callId === call.key);
    return { decision, request: own ?? requests.find(isAbout) ?? null };
  }

  async function ask(call: GatedCall): Promise<Permit> {
    const { decision, request } = await look(call);
    // A no that came while nobody waited is told even though the same pattern is refused by now. Where the policy
    // leaves nothing to answer (read-only), an earlier yes counts for nothing.
    const isAnswerable = decision === 'allow' || decision.about !== null;
    if (request?.answer != null && isAnswerable) return settle(call, request, request.answer);
    const known = { requestId: request?.requestId ?? null };
    if (decision === 'allow') return { kind: 'allowed', ...known };
    const { askable, deny } = decision;
    if (askable === null) return { kind: 'denied', sentence: deny, ...known };
    const { id: freshId, at } = run.base();
    const requestId = request?.requestId ?? freshId;
    const wait = { kind: 'permission', requestId, about: { callId: call.key, ...askable } } as const;
    if (request === null) await run.record({ type: 'wait-started', wait });
    await call.onAsk();
    const choices: PermissionChoice[] = ['once', 'session', 'always', 'no'];
    call.emit({ type: 'permission-asked', at, sessionId, requestId, ...askable, choices });
    const answered = await waitForAnswer(requestId);
    return answered === null ? { kind: 'unanswered' } : settle(call, answered, answered.answer ?? 'no');
  }

  async function settle(
    call: GatedCall,
    request: PermissionRequest,
    answer: PermissionAnswer,
  ): Promise<Permit> {
    const { requestId } = request;
    used.add(requestId);
    const granted = answer !== 'no';
    const by = answeredHere.has(requestId) ? 'terminal' : 'elsewhere';
    const remembered = answer === 'withdrawn' ? 'no' : answer;
    const at = clock.now();
    call.emit({ type: 'permission-answered', at, sessionId, requestId, granted, remembered, by });
    // Looked at again: by now the answer itself says what the model is told.
    const decision = granted ? 'allow' : (await look(call)).decision;
    // The beginning of a worker's call is on the record of its own session: here the answer is used up now.
    const isForeign = !call.key.startsWith(callKey(sessionId, ''));
    if (isForeign) await withdraw([request]);
    const left = { requestId: isForeign ? null : requestId };
    if (granted) return { kind: 'allowed', ...left };
    return { kind: 'denied', sentence: decision === 'allow' ? 'The human said no.' : decision.deny, ...left };
  }

  /** Nobody waits for these any more. */
  async function withdraw(requests: readonly PermissionRequest[]): Promise<void> {
    for (const { requestId } of requests) await recordAnswer(requestId, 'withdrawn');
  }

  /** null: the step was stopped, or nobody can answer. */
  async function waitForAnswer(requestId: string): Promise<PermissionRequest | null> {
    // A stop that lets the step finish ends this too: the step cannot finish without an answer.
    const signal = AbortSignal.any([control.signal, control.stopping]);
    const answered = await firstOf<PermissionRequest | null>(
      (end) =>
        control.onLook(({ permissions }) => {
          const request = permissions?.requests.find((known) => known.requestId === requestId);
          if (request?.answer != null) end(request);
        }),
      (end) => (asking.here ? () => {} : clock.wake(clock.now() + asking.waitMs, () => end(null))),
      (end) => onAbort(signal, () => end(null)),
    );
    if (answered === null) control.abortStep();
    return answered;
  }

  async function permit(call: GatedCall): Promise<Permit> {
    const { decision, request } = await look(call);
    // A question that another call waits for is no answer yet.
    if (request === null || (request.callId !== call.key && request.answer === null)) {
      if (decision === 'allow') return { kind: 'allowed', requestId: null };
      if (decision.askable === null) return { kind: 'denied', sentence: decision.deny, requestId: null };
    }
    const turn = queue.then(() => (control.signal.aborted ? ({ kind: 'unanswered' } as const) : ask(call)));
    queue = turn.catch(() => {
      // Whoever asked gets the failure; the next question is not to blame for it.
    });
    return turn;
  }

  /** The first answer counts. */
  async function answer(requestId: string, said: PermissionChoice): Promise<void> {
    const { requests = [] } = (await run.state())?.permissions ?? {};
    const pending = requests.find((known) => known.requestId === requestId && known.answer === null);
    // Nobody is here who could have said it: an agent may have made itself a terminal.
    if (pending === undefined || !asking.here) return;
    answeredHere.add(requestId);
    const event = run.base();
    await recordAnswer(requestId, said, event);
    const { tool, pattern } = pending;
    if (said === 'always') await asking.remember({ tool, pattern, answerId: event.id, at: event.at });
    await control.look();
  }

  return { permit, answer, withdraw };
}
