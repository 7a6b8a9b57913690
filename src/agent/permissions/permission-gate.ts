// Asks the human before a call that nobody allowed yet (S7). The question is on the record before anyone is asked, so
// that it can be answered here, in another terminal, or after a crash. One question at a time; it answers none itself.
import type { PermissionAnswer } from '../../core/events.ts';
import type { PermissionRequest, Session } from '../../core/session.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store } from '../../engine/store.ts';
import type { Emit } from '../agent-event.ts';
import type { Control } from '../loop/control.ts';
import type { KnownAnswers, PermissionDecision } from '../workspace/permission.ts';
import type { RememberedGrant } from './remembered-grants.ts';

/** How a run can be answered. */
export interface Asking {
  /** Somebody can answer where the run is shown: it waits as long as it takes. */
  readonly here: boolean;
  /** How long it waits for an answer from elsewhere where nobody is. */
  readonly waitMs: number;
  /** What was granted for this directory in earlier sessions. */
  readonly remembered: KnownAnswers['grants'];
  /** Keeps a grant for later sessions. */
  remember(grant: RememberedGrant): Promise<void>;
}

export const noAsking: Asking = { here: false, waitMs: 0, remembered: [], remember: async () => {} };

export interface GateOptions {
  readonly store: Store;
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  /** The session of the run: what its workers want is asked there too. */
  readonly sessionId: string;
  readonly control: Control;
  readonly asking: Asking;
}

export interface GatedCall {
  /** See `callKey`. */
  readonly key: string;
  /** What holds for this call, given the answers so far. */
  decide(known: KnownAnswers): Promise<PermissionDecision>;
  /** The question is on the record now; nobody was asked yet. */
  onAsk(): Promise<void>;
  /** Where the question and its answer are shown. */
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

export interface PermissionGate {
  permit(call: GatedCall): Promise<Permit>;
  /** Puts the human's answer on the record; the first one counts. */
  answer(requestId: string, answer: Exclude<PermissionAnswer, 'withdrawn'>): Promise<void>;
  /** Nobody waits for these any more. */
  withdraw(requests: readonly PermissionRequest[]): Promise<void>;
}

export function createPermissionGate(options: GateOptions): PermissionGate {
  const { store, engine, clock, identifiers, sessionId, control, asking } = options;
  const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });
  const session = () => store.read(async (reader) => reader.session(sessionId));
  const answeredHere = new Set<string>();
  /** Their call has its answer, though its beginning may not be on the record yet: once is once. */
  const used = new Set<string>();
  let queue: Promise<unknown> = Promise.resolve();

  async function decide(call: GatedCall): Promise<{ decision: PermissionDecision; current: Session | null }> {
    const current = await session();
    const { grants = [], refused = [] } = current?.permissions ?? {};
    const known = { grants: [...asking.remembered, ...grants], refused };
    return { decision: await call.decide(known), current };
  }

  async function ask(call: GatedCall): Promise<Permit> {
    const { decision, current } = await decide(call);
    const request = find(current, call, decision, used);
    // A no that came while nobody waited is told even though the same pattern is refused by now. Where the policy
    // leaves nothing to answer (read-only), an earlier yes counts for nothing.
    const isAnswerable = decision === 'allow' || decision.about !== null;
    if (request?.answer != null && isAnswerable) return settle(call, request, request.answer);
    if (decision === 'allow') return { kind: 'allowed', requestId: request?.requestId ?? null };
    const { askable, deny } = decision;
    if (askable === null) return { kind: 'denied', sentence: deny, requestId: request?.requestId ?? null };
    const requestId = request?.requestId ?? identifiers.next();
    if (request === null) {
      const about = { callId: call.key, ...askable };
      await engine.handle({ ...base(), type: 'permission-asked', requestId, about });
    }
    await call.onAsk();
    call.emit({
      ...{ type: 'permission-asked', at: clock.now(), sessionId, requestId },
      ...{ ...askable, choices: ['once', 'session', 'always', 'no'] },
    });
    const answered = await waitForAnswer(requestId);
    if (answered === null) return { kind: 'unanswered' };
    return settle(call, answered, answered.answer ?? 'no');
  }

  async function settle(
    call: GatedCall,
    request: PermissionRequest,
    answer: PermissionAnswer,
  ): Promise<Permit> {
    const { requestId } = request;
    used.add(requestId);
    const granted = answer !== 'no';
    call.emit({
      ...{ type: 'permission-answered', at: clock.now(), sessionId, requestId, granted },
      remembered: answer === 'withdrawn' ? 'no' : answer,
      by: answeredHere.has(requestId) ? 'terminal' : 'elsewhere',
    });
    const sentence = granted ? '' : await denial(call);
    // The beginning of a worker's call is on the record of its own session: here the answer is used up now.
    const isForeign = !call.key.startsWith(callKey(sessionId, ''));
    if (isForeign) await withdraw([request]);
    const left = { requestId: isForeign ? null : requestId };
    return granted ? { kind: 'allowed', ...left } : { kind: 'denied', sentence, ...left };
  }

  async function denial(call: GatedCall): Promise<string> {
    const { decision } = await decide(call);
    return decision === 'allow' ? 'The human said no.' : decision.deny;
  }

  async function withdraw(requests: readonly PermissionRequest[]): Promise<void> {
    for (const { requestId } of requests) {
      const withdrawn = { granted: false, remembered: 'withdrawn' } as const;
      await engine.handle({ ...base(), type: 'permission-answered', requestId, ...withdrawn });
    }
  }

  /** null: the step was stopped, or nobody can answer. */
  function waitForAnswer(requestId: string): Promise<PermissionRequest | null> {
    return new Promise((resolve) => {
      // A stop that lets the step finish ends this too: the step cannot finish without an answer.
      const signal = AbortSignal.any([control.signal, control.stopping]);
      const end = (answered: PermissionRequest | null): void => {
        stopLooking();
        cancelWake();
        signal.removeEventListener('abort', giveUp);
        resolve(answered);
      };
      const giveUp = (): void => {
        end(null);
        control.abortStep();
      };
      const stopLooking = control.onLook((current) => {
        const request = current.permissions?.requests.find((known) => known.requestId === requestId);
        if (request?.answer != null) end(request);
      });
      const cancelWake = asking.here ? () => {} : clock.wake(clock.now() + asking.waitMs, giveUp);
      if (signal.aborted) giveUp();
      else signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  return {
    async permit(call) {
      const { decision, current } = await decide(call);
      const request = find(current, call, decision, used);
      // A question that another call waits for is no answer yet.
      const isKnown = request !== null && (request.callId === call.key || request.answer !== null);
      if (!isKnown) {
        if (decision === 'allow') return { kind: 'allowed', requestId: null };
        if (decision.askable === null) return { kind: 'denied', sentence: decision.deny, requestId: null };
      }
      const turn = queue.then(() => (control.signal.aborted ? ({ kind: 'unanswered' } as const) : ask(call)));
      queue = turn.catch(() => {
        // Whoever asked gets the failure; the next question is not to blame for it.
      });
      return turn;
    },
    async answer(requestId, answer) {
      const pending = (await session())?.permissions?.requests.find(
        (known) => known.requestId === requestId && known.answer === null,
      );
      // Nobody is here who could have said it: an agent may have made itself a terminal.
      if (pending === undefined || !asking.here) return;
      answeredHere.add(requestId);
      const granted = answer !== 'no';
      const said = base();
      await engine.handle({ ...said, type: 'permission-answered', requestId, granted, remembered: answer });
      const { tool, pattern } = pending;
      if (answer === 'always') await asking.remember({ tool, pattern, answerId: said.id, at: said.at });
      await control.look();
    },
    withdraw,
  };
}

/** The request that this call waits for, or one with the same words that was answered and never used. */
function find(
  session: Session | null,
  call: GatedCall,
  decision: PermissionDecision,
  used: ReadonlySet<string>,
): PermissionRequest | null {
  const requests = session?.permissions?.requests ?? [];
  const own = requests.find(({ callId }) => callId === call.key);
  if (own !== undefined) return own;
  const about = decision === 'allow' ? null : decision.about;
  if (about === null) return null;
  const fits = ({ requestId, tool, subject }: PermissionRequest): boolean =>
    tool === about.tool && subject === about.subject && !used.has(requestId);
  return requests.find(fits) ?? null;
}
