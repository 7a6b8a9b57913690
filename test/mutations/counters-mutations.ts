// The three counters: each increment, each reset, each sign of progress (G6, G7).
import { mutationsOf } from './mutation.ts';

export const countersMutations = mutationsOf({
  'src/core/stop.ts': {
    'count-total': {
      find: 'const total = counters.total + 1;',
      replace: 'const total = counters.total;',
      why: 'the ceiling never comes',
    },
    'count-continuations': {
      find: 'const continuations = counters.continuations + 1;',
      replace: 'const continuations = counters.continuations;',
      why: 'the second limit never comes',
    },
    'count-stagnant': {
      find: 'stagnant: counters.stagnant + 1 };',
      replace: 'stagnant: counters.stagnant };',
      why: 'stagnation is never seen',
    },
    'count-checks-running-free': {
      find: "  if (kind === 'checks-running' || end === 'error') return { ...counters, total };\n",
      replace: '',
      why: 'waiting for checks counts against the agent',
    },
    'count-output-limit-stagnant': {
      find: "  if (kind === 'output-limit') return { ...counters, total, continuations };\n",
      replace: '',
      why: 'an output limit counts as stagnation',
    },
    'level-stuck': {
      find: 'Math.min(3, counters.stagnant + 1)',
      replace: '1',
      why: 'reminders never get firmer',
    },
    'challenge-not-remembered': {
      find: ': { ...state.challenged, [challenged]: true },',
      replace: ': { ...state.challenged, ends: true },',
      why: 'the same challenge is made again and again',
    },
    'challenge-ends-not-remembered': {
      find: ': { ...state.challenged, [challenged]: true },',
      replace: ': { ...state.challenged, claims: true },',
      why: 'the same challenge is made again and again',
    },
    'drops-not-named': {
      find: '({ ...todo, droppedNamedAt: at })',
      replace: '({ ...todo })',
      why: 'dropped todos are named for ever',
    },
    'loop-not-told': {
      find: "state.loopTold || kind === 'loop',",
      replace: 'state.loopTold,',
      why: 'the loop text comes again and again',
    },
    'loop-alarms-kept': {
      find: "kind === 'loop' ? 1 : state.loopAlarms",
      replace: 'state.loopAlarms',
      why: 'an agent that mended its ways is ended as looping',
    },
    'jobs-not-named': {
      find: "kind === 'background-job' ? state.jobs.map(({ id }) => id) : state.namedJobs",
      replace: 'state.namedJobs',
      why: 'the same job is named again and again',
    },
    'tool-error-forgotten': {
      find: "kind === 'tool-error' ? (next[0]?.id ?? null) : null",
      replace: 'null',
      why: 'a failing todo is tried for ever',
    },
    'compacted-kept': {
      find: '    compacted: false,\n',
      replace: '',
      why: 'the plan is given again at every stop',
    },
    'weak-counted-kept': {
      find: '      weakCounted: false,\n',
      replace: '',
      why: 'weak progress counts once in a turn',
    },
    'cut-continuation-answered': {
      find: '    progress: { ...state.progress, continuationOpen: false },\n',
      replace: '',
      why: 'a resume takes back a continuation that was answered',
    },
    'cut-continuation-uncounted': {
      find: 'counted.stagnant > counters.stagnant,',
      replace: 'true,',
      why: 'a death takes back a continuation that was never counted',
    },
    'turn-stays-ended': {
      find: 'turn: state.turn === null ? null : { ...state.turn, ended: false },',
      replace: '',
      why: 'a message during a resumed run starts a new plan',
    },
    'last-continuation-forgotten': {
      find: '    lastContinuationAt: at,\n',
      replace: '',
      why: 'the minimum interval is not kept',
    },
    'continuation-epoch': {
      find: 'observed ? state.epoch : state.epoch + 1',
      replace: 'state.epoch',
      why: 'the same epoch continues twice',
    },
    'continuation-stays-parked': {
      find: '    lastStop: stop,\n    parked: null,\n    timer: null,\n    settled: null,',
      replace: '    lastStop: stop,\n    timer: null,\n    settled: null,',
      why: 'a stop is continued twice',
    },
    'continuation-keeps-timer': {
      find: '    parked: null,\n    timer: null,\n    settled: null,',
      replace: '    parked: null,\n    settled: null,',
      why: 'a stop is continued twice',
    },
    'continuation-active': {
      find: '    activeSinceAnswer: false,\n    lastContinuationAt',
      replace: '    lastContinuationAt',
      why: 'a duplicate idle is continued',
    },
    'continuation-observed-counts': {
      find: "  if (observed)\n    return decidedStep(\n      decision,\n      endTurn(state),\n      answerCommands(context, decision, 'let-go'),\n    );\n",
      replace: '',
      why: 'observing is not observing',
    },
  },
  'src/core/human.ts': {
    'cut-continuation-counts': {
      find: 'Math.max(0, counters.stagnant - 1)',
      replace: 'counters.stagnant',
      why: 'a run that is killed three times ends as stagnant',
    },
    'cut-continuation-below-zero': {
      find: 'Math.max(0, counters.stagnant - 1)',
      replace: 'counters.stagnant - 1',
      why: 'a killed run earns continuations without progress',
    },
    'cut-continuation-twice': {
      find: '    progress: { ...progress, continuationOpen: false },\n',
      replace: '',
      why: 'each death takes back one more of the continuations that were answered',
    },
  },
  'src/core/work.ts': {
    'progress-stagnant-kept': {
      find: 'counters: { ...counters, stagnant: 0, continuations },',
      replace: 'counters: { ...counters, continuations },',
      why: 'honest work ends as stagnant',
    },
    'progress-final-keeps-second': {
      find: "signal === 'workspace' ? counters.continuations : 0",
      replace: 'counters.continuations',
      why: 'an honest agent does not drain a long plan',
    },
    'progress-workspace-zeroes-second': {
      find: "signal === 'workspace' ? counters.continuations : 0",
      replace: '0',
      why: 'busywork goes on for ever',
    },
    'progress-strong-keeps-weak': {
      find: 'progress: { ...progress, weakInRow: 0 },\n',
      replace: '',
      why: 'weak progress counts too rarely',
    },
    'progress-weak-unbounded': {
      find: 'if (progress.weakCounted || progress.weakInRow >= weakInRowLimit) return state;',
      replace: '',
      why: 'a toggling agent goes on for ever',
    },
    'progress-weak-often': {
      find: 'progress.weakCounted || progress.weakInRow >= weakInRowLimit',
      replace: 'progress.weakInRow >= weakInRowLimit',
      why: 'several weak changes count as several',
    },
    'progress-weak-limit': {
      find: 'const weakInRowLimit = 2;',
      replace: 'const weakInRowLimit = 3;',
      why: 'weak progress counts three times in a row',
    },
    'progress-weak-never': {
      find: '    counters: { ...counters, stagnant: 0 },\n',
      replace: '',
      why: 'starting a todo is no progress at all',
    },
    'progress-tree-known': {
      find: 'if (isKnown || isBaseline || !hasWritten) return updated;',
      replace: 'if (isBaseline || !hasWritten) return updated;',
      why: 'switching between two trees goes on for ever',
    },
    'progress-tree-baseline': {
      find: 'if (isKnown || isBaseline || !hasWritten) return updated;',
      replace: 'if (isKnown || !hasWritten) return updated;',
      why: 'the first look at the workspace is progress',
    },
    'progress-tree-unseen': {
      find: '!state.descriptor.seesTools || work.writes > work.writesAtFingerprint',
      replace: 'work.writes > work.writesAtFingerprint',
      why: 'an agent whose calls nobody sees never makes progress in files',
    },
    'progress-tree-by-others': {
      find: 'if (isKnown || isBaseline || !hasWritten) return updated;',
      replace: 'if (isKnown || isBaseline) return updated;',
      why: 'edits of others are progress of the agent',
    },
    'progress-tree-write-kept': {
      find: 'writesAtFingerprint: isKnown ? work.writesAtFingerprint : work.writes,',
      replace: 'writesAtFingerprint: work.writesAtFingerprint,',
      why: 'one call is progress for ever',
    },
    'progress-calls-ignored': {
      find: "return countProgress(\n      { ...state, work: { ...work, writesAtFingerprint: work.writes } },\n      'weak',\n    );",
      replace: 'return state;',
      why: 'hosts without fingerprints see no work',
    },
    'progress-calls-despite-trees': {
      find: 'work.fingerprint !== null || work.writes <= work.writesAtFingerprint',
      replace: 'work.writes <= work.writesAtFingerprint',
      why: 'calls that change nothing count beside fingerprints',
    },
  },
  'src/core/plan.ts': {
    'first-final-again': {
      find: "todo.finalAt !== null || todo.status !== 'completed'",
      replace: "todo.status !== 'completed'",
      why: 'when a todo was first finished is forgotten',
    },
    'first-final-cancelled': {
      find: "todo.finalAt !== null || todo.status !== 'completed' || !isFinal(todo)",
      replace: 'todo.finalAt !== null || !isFinal(todo)',
      why: 'cancelling is progress',
    },
    'first-final-late-idle': {
      find: 'if (todo.late && state.work.calls <= todo.createdWork) return todo;',
      replace: '',
      why: 'trivial todos that come and go are progress for ever',
    },
    'first-final-after-the-fact': {
      find: "if (before.status === 'completed' && isFinal(before)) return todo;",
      replace: '',
      why: 'work after a trivial completion makes it count',
    },
    'first-pass-ignored': {
      find: "if (after.passedAt !== null && before.passedAt === null)\n    return countProgress(moved, 'first-pass');",
      replace: '',
      why: 'a first pass is no progress',
    },
    'first-final-ignored': {
      find: "if (after.finalAt !== null && before.finalAt === null)\n    return countProgress(moved, 'first-final');",
      replace: '',
      why: 'a finished todo is no progress',
    },
    'created-is-no-change': {
      find: "if (before === null) return countProgress(moved, 'weak');",
      replace: 'if (before === null) return moved;',
      why: 'planning is no progress at all',
    },
    'start-is-no-change': {
      find: 'return firstStart || claimOfChecked ?',
      replace: 'return claimOfChecked ?',
      why: 'starting a todo is no progress at all',
    },
    'claim-is-no-change': {
      find: 'return firstStart || claimOfChecked ?',
      replace: 'return firstStart ?',
      why: 'claiming a checked todo is no progress at all',
    },
    'ledger-entry-missing': {
      find: '    this.log(change, todo.id, { ...detail, ...was, state: todoState(todo) });\n',
      replace: '',
      why: 'changes leave no trace',
    },
    'late-mark-missing': {
      find: 'late: state.turn?.stopSeen ?? false,',
      replace: 'late: false,',
      why: 'trivial todos that come and go are progress for ever',
    },
  },
  'src/core/state.ts': {
    'counts-not-shifted': {
      find: '      counts.completed += 1;\n',
      replace: '',
      why: 'the counts and the rows disagree',
    },
  },
});
