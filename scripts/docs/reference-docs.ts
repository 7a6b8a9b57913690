// Writes docs/reference from the code: commands (what --help prints, with the texts in
// commands/), rules, outcomes, events, the library. The pages cannot say anything else; an
// outcome or an event without a sentence here stops the script.
// Usage: npm run docs -- reference
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandTable } from '../../src/cli/command-table.ts';
import { main } from '../../src/cli/main.ts';
import { exitCodes, type Outcome, outcomes } from '../../src/core/decision.ts';
import { type EventType, eventTypes } from '../../src/core/events.ts';
import { stopRules } from '../../src/core/rules.ts';
import { texts } from '../../src/core/texts.ts';
import { systemClock } from '../../src/engine/system.ts';
import { libraryPage } from './library-reference.ts';

const folder = new URL('../../docs/reference/', import.meta.url);
const written = 'This page is written by `npm run docs -- reference`.';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** What `untildone … --help` prints where nothing of this machine can show in it. */
export async function helpOf(command: string): Promise<string> {
  let out = '';
  const code = await main([...command.split(' ').filter(Boolean), '--help'], {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (out += text) },
    env: { HOME: '/nowhere', COLUMNS: '100' },
    cwd: '/',
    isTTY: false,
    clock: systemClock,
    whyNoHuman: async () => null,
    agentAbove: async () => null,
    agentSessions: async () => [],
  });
  if (code !== 0)
    throw new Error(`untildone ${command} --help ended with ${code}: ${out}`);
  return out.replace(/^Docs: .*$/m, '').trim();
}

/** Where the help of a command stands in its text; else it is last. */
const helpPlace = '<!-- help -->';

/** What is said about a command besides its help, by the name of its file. */
function readTexts(): Map<string, string> {
  const place = new URL('commands/', import.meta.url);
  return new Map(
    readdirSync(place).map((file) => [
      file.replace(/\.md$/, ''),
      readFileSync(new URL(file, place), 'utf8').trim(),
    ]),
  );
}

export async function commandsPage(): Promise<string> {
  const rows = commandTable.rows.filter(({ hidden }) => !hidden);
  const texts = readTexts();
  const everyCommand = texts.get('every-command');
  texts.delete('every-command');
  const sections: string[] = [];
  for (const { name } of rows) {
    const file = name.replaceAll(' ', '-');
    const help = `\`\`\`text\n${await helpOf(name)}\n\`\`\``;
    const text = texts.get(file) ?? helpPlace;
    const whole = text.includes(helpPlace) ? text : `${text}\n\n${helpPlace}`;
    sections.push(`## ${name}\n\n${whole.replace(helpPlace, () => help)}`);
    texts.delete(file);
  }
  if (texts.size > 0) throw new Error(`No command is called ${[...texts.keys()]}.`);
  const tables = [...new Set(rows.map(({ group }) => group))].map((group) =>
    [
      `**${group}**`,
      table(
        ['command', 'what it does', 'for example'],
        rows
          .filter((row) => row.group === group)
          .map(({ name, summary, example }) => [
            `[\`${name}\`](#${name.replaceAll(' ', '-')})`,
            summary,
            `\`${example}\``,
          ]),
      ),
    ].join('\n\n'),
  );
  return `# Commands

Each command is shown with what \`untildone COMMAND --help\` prints and, above it, with what a help text has no room for. The
outputs come from real runs of a scripted host; ids and times are those of that run.

${tables.join('\n\n')}

## Every command

${everyCommand}

${sections.join('\n\n')}

${written}
`;
}

/**
 * What a rule can answer, read from its code: which outcomes it names, and whether it
 * waits or leaves it alone.
 */
function answersOf(code: string): string {
  const named = outcomes.filter((outcome) => new RegExp(`['"]${outcome}['"]`).test(code));
  const ends =
    named.length === 0 && code.includes('exhausted(') ? (['exhausted'] as const) : named;
  const answers = [
    ...(/\bskip\(/.test(code) ? ['may stop; no outcome'] : []),
    ...ends.map((outcome) => `may stop: [${outcome}](outcomes.md)`),
    ...(/\bwait\(/.test(code) ? ['waits'] : []),
  ];
  return answers.join('<br>');
}

export function rulesPage(): string {
  return `# Rules

Each time an agent tries to stop, these ${stopRules.length} questions are asked from top to bottom. The first rule that has an answer wins:
the agent may stop, or it waits. If no rule answers, the agent goes on and gets one of the [texts below](#texts).

\`\`\`sh
untildone why      # the last decision, and the rule that made it
\`\`\`

${table(
  ['', 'rule', 'asks', 'can answer'],
  stopRules.map(({ name, asks, answer }, index) => [
    `${index + 1}`,
    `\`${name}\``,
    asks,
    answersOf(answer.toString()),
  ]),
)}

"No outcome" means that the session is left alone: it is none of our business, or nothing was asked of it.

## Texts

When the agent goes on, the first text of this list that fits is sent, with the next todo below it.

${table(
  ['text', 'in short'],
  texts.map(({ kind, sentence }) => [`\`${kind}\``, sentence]),
)}

${written}
`;
}

const outcomeWords = {
  done: [
    'Nothing is open, and every check that you gave passed on the final state of the files.',
    'Nothing.',
  ],
  claimed: [
    'Nothing is open, but part of it rests on the agent’s word: no check covers it, or nothing changed.',
    'Give a check: `--check "npm test"`, or [`untildone.json`](../guides/claude-code.md).',
  ],
  blocked: [
    'Everything that is left is blocked, with reasons; or a check cannot start.',
    'Read the reasons (`untildone plan show`), fix what is missing, go on.',
  ],
  stagnant: [
    'No progress after three reminders, or the agent repeats itself.',
    'Say what it should try instead, or [allow it more](../guides/too-early-too-late.md).',
  ],
  exhausted: [
    'A limit or a budget was reached.',
    '`untildone why` names the limit. Send a message to go on: that starts the limits from zero.',
  ],
  paused: [
    'A human is needed: a question, a permission, a pause, or old todos that this turn did not work on.',
    '`untildone approve`, `untildone resume`, or a message.',
  ],
  aborted: ['You stopped it.', 'A message, or `untildone run --resume`.'],
  failed: [
    'Errors that did not go away, a refusal of the model, or a failure of our own.',
    '`untildone why`; then fix what it names.',
  ],
} as const satisfies Record<Outcome, readonly [means: string, next: string]>;

export function outcomesPage(): string {
  return `# Outcomes and exit codes

\`untildone run\` ends with one of these words and its exit code. Claude Code and OpenCode show the same words. They
are in \`--json\`, in \`untildone status\` and in \`untildone why\` as well.

${table(
  ['outcome', 'exit code', 'means', 'what to do next'],
  outcomes.map((outcome) => [
    `**${outcome}**`,
    `${exitCodes[outcome]}`,
    ...outcomeWords[outcome],
  ]),
)}

\`untildone status --exit-code\` exits with the same codes for the last turn of any session, and with 8 while there is no outcome.

Exit code 2 is not an outcome: the command or the configuration was wrong, and nothing was started. With \`--accept-claims\`
a run that ended \`claimed\` only because a check was missing exits with 0.

## What \`done\` takes

All of it must hold:

- No todo is open, in this turn or an earlier one.
- Every check on the goal and every check of a todo passed on the files as they are at the end.
- Every todo is covered by a check of its own or by one on the goal.
- No todo was cancelled without an explanation.
- No check passed only when it was run a second time.
- In \`untildone run\`: something changed since the goal was given. A check that passed before the agent began proves
  nothing about the agent.

In a host a turn that touches neither the plan nor a file has no outcome: you asked a question, and got an answer.

${written}
`;
}

const eventWords = {
  'session-opened': 'A session begins, or comes back.',
  'session-closed': 'Its host closed it; it can come back.',
  'session-deleted': 'It was deleted in its host.',
  'human-spoke':
    'You sent a message. The settings of this moment count from here on, and the limits start from zero.',
  'words-joined': 'What you said while the agent worked has reached it.',
  'human-aborted': 'You stopped the agent (Esc, Ctrl-C, `untildone stop`).',
  'human-paused': 'You paused the session.',
  'human-resumed': 'You ended a pause or a stop.',
  'model-paused': 'The agent called `todo_pause`: it needs you.',
  'activity-seen': 'Any sign of life that cancels a countdown.',
  'tool-started': 'A tool call begins.',
  'tool-ended': 'It ended, or failed.',
  'todos-created': 'Todos were added.',
  'plan-written': 'The whole list was written.',
  'todo-updated': 'One todo was started, blocked or edited.',
  'todo-completed': 'One todo was completed or cancelled.',
  'plan-moved': 'You moved the plan to another agent, or into a file.',
  'plan-taken': 'A plan came from another session, with its checks and what they proved.',
  'delegation-started': 'A todo went to a worker.',
  'delegation-ended': 'The worker came back.',
  'check-started': 'A check begins.',
  'check-finished': 'A check passed, failed, waits for you, or cannot start.',
  'baseline-seen': 'How the checks stood before the agent began.',
  'verification-asked': 'The agent or a person asks for the results of checks.',
  'final-run-ended': 'All checks that a stop asked for have an answer.',
  'checks-replaced': 'You named other checks on the goal.',
  'record-broken': 'Something is missing from the record.',
  'checks-overdue': 'The host’s time limit came before the checks ended.',
  'workspace-seen': 'The state of the files was looked at.',
  'stop-attempted': 'The agent wants to stop: the rules are asked.',
  'wait-started':
    'Something begins that must end first: a permission, a question, a subagent, a compaction, a recovery.',
  'wait-ended': 'It ended.',
  'error-occurred': 'A call to the model failed.',
  'host-cap-reached': 'The host accepts no further continuation in this turn.',
  'loop-alarmed': 'The agent repeats the same calls.',
  'usage-reported': 'Tokens and cost of a call.',
  'timer-fired': 'A countdown or a wait is over.',
  'delivery-reported': 'A continuation was sent, seen, or lost.',
} as const satisfies Record<EventType, string>;

export function eventsPage(): string {
  return `# Events of a session

Everything that happens to a session is one of these events. They are written down before anything is done about them.

For the lines that \`untildone run --json\` prints, see [the events of a run](../run-events.md). Those are for programs that
watch; these are for programs that feed the library (\`session.tell\`).

${table(
  ['event', 'when'],
  eventTypes.map((type) => [`\`${type}\``, eventWords[type]]),
)}

Each has an \`id\`, a \`sessionId\` and a time \`at\` in milliseconds since 1970. An event whose id is known already is
applied once, however often it comes. The fields of each are in the types of the package (\`Event\`). \`parseEvent\` answers a wrong
one with a sentence that names the field; the runtime takes events as they are, so call it first where no compiler looks.

${written}
`;
}

export async function referencePages(): Promise<Readonly<Record<string, string>>> {
  return {
    'commands.md': await commandsPage(),
    'rules.md': rulesPage(),
    'outcomes.md': outcomesPage(),
    'events.md': eventsPage(),
    'library.md': libraryPage(written),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await referencePages()))
    writeFileSync(new URL(name, folder), text);
}
