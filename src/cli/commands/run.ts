// `untildone run`: runs our own agent, with any model, or another program that it drives,
// in the current directory. It reports everything that is wrong with keys, models and
// configuration before it starts anything.
import { realpathSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { resolveModel } from '../../agent/models/resolve-model.ts';
import { UntildoneError } from '../../core/error.ts';
import type { Policy } from '../../core/policy.ts';
import { problemSentence } from '../../core/problem.ts';
import { hasSpoken, type State } from '../../core/state.ts';
import {
  frozenPolicy,
  policyProblemSentence,
  withShellChecks,
} from '../../engine/policy.ts';
import { createIdentifiers, errorCode } from '../../engine/system.ts';
import {
  askingOf,
  modeOptions,
  permissionsOf,
  prepareWorkers,
  readAgentPolicyFor,
  refuseUnpriced,
  type TakenPlan,
  takeUp,
} from '../agent-policy.ts';
import { type AgentSession, runSession } from '../agent-session.ts';
import { type Arguments, type Command, eventsOption, plainOption } from '../command.ts';
import { nameSession, shortId } from '../describe-session.ts';
import { findOwnSession, withSessions } from '../find-session.ts';
import { asText, hasPipedInput, type Io, readInput } from '../io.ts';
import { openOrCreateStore } from '../open-runtime.ts';
import { escapeForTerminal, printComplaint, printRefusal } from '../print.ts';
import { settleTrust } from '../project-trust.ts';
import { drivenAgent, drivenHosts } from '../run-with.ts';

/** How the demo plays the human of a run. */
export type Staging = Pick<AgentSession, 'hear' | 'isKept' | 'watch'>;

export const run = {
  takes: '[goal]',
  about: [
    'Works in this directory until the work is done, or says honestly why not. The file tools stay inside the directory;\ncommands run if they are on your allow-list (--tools-shell-allow "npm test"), if you allow them when asked, or with\n--auto. docs/permissions.md has the rest.',
    'Type to speak to the agent while it works. Ctrl-C stops after the running step, a second one at once. `untildone\npause|resume|stop|say|approve` work from another terminal.',
    'Exit codes: 0 done, 3 claimed, 4 blocked, 5 stagnant, 6 exhausted, 7 paused, 130 aborted, 1 failed, 2 wrong usage.',
  ],
  options: {
    'goal-file': {
      value: 'FILE',
      summary: 'Read the goal from a file; `run -` reads it from standard input.',
    },
    check: {
      value: 'CMD',
      summary:
        'A shell line that must succeed before the work counts as done; may be given more than once.',
    },
    plan: {
      value: 'FILE.md',
      summary:
        'A Markdown task list to work through; its boxes follow the work. See docs/plan-files.md.',
    },
    model: {
      value: 'PROVIDER/MODEL',
      summary: 'anthropic/…, openai/…, google/…, ollama/…, or a provider of your own.',
    },
    with: {
      value: 'HOST',
      summary: `Drive another agent instead: ${drivenHosts.join(', ')}. What stands behind \`--\` are its own flags.`,
    },
    resume: {
      value: 'SESSION',
      optional: true,
      summary:
        'Resume a session in its own folder; default: the last one of this directory.',
    },
    ...modeOptions,
    trust: {
      summary:
        'Accept what the project’s untildone.json asks for, as `untildone trust` does; for CI.',
    },
    'accept-claims': {
      summary: 'Exit with 0 although nothing but the agent’s word covers some todos.',
    },
    ...plainOption,
    ...eventsOption,
  },
  takesSettings: 'run',
  passesOnWith: ['with', 'resume'],
  async run(given: Arguments, callerIo: Io, staging?: Staging) {
    const resumes = given.has('resume');
    const agentAbove = resumes ? await callerIo.agentAbove() : null;
    // Resuming a session lifts its human's stop, and words to it count as the human's. An
    // agent must do neither.
    if (agentAbove !== null)
      return printRefusal(
        callerIo,
        `Only a human may take a session up again, and this was said beneath ${agentAbove}.`,
      );
    const { word, goal } = readResume(given, await readGoal(given, callerIo));
    const resumed = resumes
      ? await withSessions(callerIo, (store) => findOwnSession(store, word, callerIo))
      : null;
    const movedTo =
      goal === null && !given.has('plan') ? resumed?.latch?.movedTo : undefined;
    if (resumed !== null && movedTo !== undefined) {
      const gone = `You moved the plan of session ${nameSession(resumed)} to ${escapeForTerminal(movedTo, 80)}.`;
      throw new UntildoneError(
        'usage',
        `${gone} Words after --resume begin something new.`,
      );
    }
    const directory =
      resumed === null ? realpathSync(callerIo.cwd) : await ownFolder(callerIo, resumed);
    // The configuration is that of the session's own folder too.
    const io: Io = { ...callerIo, cwd: directory };
    await settleTrust(io, given.has('trust'));
    const policy = readAgentPolicyFor(io, directory, given.settings);
    if (!policy.ok) {
      throw new UntildoneError(
        'invalid-config',
        policy.problems.map(policyProblemSentence).join('\n'),
      );
    }
    for (const warning of policy.warnings)
      printComplaint(io, `warning: ${problemSentence(warning)}`);
    const { origins, whole, settings } = policy;
    const agent =
      (await drivenAgent(given, io, policy, resumed)) ??
      (await ownAgent(given, io, policy, resumed));
    const planFile = given.text('plan');
    if (goal === null && planFile === null && !resumes) {
      throw new UntildoneError(
        'usage',
        'Say what is to be done: untildone run "migrate the tests to vitest".',
      );
    }
    const presentPolicy: Policy = {
      ...withShellChecks(policy.policy, checkLines(given)),
      // Our own agent plans per turn: what an earlier turn left open is named, not
      // resumed (T3).
      settings: {
        ...whole,
        scope: origins['scope'] === 'default' ? 'turn' : whole.scope,
      },
    };
    const takenPlan: TakenPlan =
      planFile === null
        ? { policy: presentPolicy, message: null }
        : await (await import('../../plan-file/taken-plan.ts')).takePlanFile(
            presentPolicy,
            planFile,
            directory,
            callerIo.cwd,
          );
    const store = await openOrCreateStore(io);
    try {
      const frozen = resumed === null ? null : await frozenPolicy(store, resumed);
      const requested = {
        goal,
        plan: planFile !== null,
        checks: given.texts('check'),
        origins,
      };
      const takenUp =
        frozen === null ? takenPlan : await takeUp(frozen, takenPlan, requested);
      if (takenUp.warning) printComplaint(io, `warning: ${takenUp.warning}`);
      // A plan that was moved here comes without a message of the human.
      const movedPlanMessage =
        resumed !== null && !hasSpoken(resumed) ? 'Work through the plan.' : null;
      const message = [goal, takenUp.message ?? movedPlanMessage]
        .filter((part) => part !== null)
        .join('\n\n');
      const ended = await runSession(io, store, {
        goal: message === '' ? null : message,
        sessionId: resumed?.id ?? createIdentifiers(io.clock).next(),
        resume: resumes,
        agent:
          'driver' in agent
            ? agent
            : { ...agent, asking: await askingOf(io, store, directory, settings) },
        policy: takenUp.policy,
        replacedChecks: takenUp.replacedChecks,
        namesPlan: planFile !== null,
        directory,
        acceptClaims: given.has('accept-claims'),
        json: given.has('json'),
        plain: given.has('plain') || !settings.liveView,
        ...staging,
      });
      return ended.exitCode;
    } finally {
      await store.close();
    }
  },
} satisfies Command;

type ReadPolicy = Extract<ReturnType<typeof readAgentPolicyFor>, { ok: true }>;

async function ownAgent(
  given: Arguments,
  io: Io,
  { settings, origins }: ReadPolicy,
  resumed: State | null,
) {
  const workers = await prepareWorkers(io, settings, origins);
  // The flag --model is a setting too and was read with the settings.
  const namedModel = origins['model'] === 'flag' ? settings.model : given.text('model');
  // A session keeps the model that it began with, unless another one is named.
  const wantedModel = namedModel ?? resumed?.agent.model ?? null;
  const model = await resolveModel(wantedModel, {
    settings,
    origins,
    environment: io.env,
  });
  if (!model.ok) throw new UntildoneError('usage', model.error);
  refuseUnpriced(settings, [model, ...workers.map((worker) => worker.model)]);
  return {
    model,
    workers,
    permissions: await permissionsOf(given, io, settings, resumed),
  };
}

/**
 * Returns the folder in which the session began: it goes on there, wherever the human
 * stands.
 */
async function ownFolder(io: Io, session: State): Promise<string> {
  const id = shortId(session.id);
  const name = nameSession(session);
  const folder = session.descriptor.directory ?? io.cwd;
  const directory = await realpath(folder).catch((error: unknown) => {
    const gone = `Session ${name} works in ${escapeForTerminal(folder, 300)}, which cannot be opened (${errorCode(error)}).`;
    const carry = `\`untildone plan move ${id} PLAN.md\` and \`untildone run --plan PLAN.md\``;
    throw new UntildoneError('usage', `${gone} ${carry} carry its plan elsewhere.`);
  });
  if (directory !== realpathSync(io.cwd))
    printComplaint(
      io,
      `Session ${name} goes on in its own folder: ${escapeForTerminal(directory, 300)}`,
    );
  return directory;
}

/**
 * Reads `--resume WORD`. A word with a space in it is no session id, as in `--resume "and
 * update the docs"`: it is a message for the last session.
 */
function readResume(given: Arguments, goalText: string | null) {
  const goal = unlessBlank(goalText);
  const word = unlessBlank(given.text('resume'));
  if (word === null) return { word: null, goal };
  return goal === null && /\s/u.test(word) ? { word: null, goal: word } : { word, goal };
}

/**
 * Reads the goal from `run "…"`, `run -` or `run --goal-file FILE`; from standard input
 * if nothing else says what to do.
 */
async function readGoal(given: Arguments, io: Io): Promise<string | null> {
  const typedGoal = given.positional(0);
  const file = given.text('goal-file');
  if (file !== null && typedGoal !== null)
    throw new UntildoneError(
      'usage',
      'Say the goal, or name its file with --goal-file, not both.',
    );
  if ((file ?? typedGoal) === '-') {
    if (!hasPipedInput())
      printComplaint(io, 'Type the goal; Ctrl-D on an empty line ends it.');
    return readInput(true);
  }
  if (file !== null) {
    const bytes = await readFile(resolve(io.cwd, file)).catch((error: unknown) => {
      throw new UntildoneError(
        'usage',
        `${escapeForTerminal(file, 300)} cannot be read (${errorCode(error)}).`,
      );
    });
    return asText(bytes, escapeForTerminal(file, 300));
  }
  const isOpen = typedGoal === null && !given.has('plan') && !given.has('resume');
  return isOpen && hasPipedInput() ? readInput(false) : typedGoal;
}

/** Null for blank text: `run "$GOAL"` with an empty variable must not start anything. */
function unlessBlank(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text;
}

/** The commands of `--check`. */
function checkLines(given: Arguments): readonly string[] {
  const lines = given.texts('check');
  if (lines.every((line) => line.trim() !== '')) return lines;
  throw new UntildoneError(
    'usage',
    'An empty --check proves nothing: name a command, such as "npm test".',
  );
}
