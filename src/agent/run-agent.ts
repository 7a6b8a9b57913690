// A run of our own agent from start to summary: take up what is there, work until the engine lets go, say how it ended.
// Everything that is decided in it is decided by the engine.
import { endMarkedProcesses, sessionVariable } from '../checks/process.ts';
import { countPlan, openCount } from '../core/state.ts';
import type { RunEnded } from './agent-event.ts';
import { humanWords, openTranscript } from './context/history.ts';
import { systemPrompt } from './context/prompt.ts';
import { planningHint } from './guard/complexity.ts';
import { defaultLoopLimits, LoopDetector } from './guard/loop-detector.ts';
import { createHumanControl, hearHuman, showQueuedWords, whilePaused } from './loop/control.ts';
import { runLoop } from './loop/loop.ts';
import { followPlanFile } from './loop/plan-file.ts';
import {
  type AgentRunOptions,
  complexTurnsBefore,
  isNow,
  openRun,
  ownAgentName,
  planNow,
  type Run,
  showPlan,
  summariseRun,
  waitInRun,
} from './loop/run.ts';
import { openAgent } from './loop/step.ts';
import { openWorkspace, settleInterrupted } from './loop/tool-calls.ts';
import { createDelegation, describeSession } from './workers/delegation.ts';
import { delegateToolName } from './workers/worker-types.ts';
import { defaultLimits } from './workspace/tool.ts';

export type { HumanControl } from './loop/control.ts';
export type { AgentRunOptions } from './loop/run.ts';

export async function runAgent(options: AgentRunOptions): Promise<RunEnded> {
  const { goal, resume, sessionId, model, directory, emit } = options;
  const run = openRun(options);
  const { control, settings, workers } = run;
  const transcript = await openTranscript(run, { ...settings.context, sessionId }, () => run.turnId);
  const spoken = goal === null ? null : humanWords(goal, options.identifiers.next());
  // The goal is on record before its session is: whatever session a human finds after a crash can go on.
  if (spoken !== null && !resume) await transcript.append([spoken]);
  await begin(run);

  control.watch();
  options.onControl?.(createHumanControl(run));
  const workspace = openWorkspace(run);
  run.jobs = workspace.jobs;
  const delegate = createDelegation(run, workspace.tools);
  const tools = delegate === null ? workspace.tools : [...workspace.tools, delegate];
  const createdAt = (await run.state())?.createdAt ?? run.startedAt;
  const agent = openAgent({
    ...{ run, sessionId, model, tools, transcript, emit },
    system: systemPrompt({
      tools: tools.map(({ name }) => name),
      root: directory,
      platform: process.platform,
      startedOn: new Date(createdAt).toISOString().slice(0, 10),
      workers,
    }),
    // The three levels of the reminder come first: a loop of words is one that outlives them.
    detector: new LoopDetector({ ...defaultLoopLimits, repeatedTexts: 4 }),
    signal: () => control.signal,
    async waitForRetry(dueAt) {
      if (dueAt !== null) await waitInRun(run, 'retry', dueAt);
      return (await whilePaused(run))?.latch ? 'stopped' : 'go-on';
    },
    plan: () => planNow(run),
    hasOpenTodos: () => isNow(run, ({ state }) => openCount(countPlan(state.plan)) > 0),
  });
  showQueuedWords(run);

  if (spoken !== null && resume) {
    // What waited for an answer is given up: the human said something else.
    await settleInterrupted(agent, 'give-up');
    await run.gate.withdraw((await run.state())?.permissions?.requests ?? []);
    await transcript.append([spoken]);
  } else {
    const isSettled = (await settleInterrupted(agent, 'leave')) === 'settled';
    const isAnswered = transcript.messages().at(-1)?.message.role === 'assistant';
    if (isSettled && isAnswered) await agent.note('[resumed] Go on with the plan.');
  }
  await hearHuman(run, transcript);
  // Not before: what the human said may have begun a new plan.
  const planFile = followPlanFile(run);
  await planFile.begin();
  run.turnId = (await run.state())?.turn?.id ?? null;
  const hint = goal === null ? null : planningHint(goal, await complexTurnsBefore(run));

  // A pending wait must not let the process end: the clock's wake-ups do not hold it.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await showPlan(run);
    await runLoop({ run, agent, planFile }, hint);
  } finally {
    clearInterval(alive);
    control.close();
    await workspace.close();
    await planFile.close();
  }
  const ended = await summariseRun(run, agent.failure);
  emit(ended);
  return ended;
}

/** The session is opened, what a killed run left behind is ended, and a resume is on the record before anything else. */
async function begin(run: Run): Promise<void> {
  const { goal, resume, directory, model, permissions } = run;
  const delegates = run.workers.length > 0 ? { delegate: delegateToolName } : {};
  const descriptor = describeSession(run, { pause: 'todo_pause', verify: 'todo_verify', ...delegates });
  const canWrite = permissions.mode === 'read-only' ? 'no' : 'yes';
  const agent = { name: ownAgentName, canWrite, model: model.label, variant: null } as const;
  await run.record({ type: 'session-opened', descriptor, agent, resumed: resume });
  if (resume) {
    // What a killed run left behind must not work against the one that goes on.
    await endMarkedProcesses(`${sessionVariable}=${run.sessionId}`, defaultLimits.endGraceMs);
    await run.record({ type: 'human-resumed' });
  }
  const about = { goal, model: model.label, directory, resumed: resume, permissions: permissions.mode };
  run.tell({ type: 'run-started', ...about });
}
