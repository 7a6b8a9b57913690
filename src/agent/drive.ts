// A run in which another agent program does the work, read downwards: it is started with
// a text, followed to its exit, and started again in the same conversation while the
// engine says so. Inside, our hooks continue it as long as the host lets them. This
// file handles only what hooks cannot: a host's cap, a crash, an error, hooks that are
// switched off.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StopEnd } from '../core/events.ts';
import { isSameList, writtenItems } from '../core/reconcile.ts';
import { isBudgetSpent } from '../core/rules.ts';
import { endsInQuestion, oneLine } from '../core/safe-text.ts';
import { hadEndedOtherwise, isUnsaid } from '../core/state.ts';
import { isOpen } from '../core/todo.ts';
import type { DriveMode, HostDriver } from '../engine/host-driver.ts';
import type { RunEnded } from './agent-event.ts';
import { isHuman, type Transcript } from './context/history.ts';
import {
  defaultLimits,
  describeDrivenSession,
  openDrivenSession,
  type Prompt,
  runDrivenStart,
  type StartReport,
  textsOf,
} from './driven-start.ts';
import { createHostReader } from './host-record.ts';
import { conductRun, hasWords, joinWords } from './loop/conduct.ts';
import { type AnyRun, hearWords, openAnyRun, type RunBasis } from './loop/run.ts';
import {
  defaultRetryLimits,
  noFailures,
  planRetry,
  signatureText,
} from './models/failed-call.ts';

export type DrivenRunOptions = Omit<RunBasis, 'permissions'> &
  Readonly<{
    driver: HostDriver;
    /** Its path. */
    program: string;
    mode: DriveMode;
    /** null: the host's own choice. */
    model: string | null;
    /** From behind `--`. */
    flags: readonly string[];
    /** The host's id for a conversation that is taken up; null: there is none yet. */
    conversation: string | null;
    limits?: Partial<typeof defaultLimits>;
  }>;

export type Drive = ReturnType<typeof createDrive>;

export async function runDriven(options: DrivenRunOptions): Promise<RunEnded> {
  const { driver, mode, model } = options;
  const run = openAnyRun({ ...options, permissions: { mode } }, null);
  return conductRun(run, async (transcript) => {
    const drive = createDrive(options, run, transcript);
    return {
      descriptor: describeDrivenSession(drive),
      model,
      shownModel: model ?? driver.title,
      gate: null,
      prepare: async () =>
        run.tell({ type: 'notice', sentence: driver.permissions[mode] }),
      work: () => work(drive),
      close: async () => rmSync(drive.scratch, { recursive: true, force: true }),
    };
  });
}

function createDrive(options: DrivenRunOptions, run: AnyRun, transcript: Transcript) {
  const { driver, conversation, sessionId } = options;
  return {
    run,
    driver,
    options,
    limits: { ...defaultLimits, ...options.limits },
    transcript,
    /** What our hooks in the host do is on the record, and shown from there. */
    reader: createHostReader(sessionId, run.clock),
    scratch: mkdtempSync(join(tmpdir(), 'untildone-run-')),
    id: conversation ?? (driver.takesId ? sessionId : null),
    /** The next start begins the conversation. */
    isNew: conversation === null,
    failures: noFailures,
    failure: null as string | null,
    /** Steps whose usage was counted. */
    counted: new Set<string>(),
  };
}

async function work(drive: Drive) {
  // What happened before this run was shown then.
  await drive.reader.look(drive.run.store, await drive.run.state());
  for (let prompt: Prompt | null = await firstPrompt(drive); prompt !== null; ) {
    const { latch } = await drive.run.control.whilePaused();
    if (latch !== null) break;
    prompt = await afterExit(drive, prompt, await runDrivenStart(drive, prompt));
  }
  const state = await drive.run.state();
  // A stop that came before a start, or in a wait.
  if (state.latch !== null && !hadEndedOtherwise(state, 'aborted'))
    await ask(drive, 'cancelled');
  return drive.failure;
}

const goOn: Prompt = { kind: 'note', text: '[resumed] Go on with the plan.' };
const brokenOff: Prompt = {
  kind: 'note',
  text: '[resumed] You were interrupted in the middle of the work: the program that you run in ended. Look at what is there already before you do anything again, then go on.',
};

/**
 * Words that nobody answered yet; else what is left to say to a conversation that is
 * taken up.
 */
async function firstPrompt({ run, transcript }: Drive): Promise<Prompt> {
  const messages = transcript.messages();
  const unanswered = messages.slice(
    messages.findLastIndex(({ role }) => role === 'assistant') + 1,
  );
  const said = textsOf(unanswered.filter(isHuman));
  if (said !== '') return { kind: 'human', text: said };
  const ours = textsOf(unanswered.slice(-1));
  if (ours !== '') return { kind: 'note', text: ours };
  const state = await run.state();
  return (
    (isUnsaid(state) ? await lastContinuation(run, null) : null) ??
    (run.before.isSettled ? goOn : brokenOff)
  );
}

/**
 * The text of the last decision, if that was to continue. `since`: unless the agent
 * worked after it.
 */
async function lastContinuation(
  { store, sessionId }: Drive['run'],
  since: number | null,
) {
  const [last] = await store.decisions(sessionId, 1);
  if (last?.decision.answer !== 'continue' || last.decision.observed) return null;
  if (since !== null && last.at < since) return null;
  const row = (await store.outbox({ sessionId })).find(
    ({ epoch }) => epoch === last.decision.epoch,
  );
  return row === undefined ? null : ({ kind: 'continuation', text: row.text } as const);
}

/**
 * Judges the end by the result line, the exit and the store; the exit code alone proves
 * nothing. null: the run ends.
 */
async function afterExit(
  drive: Drive,
  prompt: Prompt,
  seen: StartReport,
): Promise<Prompt | null> {
  const { run } = drive;
  const state = await run.control.whilePaused();
  if (state.latch !== null) return null;
  if (hasWords({ state })) return joined(drive);
  const [last] = await run.store.decisions(run.sessionId, 1);
  const decided =
    last !== undefined && last.sequence > seen.decisions ? last.decision : null;
  if (decided?.answer === 'let-go' && !(await hasLateTodos(drive, decided.outcome)))
    return null;
  // If this start was to begin the conversation, "unknown conversation" only means that
  // the start failed.
  if (seen.isUnknown && !seen.isNew) {
    // Where the host chooses the id, our hooks must know that they will see another.
    Object.assign(drive, { isNew: true, id: drive.driver.takesId ? drive.id : null });
    await openDrivenSession(drive);
    return { kind: 'note', text: await wholeStory(drive) };
  }
  if (await run.isNow(isBudgetSpent))
    return answered(drive, await ask(drive, 'iteration-budget'));
  // Also of a start that was killed or failed: its list may never be written again.
  await tellUnheard(drive, seen);
  const { ended } = seen;
  if (
    ended === null ||
    ended === 'error' ||
    ended === 'cancelled' ||
    seen.error !== null ||
    seen.isInterrupted
  ) {
    // Paused or spoken to: it was ended by us, and nothing has failed.
    if (!seen.isInterrupted && !(await mayTryAgain(drive, seen)))
      return answered(drive, await ask(drive, 'error'));
    if (hasWords({ state: await run.state() })) return joined(drive);
    const undelivered = await lastContinuation(run, seen.workedAt ?? 0);
    return decided === null && seen.workedAt === null
      ? prompt
      : (undelivered ?? brokenOff);
  }
  // At the host's cap the last continuation was dropped.
  const dropped =
    decided?.answer === 'continue' ? await lastContinuation(run, null) : null;
  if (dropped !== null) return dropped;
  return answered(drive, await ask(drive, ended, seen));
}

async function joined({ run, transcript }: Drive): Promise<Prompt> {
  return { kind: 'human', text: (await joinWords(run, transcript)).join('\n\n') };
}

/** The plan file may say more than the hooks knew. */
async function hasLateTodos({ run }: Drive, outcome: string | null) {
  const { plan } = await run.state();
  return outcome === 'done' && plan.some(isOpen);
}

/** For a host that has lost the conversation: all that the human said. */
async function wholeStory({ run, transcript }: Drive) {
  const said = textsOf(transcript.messages().filter(isHuman));
  const isBegun = (await run.state()).plan.length > 0;
  return isBegun ? `${said}\n\n${brokenOff.text}` : said;
}

/** G9: limits are waited for; the same error again and again ends the run. */
async function mayTryAgain(drive: Drive, { error, exit, complaint }: StartReport) {
  const { run, driver } = drive;
  const how =
    exit.signal === null ? `with exit code ${exit.exitCode}` : `by ${exit.signal}`;
  const lines = complaint.trim().split('\n');
  // The last line is often advice.
  const why =
    error?.message ??
    lines.findLast((line) => /\berror\b/iu.test(line)) ??
    lines.at(-1) ??
    '';
  const end = `${driver.title} ended ${how}`;
  const message = `${end}${why === '' ? '' : `: ${oneLine(why, 300)}`}`;
  const kind = error?.kind ?? 'other';
  const now = run.clock.now();
  const limits = { ...defaultRetryLimits, attempts: run.settings.circuitAfter };
  const random = (run.random ?? Math.random)();
  const failed = { kind, retryable: true, outage: false, retryAt: null };
  const plan = planRetry(failed, drive.failures, { now, random, limits });
  const retryAt = plan.retry ? now + plan.delayMs : null;
  Object.assign(drive, { failures: plan.failures, failure: message });
  // The same death is the same error, whatever it complained about last.
  const about = {
    signature: signatureText(error === null ? end : message),
    message,
    retryAt,
  };
  const { state } = await run.record({ type: 'error-occurred', kind, ...about });
  run.tell({ type: 'error', kind, sentence: message, retryAt });
  if (!plan.retry || state.overflows >= 2) return false;
  await run.control.wait(retryAt, hearWords);
  return true;
}

/**
 * Hooks that are off or not trusted tell nothing: then the lines of the host are all that
 * is known.
 */
async function tellUnheard(
  { run, driver, id, reader }: Drive,
  { calls, heard, todos }: StartReport,
) {
  if (heard > 0) return;
  for (const { tool, error } of calls) {
    await run.record({ type: 'tool-started', tool, access: 'unknown' });
    await run.record({ type: 'tool-ended', tool, access: 'unknown', error });
  }
  // What we tell ourselves is no sign of a hook at the next start.
  await reader.look(run.store, await run.state());
  const listed =
    todos ??
    (id === null ? null : ((await driver.readTodos?.(id, run.environment)) ?? null));
  const { hostList } = await run.state();
  if (listed === null || isSameList(hostList, listed)) return;
  const items = writtenItems(listed).map((item) => ({
    ...item,
    freshId: run.identifiers.next(),
  }));
  const source = { kind: 'list', promptId: null } as const;
  await run.record({ type: 'plan-written', actor: 'agent', items, source });
}

/** Asks the engine in place of hooks that could not. */
async function ask(drive: Drive, end: StopEnd, seen?: StartReport) {
  // A host that is only told would get the answer sent: it is gone.
  await openDrivenSession(drive);
  return drive.run.askToStop({
    end,
    question: endsInQuestion(seen?.lastText ?? ''),
    toolError: seen?.toolError ?? null,
  });
}

async function answered(
  drive: Drive,
  first: Awaited<ReturnType<typeof ask>>,
): Promise<Prompt | null> {
  const handled = await drive.run.awaitAnswer(first);
  if (handled === null) return joined(drive);
  const text = handled.answer?.text ?? null;
  return text === null ? null : { kind: 'continuation', text };
}
