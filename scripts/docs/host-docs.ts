// Writes docs/hosts/README.md from what the adapters declare and from what the suite of
// the real hosts saw last (docs/hosts/results.json), so that the page cannot say anything
// else.
// Usage: npm run docs -- hosts
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type HostCapabilities, hosts, silentWays } from '../../src/hosts/hosts.ts';

const page = new URL('../../docs/hosts/README.md', import.meta.url);
const installers = await Promise.all(hosts.map((host) => host.installer()));

const yesNo = (value: boolean): string => (value ? 'yes' : 'no');

/**
 * One row per capability: what it is called for people, and how a host's value is said.
 */
const rows: readonly (readonly [string, (host: HostCapabilities) => string])[] = [
  [
    'tested with',
    ({ name }) =>
      installers.find((one) => one.name === name)?.knownVersions.join(', ') ?? '–',
  ],
  [
    'how it goes on',
    ({ mode }) =>
      mode === 'asked'
        ? 'asks before it stops; we answer'
        : 'tells that it is idle; we send',
  ],
  [
    'a wait before that',
    ({ mode }) =>
      mode === 'asked' ? 'none' : 'a countdown that any sign of life cancels',
  ],
  [
    'background work that it shows',
    ({ seesBackground }) => seesBackground.join(', ') || 'none',
  ],
  ['an interrupt is known', ({ seesAborts }) => seesAborts],
  [
    'pending permissions and questions',
    ({ seesQuestions }) =>
      seesQuestions ? 'shown, and waited for' : 'it does not stop while one is pending',
  ],
  [
    'a stop may be told twice',
    ({ repeatsStops }) => (repeatsStops ? 'yes; it counts once' : 'no'),
  ],
  [
    'cap of its own',
    ({ blockCap, capIsFixed }) => {
      if (blockCap === null) return 'none';
      return capIsFixed
        ? `${blockCap} in a turn; then you are told`
        : `${blockCap} in a row, which \`init\` raises`;
    },
  ],
  [
    'can refuse a completion',
    ({ canVetoCompletion }) =>
      canVetoCompletion ? 'yes' : 'no; a failed check opens the todo again',
  ],
  ['todo tools of its own', ({ hasTodoTools }) => yesNo(hasTodoTools)],
  [
    'shows one line when a turn ends',
    (host) => (silentWays(host) === '' ? 'yes' : `yes; ${silentWays(host)}: no`),
  ],
  [
    'continuations stay out of what the human typed',
    ({ canHideText }) => yesNo(canHideText),
  ],
  ['our own text is recognised', ({ recognisesOurMessages }) => recognisesOurMessages],
  ['a continuation after a crash', ({ delivery }) => delivery],
];

interface Recorded {
  readonly version: string;
  readonly date: string;
  /** By the name of the story. */
  readonly stories: Readonly<Record<string, string>>;
}

const results = JSON.parse(
  readFileSync(new URL('../../docs/hosts/results.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Recorded>>;

/** What was seen in the real programs: one row per story. */
function resultRows(): readonly (readonly string[])[] {
  const names = [
    ...new Set(Object.values(results).flatMap(({ stories }) => Object.keys(stories))),
  ];
  const seen = (say: (recorded: Recorded) => string | undefined) =>
    hosts.map(({ name }) => (results[name] && say(results[name])) ?? 'not run yet');
  return [
    ['version', ...seen(({ version }) => version)],
    ['last run', ...seen(({ date }) => date)],
    ...names.map((story) => [story, ...seen(({ stories }) => stories[story])]),
  ];
}

function table(body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const head = ['', ...hosts.map(({ name, title }) => `[${title}](${name}.md)`)];
  const rule = line(head.map(() => '---')).replaceAll(' ', '');
  return [line(head), rule, ...body.map(line)].join('\n');
}

export function hostDocs(): string {
  return `# Hosts

A host is a program that runs agents. \`untildone init NAME\` does all that one needs, \`untildone doctor\` says whether it
works, and \`untildone init NAME --uninstall\` takes it out of the host's files again; the project's \`untildone.json\` stays.
An adapter translates and never decides: the same [rules](../reference/rules.md) answer every host. What a host can show us and
do for us differs:

${table(rows.map(([title, say]) => [title, ...hosts.map(say)]))}

When a turn ends with an outcome, you see one line: \`done: npm test passed, sent back twice\`, or what is open and why. If a host
shows none, \`untildone status --exit-code\` prints the same line, and its exit code is the outcome.

The adapters declare this, and one suite (\`test/conformance\`) checks it: it runs the same promises over every adapter
and over two scripted hosts.

## What was seen in the real programs

\`npm run test:hosts\` plays the same stories in each host's own program. It runs headless, and the model behind it is a scripted
one on the same machine. The ids are those of the tests. "kept" means that it went as the row says. Where the host does not allow
that, the cell says what happens instead.

${table(resultRows())}

For programs with an event bus of their own there is the [idle enforcer](../enforcer.md).

This page is written by \`npm run docs -- hosts\`.
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, hostDocs());
