// Signs of life: activity, tool calls, errors, usage, fingerprints, loop alarms. They cancel a countdown (E2), feed
// progress, and never zero a counter by themselves.
import { settingsForAgent } from '../config/agent-settings.ts';
import type { Policy } from '../config/policy.ts';
import type {
  ErrorOccurred,
  ModelPaused,
  ToolEnded,
  ToolStarted,
  UsageReported,
  WorkspaceSeen,
} from '../events.ts';
import { seeFingerprint } from '../progress.ts';
import type { Rows } from '../rows.ts';
import type { Session } from '../session.ts';
import { type Step, step } from '../step.ts';
import { consumeRequest } from './apply-permissions.ts';
import { unpark } from './apply-session.ts';

/** Overload without a reset time: long enough for a provider to breathe, short enough for a human to watch. */
const defaultRetryMs = 30_000;

/** The host is at work again: a told host's countdown is moot, an asked host has taken our answer. */
export function markActive(session: Session): Session {
  const awake: Session = { ...session, activeSinceAnswer: true, injection: taken(session) };
  return session.descriptor.mode === 'told' ? unpark(awake) : awake;
}

/** An asked host has it with the answer; a told one only once it was sent. */
function taken(session: Session): Session['injection'] {
  const { injection } = session;
  const before = session.descriptor.mode === 'asked' ? 'intended' : 'sent';
  return injection?.state === before ? { ...injection, state: 'observed' } : injection;
}

/** A limit whose time has come is over once something works again: a later error is not its doing (G2, G9). */
export function limitAfter({ rateLimitedUntil }: Session, at: number): number | null {
  return rateLimitedUntil !== null && at < rateLimitedUntil ? rateLimitedUntil : null;
}

export function toolStarted(session: Session, event: ToolStarted): Step {
  const active = consumeRequest({ ...markActive(session), questions: 0 }, event);
  if (!canWrite(event)) return step(active);
  return step({ ...active, work: { ...active.work, started: active.work.started + 1 } });
}

function canWrite({ access }: ToolStarted | ToolEnded): boolean {
  return access === 'write' || access === 'unknown';
}

export function toolEnded(session: Session, event: ToolEnded, policy: Policy): Step {
  const { circuitAfter } = settingsForAgent(policy.settings, session.agent.name);
  const isOpen = session.circuit !== null && session.circuit.count >= circuitAfter;
  const active: Session = {
    ...markActive(session),
    questions: 0,
    emptyAnswers: 0,
    // A finished call proves that the model answers again: earlier errors are not in a row with later ones. What
    // is open stays open until the human speaks.
    circuit: isOpen ? session.circuit : null,
    rateLimitedUntil: limitAfter(session, event.at),
  };
  if (event.access === 'todo') return step(active);
  const writes = canWrite(event);
  const { turn, work } = active;
  return step({
    ...active,
    work: { ...work, calls: work.calls + 1, writes: writes ? work.writes + 1 : work.writes },
    turn: turn !== null && writes ? { ...turn, touchedWorkspace: true } : turn,
  });
}

export function modelPaused(session: Session, event: ModelPaused): Step {
  if (session.pause?.by === 'human') return step(session);
  const pause = { by: 'model' as const, reason: event.reason, at: event.at };
  return step({ ...session, epoch: session.epoch + 1, pause, parked: null, timer: null });
}

export function workspaceSeen(session: Session, event: WorkspaceSeen, rows: Rows): Step {
  const { session: seen, fingerprints } = seeFingerprint(session, event.fingerprint, rows.fingerprintSeen);
  const base = step(seen);
  return { ...base, rowChanges: { ...base.rowChanges, fingerprints } };
}

/** G9: limits wait for their reset and are nobody's failure; the same other error is counted by signature. */
export function errorOccurred(session: Session, event: ErrorOccurred): Step {
  const active = cancelCountdown(session);
  switch (event.kind) {
    case 'rate-limit':
    case 'overload':
      return step({
        ...active,
        activeSinceAnswer: true,
        rateLimitedUntil: event.retryAt ?? event.at + defaultRetryMs,
      });
    case 'overflow':
      return step({
        ...active,
        activeSinceAnswer: true,
        rateLimitedUntil: null,
        overflows: session.overflows + 1,
      });
    case 'other': {
      const same = session.circuit?.signature === event.signature;
      const count = same ? (session.circuit?.count ?? 0) + 1 : 1;
      return step({
        ...active,
        activeSinceAnswer: true,
        rateLimitedUntil: null,
        circuit: { signature: event.signature, count },
      });
    }
  }
}

/** E2: an error ends a countdown. A text that waits to be sent again stays: the error may be why it was not taken. */
function cancelCountdown(session: Session): Session {
  const resends = session.timer?.purpose === 'resend';
  return session.descriptor.mode === 'told' && !resends ? unpark(session) : session;
}

export function loopAlarmed(session: Session): Step {
  return step({ ...session, loopAlarms: session.loopAlarms + 1 });
}

export function usageReported(session: Session, event: UsageReported): Step {
  const { usage } = session;
  return step({
    ...session,
    usage: {
      since: usage.since,
      tokens: usage.tokens + event.inputTokens + event.outputTokens,
      cost: usage.cost + (event.cost ?? 0),
      contextTokens: event.contextTokens ?? usage.contextTokens,
      contextLimit: event.contextLimit ?? usage.contextLimit,
    },
  });
}
