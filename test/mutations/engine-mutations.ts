// The shell: what is written, what is sent, what is read back (V2, V4, V5, V6).
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import { mutationsOf } from './mutation.ts';

export const engineMutations = mutationsOf({
  'src/store/sqlite/session-rows.ts': {
    'lost-events-unseen': {
      find: 'if (marks.read(id).some(isMissing)) return true;',
      replace: '',
      why: 'a store that was put back hides open todos',
    },
    'overwritten-in-place-unseen': {
      find: '      unbroken.clear();\n    },',
      replace: '    },',
      why: 'a store that is overwritten under a living host hides open todos',
    },
    'save-created-forgotten': {
      find: "if (\n          db.insert('todos', {\n            id,\n            planId,\n            sessionId,\n            turnId,\n            position,\n            status,\n            body,\n          }) === 0\n        )",
      replace: 'if (false)',
      why: 'new todos are lost',
    },
    'save-updated-forgotten': {
      find: "? db.run('UPDATE todos SET status = ?, body = ? WHERE id = ?', status, body, id)",
      replace: '? 1',
      why: 'changes of todos are lost',
    },
  },
  'src/engine/engine.ts': {
    'save-ledger-forgotten': {
      find: '      rows.ledger.push(entry);\n',
      replace: '',
      why: 'changes leave no trace',
    },
    'save-ledger-unlinked': {
      find: "new Map<string, Loaded['head']>([[state.planId, loaded.head]])",
      replace: "new Map<string, Loaded['head']>()",
      why: 'every change starts a new chain',
    },
    'save-ledger-within-event': {
      find: '      save.heads.set(draft.planId, entry);\n',
      replace: '',
      why: 'two changes of one event have the same place',
    },
    'save-fingerprints-forgotten': {
      find: '      rows.fingerprints.push({ fingerprint, at });\n',
      replace: '',
      why: 'switching between trees goes on for ever',
    },
    'save-timer-forgotten': {
      find: 'state.timer !== first.timer || planned ? { timer: state.timer } : {};',
      replace: '{};',
      why: 'a countdown does not survive a restart',
    },
    'save-outbox-forgotten': {
      find: 'outbox: [...save.outbox.values()]',
      replace: 'outbox: []',
      why: 'a continuation is lost in a crash',
    },
    'save-outbox-state-forgotten': {
      find: 'else if (isNew && row !== null)',
      replace: 'else if (false)',
      why: 'a sent text is sent again after a crash',
    },
    'save-usage-forgotten': {
      find: "if (event.type === 'usage-reported') {",
      replace: "if (false as boolean && event.type === 'usage-reported') {",
      why: 'usage is not on the record',
    },
    'save-decision-forgotten': {
      find: '    if (decision !== null) rows.decisions.push({ ...base, decision });\n',
      replace: '',
      why: 'why has nothing to explain',
    },
    'engine-duplicate-applied': {
      find: 'if (!batch.includes(stamped) && !loaded.isApplied(event.id)) batch.push(stamped);',
      replace: 'if (!batch.includes(stamped)) batch.push(stamped);',
      why: 'an event that is delivered twice counts twice',
    },
    'engine-inbox-forgotten': {
      find: 'const batch = loaded.inbox.map((waiting) =>\n      waiting.id === event.id ? stamped : waiting,\n    );',
      replace: 'const batch: Event[] = [];',
      why: 'events of hooks are lost',
    },
    'engine-clock-forgotten': {
      find: '{ ...event, at, clock: event.at }',
      replace: '{ ...event, at }',
      why: 'after a clock was set back, a new nested .gitignore hides files',
    },
    'engine-inbox-unsorted': {
      find: 'if (!batch.includes(stamped) && !loaded.isApplied(event.id)) batch.push(stamped);',
      replace:
        'if (!batch.includes(stamped) && !loaded.isApplied(event.id)) batch.unshift(stamped);',
      why: 'late events are applied in the wrong order',
    },
    'engine-loss-unseen': {
      find: '    if (loaded.wentBack()) insertLoss(batch, event);\n',
      replace: '',
      why: 'a store that was put back is believed',
    },
    'engine-loss-forgiven': {
      find: "const ownIndex =\n    type === 'human-spoke' ? -1 : batch",
      replace: 'const ownIndex = batch',
      why: 'words that came before it was told hide that the store was put back',
    },
    'engine-not-marked': {
      find: '    rows.applied.push(event);\n',
      replace: '',
      why: 'nothing on the record says what happened',
    },
    'engine-session-not-saved': {
      find: 'return {\n      result,\n      ...rows,\n      state: sealed,',
      replace: 'return { result, ...rows,',
      why: 'the state of a session is lost',
    },
    'engine-policy-not-frozen': {
      find: 'return { ...event, policyHash: policies.snapshot(state, saved) };',
      replace: 'return event;',
      why: 'an agent edits its own limits in the middle of a turn',
    },
    'engine-policy-current': {
      find: 'const policy = snapshot ?? options.policy(openedState);',
      replace: 'const policy = options.policy(openedState);',
      why: 'an agent edits its own limits in the middle of a turn',
    },
    'engine-timer-not-told': {
      find: 'if (state.timer !== first.timer || hasMoved(first, state))\n      performer.timerChanged(state);',
      replace: '',
      why: 'a countdown waits for the next wake-up',
    },
    'engine-no-inject': {
      find: "if (command.type === 'inject') await performer.inject(state.id, command.epoch);",
      replace: "if (command.type === 'inject') await Promise.resolve();",
      why: 'continuations are decided and never sent',
    },
  },
  'src/engine/policy.ts': {
    'policies-not-stored': {
      find: '      saved.set(key, text);\n',
      replace: '',
      why: 'a decision cannot be explained after a restart',
    },
  },
  'src/engine/runtime.ts': {
    'delivery-old-epoch': {
      find: 'state.epoch !== epoch ||\n        state.latch !== null',
      replace: 'state.latch !== null',
      why: 'a text is sent over the head of the human',
    },
    'delivery-latched': {
      find: 'state.latch !== null ||\n        state.pause !== null',
      replace: 'state.pause !== null',
      why: 'a text is sent to an aborted session',
    },
    'delivery-not-closed': {
      find: "return {\n        result: null,\n        outbox: [{ ...row, state: 'failed', updatedAt: clock.now() }],\n      };",
      replace: 'return { result: null };',
      why: 'an unwanted text is looked at at every start',
    },
    'delivery-sent-not-recorded': {
      find: "if (result.taken) await report(outgoing, 'sent', mark);",
      replace: 'if (result.taken) await Promise.resolve();',
      why: 'a sent text is sent again after a crash',
    },
    'delivery-one-failure': {
      find: 'const mark = `:${outgoing.session.injection?.attempts ?? 0}`;',
      replace: "const mark = '';",
      why: 'the second failure of a send is not seen',
    },
    'delivery-twice-at-once': {
      find: 'if (host === undefined || underWay.has(key)) return;',
      replace: 'if (host === undefined) return;',
      why: 'two senders send the same text',
    },
    'delivery-recover-forgotten': {
      find: "for (const row of await store.outbox({ instance }))\n      if (row.mode === 'told') await settleRow(host, row);",
      replace: '',
      why: 'a continuation is lost in a crash',
    },
    'delivery-recover-asked': {
      find: "if (row.mode === 'told') await settleRow(host, row);",
      replace: 'await settleRow(host, row);',
      why: 'an answer of an asked host is injected after a restart',
    },
    'delivery-recover-doubles': {
      find: "if (typeof found !== 'string') return void (await handle(found));",
      replace: '',
      why: 'a continuation that arrived is sent again',
    },
    'delivery-recover-busy': {
      find: "const mayRepeat =\n      state === 'intended' || found === 'absent' || (await toldHost.isIdle(sessionId));",
      replace: 'const mayRepeat = true;',
      why: 'a continuation is doubled in a working host',
    },
    'ask-forgets-checks': {
      find: "if (finished !== 'late') return finished ?? (await answeredElsewhere(store, first));",
      replace: '',
      why: 'the result of the checks is not the answer',
    },
    'timers-no-lease': {
      find: '      return taken;\n    },',
      replace: '      return true;\n    },',
      why: 'two processes act on the same timers',
    },
    'timers-plan-not-read': {
      find: 'if (plan !== null) await handle(plan);',
      replace: '',
      why: 'a list that changed in the host is not read before acting',
    },
    'timers-void-row-kept': {
      find: 'await store.step(sessionId, ({ state }) => ({\n        result: null,\n        timer: state?.timer ?? null,\n      }));',
      replace: '',
      why: 'a void timer makes the process spin',
    },
  },
  'src/engine/session-owner.ts': {
    'taken-session-written': {
      find: '    await confirm();\n    return write();',
      replace: '    return write();',
      why: 'a machine that slept goes on with what another one took up',
    },
    'taken-session-taken-back': {
      find: 'if (holder === owner) return;',
      replace: 'if (holder === owner || holder === null) return;',
      why: 'a machine that slept does again what another one finished meanwhile',
    },
    'killed-run-looks-alive': {
      find: "(isOwnerAlive(last.holder) ?? last.until > now) ? 'alive' : 'gone'",
      replace: "'alive'",
      why: 'a run that was killed works for ever in status and attach',
    },
  },
});
