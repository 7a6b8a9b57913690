// The rules about limits made silent or wrong: errors, budgets, counters, the countdown,
// the order.
import { mutationsOf } from './mutation.ts';

export const limitsMutations = mutationsOf({
  'src/core/rules.ts': {
    'rule-rate-limited-silent': {
      find: 'state.rateLimitedUntil !== null && at < state.rateLimitedUntil',
      replace: 'false',
      why: 'a rate limit is hammered',
    },
    'rule-circuit-silent': {
      find: 'if (count < limit) return null;',
      replace: 'if (true) return null;',
      why: 'the same error is repeated for ever',
    },
    'rule-overflowing-silent': {
      find: 'overflows >= 2\n',
      replace: 'false\n',
      why: 'an overflow that cannot shrink goes on for ever',
    },
    'rule-context-full-silent': {
      find: 'contextTokens === null ||',
      replace: 'true ||',
      why: 'the context overflows',
    },
    'rule-budget-silent': {
      find: 'const usage = readBudgets(context)[unit];',
      replace: 'const usage = { used: 0, limit: null };',
      why: 'budgets are not kept',
    },
    'rule-counter-silent': {
      find: 'const usage = readUsage(context);',
      replace: 'const usage = { ...readUsage(context), used: 0 };',
      why: 'the agent goes on past the ceiling',
    },
    'rule-token-budget-wrong-count': {
      find: 'used: usage.tokens,',
      replace: 'used: 0,',
      why: 'tokens are spent without limit',
    },
    'rule-cost-budget-wrong-count': {
      find: 'used: usage.cost,',
      replace: 'used: 0,',
      why: 'money is spent without limit',
    },
    'rule-time-budget-wrong-count': {
      find: 'used: (at - usage.since) / 60_000,',
      replace: 'used: 0,',
      why: 'time is spent without limit',
    },
    'rule-ceiling-wrong-count': {
      find: 'used: state.counters.total,',
      replace: 'used: state.counters.continuations,',
      why: 'honest looking work goes on past the ceiling',
    },
    'rule-max-continuations-wrong-count': {
      find: 'used: state.counters.continuations,\n      limit: settings.maxContinuations',
      replace: 'used: 0, limit: settings.maxContinuations',
      why: 'weak progress goes on for ever',
    },
    'rule-looping-silent': {
      find: 'if (!told || alarms < 2 ||',
      replace: 'if (true ||',
      why: 'a loop goes on for ever',
    },
    'rule-stagnant-silent': {
      find: 'if (withoutProgress < limit) return null;',
      replace: 'if (true) return null;',
      why: 'reminders go on for ever',
    },
    'rule-stagnant-off-by-one': {
      find: 'if (withoutProgress < limit) return null;',
      replace: 'if (withoutProgress <= limit) return null;',
      why: 'one reminder too many',
    },
    'rule-not-yet-silent': {
      find: 'if (at >= dueAt) return null;',
      replace: 'if (true) return null;',
      why: 'the human has no time to step in',
    },
    'rule-not-yet-asked-hosts': {
      find: "if (mode !== 'told' || immediate || settings.mode === 'observe') return null;",
      replace: "if (immediate || settings.mode === 'observe') return null;",
      why: 'an asked host waits for nothing',
    },
    'rule-not-yet-no-interval': {
      find: 'const dueAt = Math.max(since + settings.countdownSeconds * 1000, afterLast);',
      replace: 'const dueAt = since + settings.countdownSeconds * 1000;',
      why: 'continuations follow each other without a pause',
    },
  },
  'src/core/stop.ts': {
    'rule-order-latch-late': {
      find: 'undelivered === null ? stopRules : deliveryRules',
      replace: 'undelivered === null ? stopRules.toReversed() : deliveryRules',
      why: 'the reason shown is not the one that counts',
    },
  },
  'src/hosts/transcript.ts': {
    'usage-before-human': {
      find: " || !(Date.parse(String(line['timestamp'])) >= since)",
      replace: '',
      why: 'what an earlier turn used is counted against this one (G8)',
    },
    'usage-per-line': {
      find: 'used.set(key, {',
      replace: 'used.set(key + used.size, {',
      why: 'an answer is counted once for each of its parts (G8)',
    },
  },
  'src/hosts/opencode/follow.ts': {
    'usage-unheard': {
      find: '      await tell(usage, ',
      replace: '      void String(',
      why: 'opencode run never reaches a budget (G8)',
    },
  },
  'src/enforcer/index.ts': {
    'decision-untold': {
      find: '      callNow(() => options.onDecision?.(id, decision)).catch(onError);\n',
      replace: '',
      why: 'nobody can see why a session was left alone (C4)',
    },
    'callback-throws': {
      find: 'void callNow(() => options.onError?.(error)).catch(() => {})',
      replace: 'options.onError?.(error)',
      why: 'an error in a callback of the program stops its session (C4)',
    },
  },
});
