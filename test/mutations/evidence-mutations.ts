// Ways to break how checks prove anything: evidence, staleness, the final run, the record
// of the plan (V1, V2, V4).
import { mutationsOf } from './mutation.ts';

export const evidenceMutations = mutationsOf({
  'src/core/check-results.ts': {
    'baseline-stays-where-it-was': {
      find: 'return { ...state, work, baseline: { ...baseline, fingerprint, writes: work.writes } };',
      replace: 'return { ...state, work };',
      why: 'what a check wrote counts as work as soon as the agent runs any command',
    },
    'baseline-moves-over-work': {
      find: 'if (baseline === null || hasWorked(state, baseline)) return',
      replace: 'if (baseline === null) return',
      why: 'a check that runs after the work makes the work invisible',
    },
    'replaced-checks-remembered': {
      find: '.filter(([check]) => checks.includes(check))',
      replace: '.filter(() => true)',
      why: 'a check that the human took back still speaks',
    },
    'replaced-checks-unrecorded': {
      find: "    draft.log('checks-edited', null, { checks: checks.join(', ') });\n",
      replace: '',
      why: 'the record does not say that other checks hold',
    },
    'check-any-name': {
      find: "if (todo?.status !== 'completed' || !todo.checks.includes(check)) return state;",
      replace: "if (todo?.status !== 'completed') return state;",
      why: 'a check that is not the todo’s own settles it',
    },
    'one-check-is-enough': {
      find: 'if (checksOf(proved).length > 0) return proved;',
      replace: 'if (proved.evidence.length === 0) return proved;',
      why: 'a todo with two checks has passed after one',
    },
    'evidence-always-calm': {
      find: 'fingerprint: wasQuiet(state, event) ? event.fingerprint : null,',
      replace: 'fingerprint: event.fingerprint,',
      why: 'what was written while a check ran counts as checked',
    },
    'calm-ignores-running-calls': {
      find: 'event.writes === work.writes && work.started === work.writes',
      replace: 'event.writes === work.writes',
      why: 'a call that still writes does not void evidence',
    },
    'calm-ignores-ended-calls': {
      find: 'event.writes === work.writes && work.started === work.writes',
      replace: 'work.started === work.writes',
      why: 'a call that wrote does not void evidence',
    },
    'failed-keeps-evidence': {
      find: '      evidence: [],\n      failureTail: event.tail,',
      replace: '      failureTail: event.tail,',
      why: 'what passed before a failure still counts',
    },
    'waiting-is-failed': {
      find: "if (event.result === 'waiting') return waitForHuman(state, event);",
      replace: '',
      why: 'a question to a human counts as a failure',
    },
    'waiting-asks-nobody': {
      find: 'const waiting = waitForApproval(state, check);',
      replace: 'const waiting = state;',
      why: 'a check that waits for a human is forgotten',
    },
    'verify-in-observe': {
      find: "if (policy.settings.mode !== 'enforce') return state;",
      replace: '',
      why: 'observing runs checks',
    },
    'verify-forgets-goal': {
      find: "todoId === null && goal[check]?.state === 'running'",
      replace: 'todoId === null && goal[check] === undefined',
      why: 'nobody waits for the checks of the goal',
    },
    'final-run-of-another-stop': {
      find: 'finalRun.stop !== event.stop || finalRun.ended',
      replace: 'finalRun.ended',
      why: 'the end of an older run settles a newer stop',
    },
    'edited-checks-untold': {
      find: "if (event.edited.length > 0)\n      draft.log('checks-edited', null, { files: event.edited.join(', ') });",
      replace: '',
      why: 'edits of the configuration leave no trace',
    },
    'ignored-files-untold': {
      find: 'const { hidden = [] } = event;',
      replace: 'const hidden: string[] = [];',
      why: 'nobody hears that the agent ignored files',
    },
    'record-lost-pass-unnoted': {
      find: "if (todo.verification !== 'passed') return setVerification(waiting, todo, 'claimed');",
      replace: "return setVerification(waiting, todo, 'claimed');",
      why: 'a pass that a human has to give again is taken for an edit of the store',
    },
  },
  'src/checks/git.ts': {
    'new-rules-count': {
      find: "return isNew(path, since) ? '' : (textNow(path) ?? '');",
      replace: "return textNow(path) ?? '';",
      why: 'an agent hides a file with a .gitignore further down',
    },
    'rules-of-now': {
      find: 'known === undefined\n    ? isNew(path, since)\n    : known === null || known !== textNow(path)',
      replace: 'known === undefined && isNew(path, since)',
      why: 'an agent hides a file with the .gitignore of the project',
    },
  },
  'src/core/plan.ts': {
    'claim-keeps-evidence': {
      find: '    evidence: [],\n',
      replace: '',
      why: 'a todo that was reopened needs no new proof',
    },
  },
  'src/core/rules.ts': {},
  'src/core/stop.ts': {
    'late-run-unmarked': {
      find: '? { ...finalRun, overdue: true }',
      replace: '? finalRun',
      why: 'a run that was waited for is not taken up again',
    },
    'broken-record-is-done': {
      find: "return { outcome: 'claimed' as const, sentence: warning,",
      replace: 'return { outcome, sentence: warning,',
      why: 'a forged record leads to done',
    },
    'claim-hides-damage': {
      find: "(outcome !== 'done' && outcome !== 'claimed')",
      replace: "outcome !== 'done'",
      why: 'a claim from a damaged record is told as an honest one',
    },
    'limit-is-stagnation': {
      find: "kind === 'checks-running' || end === 'error'",
      replace: "kind === 'checks-running'",
      why: 'an hour of rate limits ends an honest agent',
    },
  },
  'src/engine/engine.ts': {
    'record-never-looked-at': {
      find: 'if (isSettled && loaded',
      replace: 'if (false && loaded',
      why: 'a forged record is never found',
    },
    'two-runs-one-waited-for': {
      find: 'checks = joinChecks(checks, runChecks(state, command));',
      replace: 'checks = runChecks(state, command);',
      why: 'the checks of an earlier event are not waited for',
    },
    'seal-not-checked': {
      find: 'withComparedSeal(loaded.state, loaded);',
      replace: 'loaded.state;',
      why: 'a session that was edited in the store is believed',
    },
  },
  'src/core/ledger.ts': {
    'record-forged-row': {
      find: "if (!noted.has(todoId) && change !== 'created')",
      replace: 'if (!noted.has(todoId) && todoId === change)',
      why: 'a todo that was put there by hand is taken for one of the plan once its check has passed',
    },
    'record-laundered-edit': {
      find: 'if (was !== undefined && was !== noted.get(todoId))',
      replace: 'if (was !== undefined && !noted.has(todoId))',
      why: 'an edit of a todo is forgotten as soon as an honest change follows it',
    },
    'record-rows-not-compared': {
      find: 'noted.get(todo.id) !== todoState(todo)',
      replace: '!noted.has(todo.id)',
      why: 'a row that was changed is not found',
    },
    'record-missing-rows': {
      find: 'if (noted.size !== plan.length)',
      replace: 'if (noted.size < plan.length)',
      why: 'a row that was removed is not found',
    },
    'record-chain-not-walked': {
      find: 'if (!chain.intact)',
      replace: 'if (!chain)',
      why: 'a changed ledger is not found',
    },
  },
  'src/core/human.ts': {
    'ignored-files-remembered': {
      find: '    hidden: [],\n',
      replace: '',
      why: 'files that the human sees ignored are told again and again',
    },
    'record-broken-for-ever': {
      find: '    recordBroken: null,\n',
      replace: '',
      why: 'a damaged record is held against every later turn',
    },
    'started-calls-run-on': {
      find: '    work: { ...placed.work, started: placed.work.writes },\n',
      replace: '',
      why: 'a call that was lost voids evidence for ever',
    },
    'approval-outlives-words': {
      find: 'placed.waits.questions.filter((id) => !isApprovalRequest(id))',
      replace: 'placed.waits.questions',
      why: 'a human who answered in the chat is waited for',
    },
  },
  'src/engine/runtime.ts': {
    'lost-answer-elsewhere': {
      find: 'return finished ?? (await answeredElsewhere(store, first));',
      replace: 'return finished ?? first;',
      why: 'a stop that another process decided is answered wrongly',
    },
  },
  'src/engine/policy.ts': {
    'policy-text-believed': {
      find: 'text !== null && policyKey(text, hash) === key ?',
      replace: 'text !== null ?',
      why: 'checks that were edited out of the snapshot are not missed',
    },
  },
  'src/core/same-checks.ts': {
    'rights-do-not-count': {
      find: 'environment: [...sortedOnce(environment)],',
      replace: 'environment: [],',
      why: 'a check that needs a variable is run as one that does not get it',
    },
    'shorter-timeout-wins': {
      find: 'Math.max(known.timeoutMs, spec.timeoutMs)',
      replace: 'Math.min(known.timeoutMs, spec.timeoutMs)',
      why: 'a suite that may take long is stopped early, because it was also given without a timeout',
    },
    'shell-lines-guessed': {
      find: "const isPlain =\n    words.every(isPlainWord) && !program.includes('=') && !shellBuiltins.has(program);",
      replace: 'const isPlain = true as boolean;',
      why: 'a line that a shell reads otherwise is run as if it were plain words',
    },
  },
  'src/core/plan-edit.ts': {
    'families-doubled': {
      find: 'if (\n      twin !== undefined &&\n      (item.hostKey === undefined) !== (twin.hostKey === null)\n    ) {',
      replace: 'if (false as boolean && twin !== undefined) {',
      why: 'two families of todo tools make two plans',
    },
    'agent-changes-checks': {
      find: "draft.actor === 'agent' ? undefined : changes.checks",
      replace: 'changes.checks',
      why: 'an agent takes the check from its own todo',
    },
    'new-check-proved-by-old': {
      find: 'evidence.length === checks.length;',
      replace: 'evidence.length > 0;',
      why: 'a check that the human added is never run on what is finished',
    },
  },
  'src/core/settlement.ts': {
    'red-before-unsaid': {
      find: "return checks.length === 0 ? '' :",
      replace: "return checks.length >= 0 ? '' :",
      why: 'the outcome hides that the check failed before the work began',
    },
    'red-before-any': {
      find: "baseline?.checks[check] === 'failed'",
      replace: 'baseline !== null',
      why: 'what the agent broke is said to have been broken before',
    },
    'protected-paths-prove-work': {
      find: 'isDue && goalChecks.some((check) => check !== protectedPathsId)',
      replace: 'isDue',
      why: 'untouched tests prove work that nobody checked',
    },
    'unanswered-human-is-done': {
      find: "if (counts.unverified > 0 || isMissing) return 'unverified';",
      replace: "if (counts.unverified > 0) return 'unverified';",
      why: 'a check that no human answered counts as passed',
    },
    'cancelled-check-is-done': {
      find: "if (counts.unproved > 0) return 'unproved';",
      replace: '',
      why: 'cancelling a todo gets rid of its check',
    },
    'flaky-todo-is-done': {
      find: 'if (counts.flaky > 0 || goalChecks',
      replace: 'if (goalChecks',
      why: 'a flaky check of a todo proves it',
    },
    'late-run-after-writes': {
      find: 'return descriptor.seesTools && finalRun.writes === work.writes;',
      replace: 'return descriptor.seesTools;',
      why: 'what was written after a check counts as checked',
    },
    'late-run-forgotten': {
      find: 'return descriptor.seesTools && finalRun.writes === work.writes;',
      replace: 'return false;',
      why: 'a slow check is started again at every stop',
    },
    'stale-not-looked-at': {
      find: 'const any = goalChecksDue(context) || unverified > 0 || passed > 0;',
      replace: 'const any = goalChecksDue(context) || unverified > 0;',
      why: 'evidence never goes stale',
    },
    'final-run-ends-early': {
      find: 'return finalRun !== null && finalRun.stop === context.stop.eventId && !finalRun.ended;',
      replace: 'return false;',
      why: 'a turn is settled before what is stale was run again',
    },
  },
});
