// What lets a stop settle, and in which order it is asked (V1, P36, P37, P44, P46): done
// must rest on what was seen. And what keeps an agent from switching off what its human
// accepted (V10).
import { mutationsOf } from './mutation.ts';

/** One rule is asked before all others. */
const first = (rule: string) => ({
  find: 'undelivered === null ? stopRules : deliveryRules',
  replace: `undelivered === null ? stopRules.toSorted((one, other) => Number(other.name === '${rule}') - Number(one.name === '${rule}')) : deliveryRules`,
});

export const trustMutations = mutationsOf({
  'src/engine/policy.ts': {
    'accepted-only-inside-the-repository': {
      find: 'if (place.isAbove && !isAcceptedHere) continue;',
      replace: 'if (place.isAbove) continue;',
      why: 'an agent switches accepted checks off with an empty .git',
    },
    'strangers-above-are-read': {
      find: 'if (place.isAbove && !isAcceptedHere) continue;',
      replace: '',
      why: 'a file above the repository is told as if it were the project’s',
    },
  },
  'src/engine/trust.ts': {
    'accepted-by-key-alone': {
      find: 'all.find(({ folder }) => folder === place.real) ??',
      replace: '',
      why: 'an agent switches accepted checks off by removing .git',
    },
    'worktree-lost-with-its-git': {
      find: ' ?? findNearest(places, all.flatMap(inWorktrees))',
      replace: '',
      why: 'an agent in a worktree switches accepted checks off by removing .git',
    },
    'worktree-forgets-its-folder': {
      find: '.filter(({ key, folder }) => key !== at.key || folder !== at.folder)',
      replace: '.filter(({ key }) => key !== at.key)',
      why: 'accepted in one worktree, it is lost in another with its .git',
    },
  },
  'src/engine/system.ts': {
    'linked-git-is-shared': {
      find: 'if (fs.lstatSync(dot).isSymbolicLink()) return { own, common, shared: null };',
      replace: '',
      why: 'a link to the .git of another accepted project lends its weaker set',
    },
  },
  'src/core/stop.ts': {
    'rule-order-looping-first': {
      ...first('looping'),
      why: 'a refusal ends as stagnant',
    },
    'rule-order-nothing-open-first': {
      ...first('nothing-open'),
      why: 'checks that prove no work, or cannot start, end as done or claimed',
    },
    'rule-order-no-plan-first': {
      ...first('no-plan'),
      why: 'an abort in a question is told as an answer',
    },
    'rule-order-subagent-late': {
      find: 'undelivered === null ? stopRules : deliveryRules',
      replace:
        "undelivered === null ? stopRules.toSorted((one, other) => Number(one.name === 'subagent-at-work') - Number(other.name === 'subagent-at-work')) : deliveryRules",
      why: 'an agent is pressed while its subagent works',
    },
  },
  'src/core/rules.ts': {
    'no-change-in-hosts': {
      find: "if (!judgesGoal(state) || !isSettled(context) || outcomeBasis(context) !== 'checks')\n        return null;",
      replace:
        "if (!isSettled(context) || outcomeBasis(context) !== 'checks') return null;",
      why: 'in a host, which takes no baseline, nothing is ever done',
    },
    'no-change-before-the-checks': {
      find: "if (!judgesGoal(state) || !isSettled(context) || outcomeBasis(context) !== 'checks')\n        return null;",
      replace:
        "if (!judgesGoal(state) || outcomeBasis(context) !== 'checks') return null;",
      why: 'a stop is settled before its checks ran',
    },
    'no-change-hides-what-it-rests-on': {
      find: "if (!judgesGoal(state) || !isSettled(context) || outcomeBasis(context) !== 'checks')\n        return null;",
      replace: 'if (!judgesGoal(state) || !isSettled(context)) return null;',
      why: '--accept-claims accepts a flaky check',
    },
    'cannot-start-before-the-rest': {
      find: 'const stuckChecks = isSettled(context) ? findUnstartableChecks(context) : [];',
      replace: 'const stuckChecks = findUnstartableChecks(context);',
      why: 'a program that is not there yet ends the run while todos are open',
    },
    'looping-beats-finished-work': {
      find: ' || (planSize(counts) > 0 && openCount(counts) === 0))\n        return null;',
      replace: ') return null;',
      why: 'an agent that repeated itself and then finished ends as stagnant',
    },
    'left-over-todos-vanish': {
      find: 'if (!isAnother && (leftOver === 0 || !isSettled(context))) return null;',
      replace: 'if (!isAnother) return null;',
      why: 'a settled plan is done beside open todos of an earlier turn',
    },
    'left-over-before-the-checks': {
      find: 'if (!isAnother && (leftOver === 0 || !isSettled(context))) return null;',
      replace: 'if (!isAnother && leftOver === 0) return null;',
      why: 'open todos of an earlier turn let this turn go unchecked',
    },
    'run-lets-its-todos-go': {
      find: '!goesOn && !judgesGoal(state);',
      replace: '!goesOn;',
      why: 'a run that was resumed with other words is let go with its todos open',
    },
    'no-plan-hides-a-broken-record': {
      find: 'if (!judgesGoal(state) && state.recordBroken === null)',
      replace: 'if (!judgesGoal(state))',
      why: 'a plan that vanished from the store is taken for a question',
    },
    'no-plan-hides-left-over': {
      find: 'if (state.leftOver !== null) return null;',
      replace: '',
      why: 'an answer hides the open todos of an earlier turn',
    },
    'no-plan-before-it-is-told': {
      find: 'isErrorJudgedBelow(context) ||\n        mustTellAgentFirst(context)\n      )\n        return null;\n      const all',
      replace: 'isErrorJudgedBelow(context)) return null;\n    const all',
      why: 'a run ends with a job that nobody was asked about',
    },
  },
  'src/core/settlement.ts': {
    'settled-before-it-is-told': {
      find: 'dueChallenge(context) === null &&\n    !mustTellAgentFirst(context)\n',
      replace: 'dueChallenge(context) === null\n',
      why: 'a run ends with a job that nobody was asked about',
    },
    'settled-by-cut-calls': {
      find: "if (stop.end === 'iteration-budget' || (stop.end === 'error' && planSize(counts) === 0))\n    return false;",
      replace: "if (stop.end === 'error' && planSize(counts) === 0) return false;",
      why: 'an agent whose calls were cut has finished',
    },
    'settled-without-a-final-run': {
      find: 'return !finalRunDue(context) && !checksRunning(context) && !hasGoalCheckFailed(context);',
      replace: 'return !checksRunning(context) && !hasGoalCheckFailed(context);',
      why: 'an outcome rests on checks of an earlier state',
    },
    'settled-while-checks-run': {
      find: 'return !finalRunDue(context) && !checksRunning(context) && !hasGoalCheckFailed(context);',
      replace: 'return !finalRunDue(context) && !hasGoalCheckFailed(context);',
      why: 'an outcome is told while a check still runs',
    },
    'settled-although-the-goal-failed': {
      find: 'return !finalRunDue(context) && !checksRunning(context) && !hasGoalCheckFailed(context);',
      replace: 'return !finalRunDue(context) && !checksRunning(context);',
      why: 'a check that cannot start hides one that failed',
    },
    'unstartable-claims-unseen': {
      find: '    ...claims.flatMap(',
      replace: '    ...claims.slice(claims.length).flatMap(',
      why: 'a todo whose check cannot start ends as claimed',
    },
    'unstartable-not-due': {
      find: 'const due = goalChecksDue(context) ? goalChecks : [];',
      replace: 'const due = goalChecks;',
      why: 'a turn that touched nothing is blocked by a check of an earlier one',
    },
    'job-not-asked-about': {
      find: "if (isRun && unnamedJobs(context).some(({ kind }) => kind === 'shell')) return true;",
      replace: '',
      why: 'a run ends with a server left running, and nobody was asked',
    },
    'job-asked-about-in-hosts': {
      find: "if (isRun && unnamedJobs(context).some(({ kind }) => kind === 'shell')) return true;",
      replace:
        "if (unnamedJobs(context).some(({ kind }) => kind === 'shell')) return true;",
      why: 'an agent in a host is pressed because a server runs',
    },
    'loop-without-a-plan-untold': {
      find: '(state.loopAlarms > 0 && !state.loopTold) ||',
      replace: '',
      why: 'an agent without a plan is never told that it repeats itself',
    },
    'change-of-files-unseen': {
      find: 'if (areKnown && hasWritten && work.fingerprint !== fingerprint) return true;',
      replace: '',
      why: 'work on checks that passed before is never done',
    },
    'change-without-a-call': {
      find: 'areKnown && hasWritten &&',
      replace: 'areKnown &&',
      why: 'a file that a check writes makes an agent that only talks done',
    },
    'change-without-a-baseline': {
      find: 'if (baseline === null) return false;',
      replace: 'if (baseline === null) return true;',
      why: 'a run whose beginning nobody saw is done without a change',
    },
    'change-by-a-check-of-before': {
      find: 'given.has(check) && result',
      replace: 'result',
      why: 'a failing check that was replaced passes for a change',
    },
  },
});
