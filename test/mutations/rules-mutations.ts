// Each rule made silent, and each of their conditions loosened.
import { mutationsOf } from './mutation.ts';

export const rulesMutations = mutationsOf({
  'src/core/rules.ts': {
    'countdown-not-begun-anew': {
      find: 'const since = Math.max(stop.at, stop.waitedUntil ?? 0);',
      replace: 'const since = stop.at;',
      why: 'after a permission was given the text goes out without a countdown',
    },
    'rule-check-cannot-start-silent': {
      find: 'const stuckChecks = isSettled(context) ? findUnstartableChecks(context) : [];',
      replace: 'const stuckChecks: ReturnType<typeof findUnstartableChecks> = [];',
      why: 'a check that cannot start ends as claimed, and nobody is told why',
    },
    'rule-stagnant-ignores-claims': {
      find: 'const claims = claimsWaitedFor(context);',
      replace: 'const claims = null as ReturnType<typeof claimsWaitedFor>;',
      why: 'a turn ends stagnant while the check that would prove its work runs',
    },
    'rule-no-change-silent': {
      find: 'if (hasChanged(context)) return null;',
      replace: 'if (true) return null;',
      why: 'an agent that only talked is done, because the checks passed before it began',
    },
    'rule-no-plan-done': {
      find: "return letGo('claimed', justAnswered,",
      replace: "return letGo('done', justAnswered,",
      why: 'run … && deploy deploys what nobody verified',
    },
    'rule-disabled-silent': {
      find: "if (mode !== 'off' && enabled) return null;",
      replace: 'if (true) return null;',
      why: 'off would not be off',
    },
    'rule-disabled-ignores-enabled': {
      find: "if (mode !== 'off' && enabled) return null;",
      replace: "if (mode !== 'off') return null;",
      why: 'an agent that was switched off is continued',
    },
    'rule-not-our-session-silent': {
      find: "descriptor.kind === 'other'\n",
      replace: "descriptor.kind === 'other' && false\n",
      why: 'title and summary sessions are continued',
    },
    'rule-subagent-silent': {
      find: "if (kind !== 'subagent' || subagents !== 'off') return null;",
      replace: 'if (true) return null;',
      why: "a subagent is held against its parent's plan",
    },
    'rule-skipped-agent-silent': {
      find: 'return settings.skipAgents.some(',
      replace: 'return false && settings.skipAgents.some(',
      why: 'plan-mode agents are pressed to write',
    },
    'rule-skipped-agent-letter-case': {
      find: 'const name = state.agent.name?.toLowerCase();',
      replace: 'const name = state.agent.name;',
      why: 'an agent escapes the skip list by its letter case',
    },
    'rule-read-only-silent': {
      find: "if (canWrite === 'no')\n      return skip",
      replace: 'if (false) return skip',
      why: 'read-only agents are continued',
    },
    'rule-read-only-unknown': {
      find: "return canWrite === 'unknown' && !everyAgentWrites",
      replace: 'return false && !everyAgentWrites',
      why: 'an agent of unknown rights is continued',
    },
    'rule-deleted-silent': {
      find: 'state.deleted ? skip',
      replace: 'false ? skip',
      why: 'a deleted session is continued',
    },
    'rule-aborted-silent': {
      find: 'if (latch === null) return null;',
      replace: 'if (latch === null || true) return null;',
      why: 'an abort is ignored',
    },
    'rule-aborted-resettles': {
      find: "const hadEnded = hadEndedOtherwise(state, 'aborted');",
      replace: 'const hadEnded = false;',
      why: 'a stop attempt after the end takes the outcome away',
    },
    'rule-paused-resettles': {
      find: "if (hadEndedOtherwise(state, 'paused'))\n        return skip(\n          `You",
      replace: 'if (false)\n      return skip(`You',
      why: 'a pause after the end takes the outcome away',
    },
    'rule-paused-by-human-silent': {
      find: "if (pause?.by !== 'human' && pause?.by !== 'rejection') return null;",
      replace: "if (pause?.by !== 'rejection') return null;",
      why: 'a pause is ignored',
    },
    'rule-rejection-silent': {
      find: "if (pause?.by !== 'human' && pause?.by !== 'rejection') return null;",
      replace: "if (pause?.by !== 'human') return null;",
      why: 'a rejected request is pressed again',
    },
    'rule-timer-expired-silent': {
      find: "if (pause?.by !== 'system') return null;",
      replace: "if (pause?.by !== 'system' || true) return null;",
      why: "yesterday's countdown spends today's tokens",
    },
    'rule-paused-by-model-silent': {
      find: "if (pause?.by !== 'model') return null;",
      replace: "if (pause?.by !== 'model' || true) return null;",
      why: 'the escape hatch of the model does nothing',
    },
    'rule-already-answered-silent': {
      find: "if (descriptor.mode !== 'told' || activeSinceAnswer) return null;",
      replace: 'if (true) return null;',
      why: 'a host that idles twice is told twice',
    },
    'rule-recovering-silent': {
      find: 'waits.recovering ? wait',
      replace: 'false ? wait',
      why: 'a session is continued while it recovers',
    },
    'rule-compacting-silent': {
      find: 'waits.compacting\n      ? wait',
      replace: 'false ? wait',
      why: 'a session is continued while it compacts',
    },
    'rule-permission-silent': {
      find: 'const pending = state.waits.permissions.length;',
      replace: 'const pending = 0 * state.waits.permissions.length;',
      why: 'a pending permission is talked over',
    },
    'rule-question-silent': {
      find: 'const pending = state.waits.questions.length;',
      replace: 'const pending = 0 * state.waits.questions.length;',
      why: 'a pending question is talked over',
    },
    'rule-permission-headless': {
      find: "? letGo(\n          'paused',\n          `A permission request",
      replace: '? wait(`A permission request',
      why: 'a run without a terminal waits for ever',
    },
    'rule-background-cut-calls': {
      find: "if (subagents === 0 || stop.end === 'iteration-budget') return null;",
      replace: 'if (subagents === 0) return null;',
      why: 'an agent at work waits for a server',
    },
    'rule-background-silent': {
      find: "if (subagents === 0 || stop.end === 'iteration-budget') return null;",
      replace: 'if (true) return null;',
      why: 'subagents are not waited for',
    },
    'rule-background-unbounded': {
      find: 'if (at >= until) return null;',
      replace: '',
      why: 'a development server stops the work for ever',
    },
    'rule-background-shell-waits': {
      find: "const subagents = state.jobs.filter(({ kind }) => kind === 'subagent').length;",
      replace: 'const subagents = state.jobs.length;',
      why: 'other work stands still while a shell job runs',
    },
    'rule-ended-cancelled-silent': {
      find: "if (end === 'cancelled') return letGo",
      replace: 'if (false) return letGo',
      why: 'a cancelled step is continued',
    },
    'rule-ended-error-silent': {
      find: "if (end !== 'error') return null;",
      replace: 'if (true) return null;',
      why: 'errors are continued in a loop',
    },
    'rule-ended-error-hides-limit': {
      find: 'if (\n        inputs.rateLimited ||\n        state.overflows >= 2 ||\n        sameErrors >= settings.circuitAfter\n      )\n        return null;',
      replace: 'if (sameErrors >= settings.circuitAfter) return null;',
      why: 'a rate limit counts as a failure',
    },
    'rule-refused-silent': {
      find: "if (end === 'refusal')\n        return letGo",
      replace: 'if (false) return letGo',
      why: 'a refusal is pressed',
    },
    'rule-content-filter-silent': {
      find: "return end === 'content-filter'\n",
      replace: "return end === 'content-filter' && false\n",
      why: 'a filtered answer is pressed',
    },
    'rule-no-plan-silent': {
      find: 'return skip(goalChecks.length === 0 ? nothingToVerify : checksNotDue, inputs);',
      replace: 'return null;',
      why: 'an agent that just answered is pressed',
    },
    'rule-no-plan-ignores-goal': {
      find: '(all > 0 && (touchedPlan || open > 0)) || goalChecksDue(context)',
      replace: 'all > 0 && (touchedPlan || open > 0)',
      why: 'a goal check is never run without a plan',
    },
    'rule-no-plan-settles-cut-calls': {
      find: "if (\n        stop.end === 'iteration-budget' ||\n        isErrorJudgedBelow(context) ||\n        mustTellAgentFirst(context)\n      )\n        return null;",
      replace:
        'if (isErrorJudgedBelow(context) || mustTellAgentFirst(context)) return null;',
      why: 'an agent whose calls were cut counts as done',
    },
    'rule-no-plan-hides-limit': {
      find: "  if (stop.end !== 'error') return false;\n  const limited",
      replace: '  if (true) return false;\n  const limited',
      why: 'a rate limit before the first answer ends the turn',
    },
    'rule-no-plan-failure-done': {
      find: "letGo(\n          'failed',\n          'The step ended in an error before",
      replace: "letGo('done', 'The step ended in an error before",
      why: 'a failed step counts as done',
    },
    'rule-plan-not-resumed-silent': {
      find: 'if (!isAnother && (leftOver === 0 || !isSettled(context))) return null;',
      replace: 'if (true) return null;',
      why: "a question is answered with yesterday's plan",
    },
    'rule-plan-not-resumed-ignores-phrase': {
      find: 'const isAnother = open > 0 && !touchedPlan && !goesOn &&',
      replace: 'const isAnother = open > 0 && !touchedPlan &&',
      why: 'go on does not go on',
    },
    'rule-all-blocked-silent': {
      find: 'if (open > 0 || blocked === 0 || dueChallenge(context) !== null) return null;',
      replace: 'if (true) return null;',
      why: 'a blocked plan has no outcome of its own',
    },
    'rule-all-blocked-ignores-challenge': {
      find: 'if (open > 0 || blocked === 0 || dueChallenge(context) !== null) return null;',
      replace: 'if (open > 0 || blocked === 0) return null;',
      why: 'blocking everything is a way out',
    },
    'rule-nothing-open-silent': {
      find: "return letGo(rests === 'checks' ? 'done' : 'claimed', describeRest(context), {\n        ...inputs,\n        rests,\n      });",
      replace: 'return null;',
      why: 'a finished agent is continued until a limit ends it',
    },
    'rule-nothing-open-ignores-running': {
      find: "if (areRunning) return wait('Checks are running.', inputs);",
      replace: '',
      why: 'a turn is settled while its checks run',
    },
    'rule-nothing-open-ignores-goal': {
      find: 'if (failed) return null;',
      replace: '',
      why: 'a failed goal check does not matter',
    },
    'rule-nothing-open-checks-in-observe': {
      find: "if (settings.mode === 'enforce') {",
      replace: 'if (true) {',
      why: 'observing runs checks',
    },
    'rule-nothing-open-overdue-forgotten': {
      find: ' || (state.checksOverdue && areRunning)) return null;',
      replace: ') return null;',
      why: 'an agent is let go because its checks are slow',
    },
    'rule-repeated-question-silent': {
      find: 'if (!stop.question || state.questions < 2) return null;',
      replace: 'if (true) return null;',
      why: 'an agent that needs a human is pressed again and again',
    },
  },
  'src/core/settlement.ts': {
    'empty-first-answer-settles': {
      find: "(isRun && stop.end === 'empty' && state.emptyAnswers === 1)",
      replace: 'false',
      why: 'an empty first answer ends the run',
    },
    'baseline-failures-forgotten': {
      find: "return Object.entries(checks).some(\n    ([check, result]) => given.has(check) && result !== 'passed',\n  );",
      replace: 'return false;',
      why: 'a check that was made to pass proves nothing',
    },
    'goal-checks-skipped-in-a-run': {
      find: 'descriptor.judgesGoal === true ||\n    turn',
      replace: 'turn',
      why: 'an agent that only talks passes by the check that the human gave',
    },
    'goal-checks-always-due': {
      find: 'descriptor.judgesGoal === true ||\n    turn?.touchedPlan === true ||\n    turn?.touchedWorkspace === true\n',
      replace: 'true\n',
      why: 'a mere question runs the checks of the goal',
    },
    'outcome-claims-done': {
      find: "return goalProves || (counts.uncovered === 0 && counts.passed > 0) ? 'checks' : 'word';",
      replace: "return 'checks';",
      why: 'the word of the agent ends as done',
    },
    'outcome-unverified-done': {
      find: "if (counts.unverified > 0 || isMissing) return 'unverified';",
      replace: "if (isMissing) return 'unverified';",
      why: 'a claim whose check did not pass ends as done',
    },
    'outcome-flaky-done': {
      find: " || goalChecks.some((check) => state.goal[check]?.flaky))\n    return 'flaky';",
      replace: ") return 'flaky';",
      why: 'a flaky pass ends as done',
    },
    'outcome-all-cancelled-done': {
      find: "if (isOnlyCancelled(counts)) return 'word';",
      replace: '',
      why: 'cancelling everything ends as done',
    },
    'outcome-unexplained-done': {
      find: "if (counts.unexplained > 0) return 'unexplained';",
      replace: '',
      why: 'dropping the hard todos ends as done',
    },
    'rule-nothing-open-run-for-ever': {
      find: 'return any && (finalRun?.stop !== context.stop.eventId || finalRun.claimsOnly);',
      replace: 'return any;',
      why: 'the final checks are run again and again',
    },
    'rule-nothing-open-no-final-run': {
      find: 'return any && (finalRun?.stop !== context.stop.eventId || finalRun.claimsOnly);',
      replace: 'return false;',
      why: 'the checks of the human are never run',
    },
    'rule-nothing-openDrivenSession-ignores-challenge': {
      find: 'openCount(counts) === 0 &&\n    dueChallenge(context) === null &&',
      replace: 'openCount(counts) === 0 &&',
      why: 'bulk claims go unchallenged',
    },
  },
  'src/core/human.ts': {
    'words-part-from-the-plan': {
      find: 'state.descriptor.judgesGoal === true && isUnfinished(state)',
      replace: 'false && isUnfinished(state)',
      why: 'a word typed after an abort lets the open todos go',
    },
  },
  'src/core/check-results.ts': {
    'unstartable-check-reopens': {
      find: "else if (event.result === 'cannot-start') {",
      replace: "else if (event.result === 'cannot-start' && todo.attempts < 0) {",
      why: 'a missing program reopens a finished todo for ever',
    },
  },
  'src/core/decide.ts': {
    'countdown-runs-through-recovery': {
      find: "const isHeld = event.type === 'wait-started' && first.state.timer?.purpose === 'due';",
      replace: 'const isHeld = false;',
      why: 'the toasts of a countdown go on while the session recovers',
    },
  },
});
