// One start of a program that is driven, from its first line to its exit: what its lines
// say is shown and recorded, and it is ended where a human, a budget or its own silence
// asks for that. What follows from it is decided elsewhere.
import {
  agentSessionVariable,
  sessionVariable,
  startCommand,
} from '../checks/process.ts';
import { UntildoneError } from '../core/error.ts';
import type { StopEnd } from '../core/events.ts';
import type { ListedTodo } from '../core/reconcile.ts';
import { isBudgetSpent } from '../core/rules.ts';
import { oneLine } from '../core/safe-text.ts';
import type { State } from '../core/state.ts';
import { isOpen } from '../core/todo.ts';
import type { DriveFact, Tokens } from '../engine/host-driver.ts';
import { createQueue } from '../engine/system.ts';
import type { AgentEvent } from './agent-event.ts';
import type { Transcript } from './context/history.ts';
import type { Drive } from './drive.ts';
import type { RecordedEvent } from './event-stream.ts';
import { hasWords, ownPlace } from './loop/conduct.ts';
import { addUsage, type RunBasis } from './loop/run.ts';
import { noFailures } from './models/failed-call.ts';

export type Prompt = Readonly<{ kind: 'human' | 'continuation' | 'note'; text: string }>;

export const defaultLimits = {
  /**
   * Without a line and without a call that runs; a host that retries says when it will.
   * Thinking may take minutes.
   */
  silenceMs: 20 * 60_000,
  /** From its result to its exit: some take seven seconds. */
  exitMs: 10_000,
  /** From a polite signal to the end of the whole tree. */
  interruptMs: 3000,
  endGraceMs: 2000,
};

export const textsOf = (messages: ReturnType<Transcript['messages']>) =>
  messages
    .flatMap(({ content }) => (typeof content === 'string' ? [content] : []))
    .join('\n\n');

/** As the driver's own; a host that is told opens the session itself meanwhile. */
export function describeDrivenSession({ run, driver, options, id }: Drive) {
  const driven = { host: driver.name, id, mode: options.mode, flags: options.flags };
  const place = { kind: 'main', judgesGoal: true, tools: driver.tools, driven } as const;
  return { ...ownPlace(run.directory), ...place };
}

export const openDrivenSession = (drive: Drive) =>
  drive.run.record({
    type: 'session-opened',
    descriptor: describeDrivenSession(drive),
    agent: null,
  });

/** What was seen from one start to its exit. */
function newSight(at: number, isNew: boolean) {
  return {
    /** It was to begin the conversation. */
    isNew,
    lastLineAt: at,
    /** When the agent last did something. */
    workedAt: null as number | null,
    /** By the host itself, until then. */
    retriesUntil: 0,
    running: new Map<string, { tool: string; at: number }>(),
    calls: [] as { tool: string; error: string | null }[],
    /** Calls that our hooks told of. */
    heard: 0,
    lastText: '',
    /** The last line of its work; null: none since a continuation was shown. */
    lastWork: null as 'step' | 'text' | 'tool' | null,
    /** Events that are on the record and not shown yet. */
    unshownEvents: [] as RecordedEvent[],
    toolError: null as string | null,
    todos: null as readonly ListedTodo[] | null,
    tokens: { inputTokens: 0, outputTokens: 0 },
    isUnknown: false,
    error: null as Extract<DriveFact, { type: 'error' }> | null,
    ended: null as StopEnd | null,
    /** We ended it, politely or not. */
    isInterrupted: false,
    complaint: '',
    exit: { exitCode: null as number | null, signal: null as string | null },
    decisions: 0,
  };
}
export type StartReport = ReturnType<typeof newSight>;

export async function runDrivenStart(drive: Drive, prompt: Prompt): Promise<StartReport> {
  const { run, driver, options, transcript, limits } = drive;
  const { clock, sessionId } = run;
  const seen = newSight(clock.now(), drive.isNew);
  const [before] = await run.store.decisions(sessionId, 1);
  seen.decisions = before?.sequence ?? 0;
  if (prompt.kind !== 'human' && textsOf(transcript.messages().slice(-1)) !== prompt.text)
    await transcript.append([
      { kind: prompt.kind, message: { role: 'user', content: prompt.text } },
    ]);
  const { mode, model, flags } = options;
  const start = {
    text: prompt.text,
    id: drive.id,
    isNew: drive.isNew,
    mode,
    model,
    flags,
  };
  const call = driver.start({
    ...start,
    scratch: drive.scratch,
    environment: run.environment,
  });
  drive.isNew = false;
  const environment = {
    ...defined(run.environment),
    ...call.variables,
    [sessionVariable]: sessionId,
    // If an agent started this run, the program must not inherit the session of that
    // agent.
    [agentSessionVariable]: '',
  };
  const queue = createQueue();
  const readLine = driver.createReader();
  let facts: Promise<unknown> = Promise.resolve();
  const takeLine = (from: 'output' | 'errors') => (line: string) => {
    const read = readLine(line, from);
    // A host that only retries is stuck. Its line counts as a sign of life until the time
    // that it names, no longer.
    if (!read.some(({ type }) => type === 'retrying')) seen.lastLineAt = clock.now();
    if (from === 'errors') seen.complaint = `${seen.complaint}\n${line}`.slice(-2000);
    for (const fact of read) {
      note(seen, fact, clock.now());
      facts = queue(() => take(drive, seen, fact));
      // Safe: whoever waits for the last one gets the failure.
      facts.catch(() => {});
    }
  };
  const output = splitLines(takeLine('output'));
  const errors = splitLines(takeLine('errors'));
  const running = startCommand({
    command: [options.program, ...call.words],
    directory: run.directory,
    environment,
    endGraceMs: limits.endGraceMs,
    input: call.input,
    onOutput: output.take,
    onErrors: errors.take,
  });
  let cancelEnd = () => {};
  const interrupt = () => {
    if (seen.isInterrupted) return;
    seen.isInterrupted = true;
    running.signal('SIGINT');
    cancelEnd = clock.wake(clock.now() + limits.interruptMs, running.end);
  };
  const look = async (state: State) => {
    // Show what the agent said before what it was told in answer.
    await facts;
    await show(drive, seen, state);
    if (isHanging(drive, seen, state)) return running.end();
    if (seen.ended !== null || !(await wantsEnd(drive, state))) return;
    // Between two steps: a call that runs may finish.
    if (seen.running.size === 0 && state.work.started <= state.work.writes) interrupt();
  };
  const watch = createQueue();
  // Safe: what cannot be read now is read at the next look.
  const stopLooking = run.control.onLook(
    (state) => void watch(() => look(state)).catch(() => {}),
  );
  const { signal } = run.control;
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  const exit = await running.ended;
  stopLooking();
  signal.removeEventListener('abort', interrupt);
  cancelEnd();
  for (const rest of [output, errors]) rest.end();
  await facts;
  if (exit.startError !== null)
    throw new UntildoneError(
      'usage',
      `${driver.title} could not be started: ${exit.startError}`,
    );
  seen.exit = exit;
  if (driver.endsByExit && exit.exitCode === 0 && seen.error === null)
    seen.ended ??= 'normal';
  await run.planFile.follow();
  await show(drive, seen, await run.state(), { holdsBack: false });
  return seen;
}

const defined = (environment: RunBasis['environment']) =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );

/** No real line of a host is this long; the rest is cut off. */
const longestLine = 16_777_216;

function splitLines(take: (line: string) => void) {
  let rest = '';
  return {
    take(chunk: string) {
      const lines = (rest + chunk).split('\n');
      rest = (lines.pop() ?? '').slice(0, longestLine);
      for (const line of lines) if (line.trim() !== '') take(line);
    },
    end() {
      if (rest.trim() !== '') take(rest);
    },
  };
}

/** At once, in the order of the lines: what decides about the process itself. */
function note(seen: StartReport, fact: DriveFact, at: number) {
  switch (fact.type) {
    case 'step':
      // It goes on: that was no end.
      Object.assign(seen, { workedAt: at, ended: null });
      break;
    case 'tool-started':
      seen.running.set(fact.callId, { tool: fact.tool, at });
      break;
    case 'unknown-conversation':
      seen.isUnknown = true;
      break;
    case 'todos':
      seen.todos = fact.todos;
      break;
    case 'retrying':
      seen.retriesUntil = at + fact.inMs;
      break;
    case 'error':
      seen.error = fact;
      break;
    case 'ended':
      seen.ended = fact.end;
      if (fact.text !== undefined) seen.lastText = fact.text;
      break;
  }
}

/** What people see of it, and what is on the record of it. */
async function take(drive: Drive, seen: StartReport, fact: DriveFact) {
  const { run, transcript } = drive;
  const hear = async (content: string) => {
    await transcript.append([{ kind: 'agent', message: { role: 'assistant', content } }]);
  };
  const isUnheard = () => transcript.messages().at(-1)?.role !== 'assistant';
  switch (fact.type) {
    case 'conversation':
      if (drive.id === fact.id) return;
      drive.id = fact.id;
      await openDrivenSession(drive);
      return;
    case 'step':
      if (drive.counted.has(`step ${fact.id}`)) return;
      drive.counted.add(`step ${fact.id}`);
      // A continuation is shown above the step that it caused. After a tool call this
      // step may still be the answer that was refused.
      await show(drive, seen, await run.state(), {
        holdsBack: seen.lastWork !== 'step' && seen.lastWork !== 'text',
      });
      seen.lastWork = 'step';
      // It answers again.
      Object.assign(drive, { failures: noFailures, failure: null });
      run.steps += 1;
      run.tell({ type: 'step-started', step: run.steps });
      return;
    case 'text':
      Object.assign(seen, { lastText: fact.text, lastWork: 'text' });
      run.tell({ type: 'text', text: fact.text });
      await hear(fact.text);
      return;
    case 'tool-started':
      seen.lastWork = 'tool';
      run.toolCalls += 1;
      run.tell({
        type: 'tool-started',
        callId: fact.callId,
        tool: fact.tool,
        input: fact.input ?? null,
      });
      // In the middle of its work it has heard what it was told.
      if (isUnheard()) await hear(`[${fact.tool}]`);
      return;
    case 'tool-ended': {
      const { callId, ok, output } = fact;
      seen.lastWork = 'tool';
      const begun = seen.running.get(callId);
      seen.running.delete(callId);
      const tool = begun?.tool ?? fact.tool ?? 'unknown';
      if (begun === undefined)
        await take(drive, seen, {
          type: 'tool-started',
          callId,
          tool,
          input: fact.input,
        });
      seen.toolError = ok ? null : oneLine(output, 500);
      seen.calls.push({ tool, error: seen.toolError });
      const milliseconds = run.clock.now() - (begun?.at ?? run.clock.now());
      run.tell({
        type: 'tool-ended',
        callId,
        tool,
        ok,
        output: output.slice(0, 4000),
        milliseconds,
      });
      await run.planFile.follow();
      return;
    }
    case 'usage':
      return count(drive, seen, fact);
    case 'retrying':
      run.tell({
        type: 'error',
        kind: 'overload',
        sentence: fact.sentence,
        retryAt: fact.inMs === 0 ? null : run.clock.now() + fact.inMs,
      });
      return;
  }
}

/**
 * Sums are compared with what is on the record: a run that was killed may have counted a
 * part of them.
 */
async function count(
  drive: Drive,
  seen: StartReport,
  fact: Extract<DriveFact, { type: 'usage' }>,
) {
  const { run } = drive;
  if (fact.of === 'step' && drive.counted.has(fact.id)) return;
  if (fact.of === 'step') drive.counted.add(fact.id);
  const rows = fact.of === 'conversation' ? await run.store.usage(run.sessionId) : [];
  const before = {
    inputTokens: rows.reduce((sum, row) => sum + row.inputTokens, 0),
    outputTokens: rows.reduce((sum, row) => sum + row.outputTokens, 0),
  };
  const known = { step: noTokens, start: seen.tokens, conversation: before }[fact.of];
  const spent = rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
  const left = (of: keyof typeof known) =>
    Math.max(0, (fact.tokens?.[of] ?? 0) - known[of]);
  const inputTokens = left('inputTokens');
  const outputTokens = left('outputTokens');
  const cost = fact.cost === null ? null : Math.max(0, fact.cost - spent);
  if (inputTokens + outputTokens === 0 && !cost) return;
  seen.tokens = {
    inputTokens: seen.tokens.inputTokens + inputTokens,
    outputTokens: seen.tokens.outputTokens + outputTokens,
  };
  const cachedTokens = Math.min(inputTokens, fact.tokens?.cachedTokens ?? 0);
  const step = { inputTokens, cachedTokens, outputTokens, cost };
  run.usage = addUsage(run.usage, step);
  const unknown = { contextTokens: null, contextLimit: null };
  await run.record({
    type: 'usage-reported',
    inputTokens,
    outputTokens,
    cost,
    ...unknown,
  });
  run.tell({ type: 'usage', step, total: run.usage });
}

const noTokens: Pick<Tokens, 'inputTokens' | 'outputTokens'> = {
  inputTokens: 0,
  outputTokens: 0,
};

/**
 * Our hooks may record that an answer was refused before the line with that answer
 * arrives. The line mostly follows within a second; too long a wait shows the refusal
 * late, too short a wait shows it above the refused answer.
 */
const refusedAnswerMs = 3000;

/**
 * Shows what our hooks did in it: continuations, checks, the plan. `holdsBack`: a
 * continuation waits for the line with the refused answer; false: that line has come or
 * will not come any more.
 */
async function show(
  drive: Drive,
  seen: StartReport,
  state: State,
  { holdsBack } = { holdsBack: true },
) {
  const { run, reader } = drive;
  // Our hooks may hear it first.
  drive.id ??= state.descriptor.driven?.id ?? null;
  const recorded = await reader.look(run.store, state);
  seen.heard += recorded.filter(({ type }) => type === 'tool-ended').length;
  seen.unshownEvents.push(...recorded);
  const mustWait = (event: RecordedEvent) => {
    if (event.type !== 'continuation' || !holdsBack || seen.lastWork === 'text')
      return false;
    return run.clock.now() - event.at <= refusedAnswerMs;
  };
  while (seen.unshownEvents[0] !== undefined && !mustWait(seen.unshownEvents[0])) {
    const event = seen.unshownEvents.shift() as RecordedEvent;
    if (event.type === 'continuation') {
      seen.lastWork = null;
      run.continuations.push(event.textKind);
      // First the plan that it counts, unless the agent has done more of it meanwhile.
      const { plan } = await run.state();
      if (plan.filter(isOpen).length === event.open) await run.showPlan();
    }
    if (['continuation', 'check-started', 'check-ended'].includes(event.type))
      run.emit(event as AgentEvent);
  }
  await run.showPlan();
}

/** Words join and budgets end it between two steps; so does the first Ctrl-C. */
async function wantsEnd({ run }: Drive, state: State) {
  if (state.latch !== null || hasWords({ state })) return true;
  return isBudgetSpent({ state, settings: run.settings, at: run.clock.now() });
}

/** It neither says nor does anything, or does not leave after its result. */
function isHanging({ run, limits }: Drive, seen: StartReport, state: State) {
  const now = run.clock.now();
  // It waits for a subagent, whose end starts it again.
  const isWaiting = state.jobs.some(({ kind }) => kind === 'subagent');
  if (seen.ended !== null && !isWaiting) return now - seen.lastLineAt > limits.exitMs;
  const isBusy = seen.running.size > 0 || state.work.started > state.work.writes;
  const lastSign = Math.max(seen.lastLineAt, state.updatedAt, seen.retriesUntil);
  return !isBusy && now - lastSign > limits.silenceMs;
}
