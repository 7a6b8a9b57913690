// Bulk claims (V4, P2, P38, P39): who is challenged, when, and from where it is counted.
import { mutationsOf } from './mutation.ts';

export const bulkMutations = mutationsOf({
  'src/core/settlement.ts': {
    'bulk-size-four': {
      find: 'const bulkSize = 3;',
      replace: 'const bulkSize = 4;',
      why: 'three claims go unchallenged',
    },
    'bulk-size-two': {
      find: 'const bulkSize = 3;',
      replace: 'const bulkSize = 2;',
      why: 'a coincidence is challenged',
    },
    'bulk-one-call-excuses': {
      find: 'ended >= bulkSize && calls < ended;',
      replace: 'ended >= bulkSize && calls === 0;',
      why: 'one echo passes for ten todos',
    },
    'bulk-calls-ignored': {
      find: 'ended >= bulkSize && calls < ended;',
      replace: 'ended >= bulkSize;',
      why: 'research without a write is challenged',
    },
    'bulk-as-many-calls': {
      find: 'ended >= bulkSize && calls < ended;',
      replace: 'ended >= bulkSize && calls <= ended;',
      why: 'one call for each todo is challenged',
    },
    'bulk-calls-of-the-session': {
      find: 'return work.calls - spoken.calls;',
      replace: 'return work.calls;',
      why: 'work for an earlier message excuses a lazy turn',
    },
    'bulk-workspace-ignored': {
      find: ' || hasWorkspaceMoved(state)) return null;',
      replace: ') return null;',
      why: 'an agent that changed files with one call is challenged',
    },
    'bulk-blind-host': {
      find: 'if (!descriptor.seesTools || !work.heard',
      replace: 'if (!work.heard',
      why: 'every claim in a host without tool events is challenged',
    },
    'bulk-unheard-host': {
      find: 'if (!descriptor.seesTools || !work.heard',
      replace: 'if (!descriptor.seesTools',
      why: 'an agent whose calls nobody tells of is challenged',
    },
    'bulk-ends-unchallenged': {
      find: "return isBulk(counts.ends) && !challenged.ends ? 'ends' : null;",
      replace: 'return null;',
      why: 'blocking everything is a way out',
    },
  },
  'src/core/work.ts': {
    'bulk-known-change-forgotten': {
      find: 'if (isKnown && spoken.fingerprint !== work.fingerprint) return true;',
      replace: '',
      why: 'changed files count for nothing',
    },
    'bulk-unchanged-assumed': {
      find: 'return !isSeen && mayHaveWritten(state);',
      replace: 'return false;',
      why: 'a workspace that nobody looked at counts as unchanged',
    },
    'bulk-old-look-believed': {
      find: 'isKnown && work.writesSeen === work.writes &&',
      replace: 'isKnown &&',
      why: 'a look before the last call says that the call changed nothing',
    },
    'bulk-running-call-ignored': {
      find: 'work.writesSeen === work.writes && work.started <= work.writes;',
      replace: 'work.writesSeen === work.writes;',
      why: 'a call that is still writing counts as having changed nothing',
    },
    'bulk-running-call-unseen': {
      find: '|| work.writes > spoken.writes || work.started > work.writes\n',
      replace: '|| work.writes > spoken.writes\n',
      why: 'a call that is still writing counts as none',
    },
    'bulk-late-look-lost': {
      find: 'spoken.fingerprint === null && !mayHaveWritten(state)',
      replace: 'false',
      why: 'hosts that look only at stops never challenge an echo',
    },
    'bulk-late-look-after-writes': {
      find: 'spoken.fingerprint === null && !mayHaveWritten(state)',
      replace: 'spoken.fingerprint === null',
      why: 'the work of the agent is taken for how things stood before',
    },
    'bulk-nothing-heard': {
      find: 'const work = { ...active.work, heard: true };',
      replace: 'const work = { ...active.work };',
      why: 'nobody is ever challenged',
    },
  },
  'src/core/human.ts': {
    'bulk-since-ever': {
      find: 'return {\n    epoch,\n    calls: work.calls,',
      replace: 'return { epoch: 0, calls: work.calls,',
      why: 'claims of an earlier turn are challenged',
    },
    'bulk-look-at-message-lost': {
      find: 'fingerprint: fingerprint ?? work.fingerprint,\n  };',
      replace: 'fingerprint: work.fingerprint };',
      why: 'what the human changed before they spoke counts as work of the agent',
    },
    'bulk-writes-of-the-session': {
      find: 'writes: work.writes,\n    fingerprint',
      replace: 'writes: 0, fingerprint',
      why: 'writes for an earlier message excuse a lazy turn',
    },
  },
  'src/core/state.ts': {
    'bulk-claims-of-any-time': {
      find: 'todo.endedIn !== null && todo.endedIn >= since;',
      replace: 'todo.endedIn !== null;',
      why: 'claims of an earlier turn are challenged',
    },
    'bulk-checked-claims': {
      find: '        counts.uncovered += 1;\n        if (isSaid) counts.claims += 1;\n      } else if',
      replace: '        counts.uncovered += 1;\n      } else if',
      why: 'no claim is ever challenged',
    },
  },
  'src/core/plan.ts': {
    'bulk-everyone': {
      find: "const endedIn = actor === 'agent' ? state.epoch : null;",
      replace: 'const endedIn = state.epoch;',
      why: 'the human is challenged',
    },
    'bulk-blocked-forgotten': {
      find: "      completedAt: null,\n      verification: 'none',\n      endedIn,",
      replace: "      completedAt: null,\n      verification: 'none',",
      why: 'blocking everything is a way out',
    },
    'bulk-cancelled-forgotten': {
      find: "cancelTodo(todo, 'cancelled', { outcome, reason, endedIn }, at);",
      replace: "cancelTodo(todo, 'cancelled', { ...unexplained, outcome, reason }, at);",
      why: 'cancelling everything is a way out',
    },
    'bulk-taken-back-kept': {
      find: '    reason: null,\n    endedIn: null,\n    verification: wasOpen',
      replace: '    reason: null,\n    verification: wasOpen',
      why: 'a reopened todo is remembered as ended',
    },
  },
  'src/core/ledger.ts': {
    'bulk-not-on-the-ledger': {
      find: 'if (todo.endedIn !== null) words.push(',
      replace: 'if (todo.endedIn === -1) words.push(',
      why: 'a claim that is made to look old in the store is not noticed',
    },
  },
});
