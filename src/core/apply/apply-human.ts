// What the human does: speaking, aborting, pausing, resuming. Only these lift the latch, and only speaking zeroes
// the counters (G4, G6, T3).

import { settingsForAgent } from '../config/agent-settings.ts';
import { isPhrase } from '../config/phrases.ts';
import type { Policy } from '../config/policy.ts';
import type { HumanAborted, HumanPaused, HumanResumed, HumanSpoke, WordsJoined } from '../events.ts';
import { seeFingerprint } from '../progress.ts';
import type { Rows } from '../rows.ts';
import { noCounts, openCount, type Session, type Turn } from '../session.ts';
import { type Step, step } from '../step.ts';
import { dropUnanswered, forgetRefusals } from './apply-permissions.ts';
import { isApprovalRequest } from './apply-waits.ts';
import { limitAfter } from './apply-work.ts';

/** Enough to recognise late echoes of earlier messages; hosts send them within seconds. */
const rememberedMessages = 32;

export function humanSpoke(session: Session, event: HumanSpoke, rows: Rows, policy: Policy): Step {
  if (isEcho(session, event, policy)) return step(session);
  const stops = event.text !== null && isPhrase(event.text, policy.settings.stopWords);
  const goesOn = event.text !== null && isPhrase(event.text, policy.settings.goOnPhrases);
  const placed = placeInTurn(session, event, policy, goesOn);
  const fresh: Session = {
    ...(stops ? placed : queueWords(forgetRefusals(placed), event)),
    waits: withoutApprovals(placed),
    agent: event.agent ?? session.agent,
    policyHash: event.policyHash ?? session.policyHash,
    epoch: session.epoch + 1,
    counters: { stagnant: 0, continuations: 0, total: 0 },
    progress: { weakInRow: 0, weakCounted: false, planMoved: false, workspaceMoved: false },
    challenged: { claims: false, ends: false },
    latch: stops ? { how: 'told to stop', at: event.at } : null,
    pause: session.pause?.by === 'human' ? session.pause : null,
    questions: 0,
    emptyAnswers: 0,
    toolErrorTodo: null,
    overflows: 0,
    loopAlarms: 0,
    loopTold: false,
    circuit: null,
    rateLimitedUntil: limitAfter(session, event.at),
    checksOverdue: false,
    recordBroken: null,
    // A call whose end was never seen does not run on into a new message.
    work: { ...placed.work, started: placed.work.writes },
    usage: { ...session.usage, since: event.at, tokens: 0, cost: 0 },
    humanMessageIds:
      event.messageId === null
        ? session.humanMessageIds
        : [...session.humanMessageIds, event.messageId].slice(-rememberedMessages),
    activeSinceAnswer: true,
    parked: null,
    timer: null,
    settled: null,
    injection: unanswered(session),
  };
  const { session: seen, fingerprints } = baseline(fresh, event.fingerprint, rows);
  const base = step(seen);
  return { ...base, rowChanges: { ...base.rowChanges, fingerprints } };
}

/** More than anyone types between two steps. */
const queuedMessages = 200;

/** On the record before the loop takes it up: a crash in between loses nothing (V5). */
function queueWords(session: Session, { queued, text, messageId, at }: HumanSpoke): Session {
  if (queued !== true || text === null || messageId === null) return session;
  return { ...session, words: [...(session.words ?? []), { messageId, text, at }].slice(-queuedMessages) };
}

export function wordsJoined(session: Session, { messageId }: WordsJoined): Step {
  const words = session.words?.filter((known) => known.messageId !== messageId) ?? [];
  return step({ ...session, words });
}

/** Whoever speaks in the chat has said what they think: the question of a check is asked anew at the next stop. */
function withoutApprovals({ waits }: Session): Session['waits'] {
  return { ...waits, questions: waits.questions.filter((id) => !isApprovalRequest(id)) };
}

/** A known id is an echo. Without ids, a message right after an idle is the host repeating itself (E2). */
function isEcho(session: Session, event: HumanSpoke, policy: Policy): boolean {
  if (event.messageId !== null) return session.humanMessageIds.includes(event.messageId);
  const { parked, descriptor } = session;
  if (descriptor.mode !== 'told' || parked === null) return false;
  return event.at - parked.at < settingsForAgent(policy.settings, session.agent.name).gracePeriod;
}

function placeInTurn(session: Session, event: HumanSpoke, policy: Policy, goesOn: boolean): Session {
  const { turn } = session;
  const running = turn !== null && !turn.ended && session.parked === null;
  if (running) return { ...session, turn: { ...turn, goesOn: turn.goesOn || goesOn } };
  const next: Turn = {
    id: event.turnId,
    number: (turn?.number ?? 0) + 1,
    startedAt: event.at,
    ended: false,
    touchedPlan: false,
    touchedWorkspace: false,
    goesOn,
    stopSeen: false,
  };
  const started: Session = {
    ...dropUnanswered(session),
    turn: next,
    finalRun: null,
    waits: { ...session.waits, permissions: [], questions: [] },
  };
  return policy.settings.scope === 'turn' ? freshPlan(started, event.turnId) : started;
}

/** Turn scope: a new plan for a new turn; what the old one left open stays as it is and is named at the end (T3). */
function freshPlan(session: Session, planId: string): Session {
  const open = openCount(session.counts);
  const leftOver = open > 0 ? { planId: session.planId, open } : null;
  return { ...session, planId, counts: noCounts, lastOrder: 0, leftOver, goal: {} };
}

/** The state of the workspace at the human's message is where progress starts from: it is never progress itself. */
function baseline(session: Session, fingerprint: string | null, rows: Rows) {
  if (fingerprint === null) return { session, fingerprints: [] as readonly string[] };
  const quiet: Session = { ...session, work: { ...session.work, writesAtFingerprint: session.work.writes } };
  return seeFingerprint(quiet, fingerprint, rows.fingerprintSeen);
}

/** An asked host's answer is at most once: if the human speaks before the agent moved, it was lost. */
function unanswered(session: Session): Session['injection'] {
  const { injection } = session;
  return injection?.state === 'intended' && session.descriptor.mode === 'asked'
    ? { ...injection, state: 'unanswered' }
    : injection;
}

export function humanAborted(session: Session, event: HumanAborted): Step {
  return step({
    ...endTurn(session),
    epoch: session.epoch + 1,
    latch: { how: event.how, at: event.at },
    parked: null,
    timer: null,
    settled: { outcome: 'aborted', reason: 'aborted', at: event.at },
  });
}

export function humanPaused(session: Session, event: HumanPaused): Step {
  return step({
    // A told host that was waiting sits idle: its turn is over, and `resume` takes the stop attempt up again.
    ...(session.parked === null ? session : endTurn(session)),
    epoch: session.epoch + 1,
    pause: { by: 'human', reason: event.reason, at: event.at },
    parked: null,
    timer: null,
  });
}

/**
 * Lifts latch and pause, and nothing else: budgets stay spent (G6). A told host that sits idle will not idle again
 * by itself, so the last stop attempt is taken up once more.
 */
export function humanResumed(session: Session, event: HumanResumed): Step {
  // Nothing is held: a countdown or a wait goes on as it was.
  if (session.latch === null && session.pause === null) return step(session);
  const idle =
    session.descriptor.mode === 'told' && session.turn?.ended !== false && session.lastStop !== null;
  const lifted: Session = {
    ...session,
    epoch: session.epoch + 1,
    latch: null,
    pause: null,
    parked: null,
    timer: null,
  };
  if (!idle || session.lastStop === null) return step(lifted);
  const parked = { ...session.lastStop, at: event.at, end: 'normal' as const, cause: 'resumed' };
  return step({ ...lifted, parked, activeSinceAnswer: true });
}

function endTurn(session: Session): Session {
  return session.turn === null ? session : { ...session, turn: { ...session.turn, ended: true } };
}
