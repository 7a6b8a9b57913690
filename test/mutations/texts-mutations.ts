// Which text is sent, and what it says (E6, V9).
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import { mutationsOf } from './mutation.ts';

export const textsMutations = mutationsOf({
  'src/core/texts.ts': {
    'text-output-limit': {
      find: "applies: ({ stop }) => stop.end === 'length'",
      replace: 'applies: () => false',
      why: 'an answer that was cut is told off',
    },
    'text-iteration-budget': {
      find: "applies: ({ stop }) => stop.end === 'iteration-budget'",
      replace: 'applies: () => false',
      why: 'an agent without a plan is told to go on with nothing',
    },
    'text-loop': {
      find: 'state.loopAlarms > 0 && !state.loopTold',
      replace: 'false',
      why: 'a looping agent is not told',
    },
    'text-tool-error': {
      find: 'stop.toolError !== null && openCount(counts) > 0',
      replace: 'false',
      why: 'a tool error gets no targeted retry',
    },
    'text-dropped': {
      find: 'counts.unnamedDrops > 0',
      replace: 'false',
      why: 'dropped todos are never named',
    },
    'text-bulk': {
      find: 'applies: (context) => dueChallenge(context) !== null,',
      replace: 'applies: () => false,',
      why: 'a bulk claim is not challenged',
    },
    'text-failed-check': {
      find: 'context.counts.failed > 0 ||',
      replace: 'false ||',
      why: 'the failure is not quoted',
    },
    'text-failed-goal': {
      find: '(openCount(context.counts) === 0 && hasGoalCheckFailed(context))',
      replace: 'false',
      why: 'the failed goal check is not quoted',
    },
    'text-checks-running': {
      find: 'context.state.checksOverdue &&',
      replace: 'false &&',
      why: 'an agent whose checks run is told to work on nothing',
    },
    'text-question': {
      find: 'applies: ({ stop }) => stop.question',
      replace: 'applies: () => false',
      why: 'an agent that asks is not told about the pause',
    },
    'text-empty': {
      find: "stop.end === 'empty' && state.emptyAnswers === 1",
      replace: 'false',
      why: 'an empty answer gets no retry of its own',
    },
    'text-empty-again': {
      find: "stop.end === 'empty' && state.emptyAnswers === 1",
      replace: "stop.end === 'empty'",
      why: 'empty answers get the same words for ever',
    },
    'text-background': {
      find: 'applies: (context) => unnamedJobs(context).length > 0,',
      replace: 'applies: () => false,',
      why: 'a running job is not named',
    },
    'text-compaction': {
      find: 'applies: ({ state }) => state.compacted',
      replace: 'applies: () => false',
      why: 'the plan is not given again',
    },
    'text-title-raw': {
      find: 'return `${quoteForModel(title)}${wanted}',
      replace: 'return `${title}${wanted}',
      why: 'a title poses as an instruction',
    },
    'text-criteria-raw': {
      find: '${quoteForModel(completionCriteria)}',
      replace: '${completionCriteria}',
      why: 'criteria pose as an instruction',
    },
    'text-titles-raw': {
      find: 'quoteForModel(todo.title, 120)',
      replace: 'todo.title',
      why: 'a dropped title poses as an instruction',
    },
    'text-tool-error-raw': {
      find: "${quoteForModel(stop.toolError ?? '', 300)}",
      replace: '${stop.toolError}',
      why: "a tool's output poses as an instruction",
    },
    'text-job-raw': {
      find: 'quoteForModel(description, 100)',
      replace: 'description',
      why: "a job's name poses as an instruction",
    },
    'text-failed-title-raw': {
      find: '`The check of ${quoteForModel(todo.title)} failed',
      replace: '`The check of ${todo.title} failed',
      why: 'a title poses as an instruction',
    },
    'text-tail-raw': {
      find: '`printed:\\n${quoteFailure(tail, most)}`',
      replace: '`printed:\\n${tail}`',
      why: "a test's output speaks in our voice",
    },
    'text-marker': {
      find: 'marker: `[${continuationMarker}]`,',
      replace: "marker: '',",
      why: 'people cannot tell our texts',
    },
    'text-counts': {
      find: '${counts.completed}/${planSize(counts)}',
      replace: '${planSize(counts)}/${planSize(counts)}',
      why: 'every todo looks completed',
    },
    'text-level-two': {
      find: 'context.level === 1 ? staleListLine(context) : unchangedLine(context)',
      replace: 'staleListLine(context)',
      why: 'reminders never get firmer',
    },
    'text-level-three': {
      find: '  return level === 3\n',
      replace: '  return level === 4\n',
      why: 'the last reminder does not say so',
    },
    'text-nothing-remains': {
      find: "if (open === 0)\n    return `${describeEndedTodos(counts)}${hasGoalCheckFailed(context) ? ', but a check fails' : ''}`;",
      replace: '',
      why: 'an agent without an open todo is told that 0 remain',
    },
    'text-until-all-done': {
      find: 'if (openCount(context.counts) > 0)\n    return',
      replace: 'if (openCount(context.counts) >= 0)\n    return',
      why: 'an agent without an open todo is told to finish them all',
    },
    'text-cancelled-completed': {
      find: 'if (cancelled + blocked === 0)',
      replace: 'if (blocked === 0)',
      why: 'a cancelled todo counts as completed',
    },
    'text-red-before': {
      find: "failedBefore.length === 0 ? '' : `${subject} ${failedBeforeWords(state)}`,",
      replace: "'',",
      why: 'an agent is pressed to mend what was broken before it came',
    },
    'text-red-before-todo': {
      find: "return isFailedBefore ? `The check ${failedBeforeWords(state)}` : '';",
      replace: "return '';",
      why: 'an agent is pressed to mend what was broken before it came',
    },
    'text-same-output': {
      find: 'first === null\n      ? `printed:',
      replace: 'true ? `printed:',
      why: 'the same output stands in a text twice',
    },
    'text-stale-list': {
      find: 'return progress.workspaceMoved && !progress.planMoved',
      replace: 'return false && !progress.planMoved',
      why: 'work that the list does not show goes unnoticed',
    },
    'text-pause-named': {
      find: "return pause === null\n    ? 'If that is impossible, say",
      replace: "return true\n    ? 'If that is impossible, say",
      why: 'the way out is not named',
    },
    'own-text-without-marker': {
      find: "const kept = ['marker', 'next', 'wayOut'] as const;",
      replace: "const kept = ['next', 'wayOut'] as const;",
      why: 'people cannot tell a text in a user’s own words',
    },
    'own-text-without-next': {
      find: "const kept = ['marker', 'next', 'wayOut'] as const;",
      replace: "const kept = ['marker', 'wayOut'] as const;",
      why: 'a user’s own words leave out what to go on with',
    },
    'own-text-without-way-out': {
      find: "const kept = ['marker', 'next', 'wayOut'] as const;",
      replace: "const kept = ['marker', 'next'] as const;",
      why: 'a user’s own words leave the agent no way out',
    },
    'text-all-titles': {
      find: 'todos.slice(0, namedTitles)',
      replace: 'todos',
      why: 'a text grows with the plan',
    },
    'tail-unbounded': {
      find: 'pickFailedLines(output, most - 1)',
      replace: 'pickFailedLines(output, 1e6)',
      why: 'a text grows with the output of a check',
    },
    'tail-unmarked': {
      find: '`| ${line}`',
      replace: 'line',
      why: "a test's output speaks in our voice",
    },
    'tail-tags': {
      find: ".replaceAll('<', '‹')",
      replace: '',
      why: "a test's output closes our tags",
    },
  },
  'src/core/failed-lines.ts': {
    'failed-lines-end-only': {
      find: 'failed.length > 0\n    ? failed.slice(0, most)\n    :',
      replace: 'false ? failed.slice(0, most) :',
      why: 'a failing check shows the useless end of its output',
    },
    'failed-lines-without-the-one-before': {
      find: 'isUsable(index - 1)) picked.add(index - 1);',
      replace: 'false) picked.add(index - 1);',
      why: 'an error is shown without the place where it happened',
    },
    'same-output-by-time': {
      find: "line.slice(0, longestLine).replace(changingParts, '')",
      replace: 'line',
      why: 'the same failure is shown again and again, for its milliseconds',
    },
  },
  'src/core/own-words.ts': {
    'own-text-expanded-again': {
      find: "line.replace(part, () => used.shift() ?? '')",
      replace:
        "line.replace(part, () => used.shift() ?? '').replace(part, (_all, name) => String(parts[name] ?? ''))",
      why: 'a title is read as a template',
    },
  },
  'src/core/rules.ts': {
    'pause-reason-raw': {
      find: "const why = oneLine(reason ?? '', 300);",
      replace: "const why = reason ?? '';",
      why: 'a reason of the model acts on the terminal',
    },
  },
});
