// Writes docs/configuration.md from the tables of settings and providers, so that the
// page cannot say anything else. What a field does when it is left out stands here in
// words; a field without such words stops the script.
// Usage: npm run docs -- config
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { knownProviders } from '../../src/agent/models/resolve-model.ts';
import { environmentName, flagName } from '../../src/core/config.ts';
import { toastParts } from '../../src/core/own-words.ts';
import type { Kind, SectionShape } from '../../src/core/schema.ts';
import { places, type Setting, settingTable } from '../../src/core/settings.ts';
import { textParts, texts } from '../../src/core/texts.ts';
import { type HostCapabilities, hosts } from '../../src/hosts/hosts.ts';

const page = new URL('../../docs/configuration.md', import.meta.url);
const settings: readonly (readonly [string, Setting])[] = Object.entries(settingTable);

/** What holds without a field that has no default of its own. */
const leftOut: Readonly<Record<string, string>> = {
  'models.NAME.baseUrl': 'the address of a known provider; an own one must have it',
  'models.NAME.apiKeyEnv':
    'the variables of a known provider at its own address; else no key is sent',
  'models.NAME.api': 'that of a known provider; else `chat`',
  'models.NAME.contextLimit': 'what is known of the model by its name',
  'prices.NAME.input': 'must be given',
  'prices.NAME.output': 'must be given',
  'prices.NAME.cachedInput': 'the price of `input`',
  'prices.NAME.cacheWrite': 'the price of `input`',
  'workers.NAME.enabled': '`true`',
  'workers.NAME.purpose': 'that of a built-in worker; an own one must have it',
  'workers.NAME.prompt': 'nothing more',
  'workers.NAME.model': 'the model of the run',
  'workers.NAME.reasoningEffort': 'that of the run',
  'workers.NAME.maxOutputTokens': 'that of the run',
  'workers.NAME.temperature': 'that of the run',
  'workers.NAME.tools': 'those of a built-in worker; an own one only reads',
  'workers.NAME.maxSteps': '`40`',
  'workers.NAME.timeoutSeconds': '`1800`; `600` for the explorer',
  'workers.NAME.maxTokens': 'what the run may spend',
  'checks.NAME.command': 'no command',
  'checks.NAME.directory': 'the workspace itself',
  'checks.NAME.expectExit': '`0`',
  'checks.NAME.expectOutput': 'any output',
  'checks.NAME.environment': '`[]`',
  'checks.NAME.file': 'no file',
  'checks.NAME.exists': '`true`',
  'checks.NAME.absent': '`false`',
  'checks.NAME.matches': 'any text',
  'checks.NAME.http': 'no address',
  'checks.NAME.status': '`200`',
  'checks.NAME.body': 'any body',
  'checks.NAME.anyHost': '`false`',
  'checks.NAME.human': 'no question',
  'checks.NAME.timeoutSeconds': '`600` for a command, `10` for the others',
  'checks.NAME.files': 'the whole workspace',
  'todoChecks[].title': 'must be given',
  'todoChecks[].checks': '`[]`',
  'texts.default': 'our words',
  ...Object.fromEntries(texts.map(({ kind }) => [`texts.${kind}`, 'as `default`'])),
  'toasts.default': 'our words',
  'toasts.countdown': 'as `default`',
  'toasts.end': 'as `default`',
};

const titles = (mode: HostCapabilities['mode']) =>
  hosts.flatMap((host) => (host.mode === mode ? [host.title] : [])).join(', ');

const placeNames: Readonly<Record<(typeof places)[number], string>> = {
  run: '`run`',
  hooks: 'hooks',
  plugins: 'plugins',
  enforcer: 'enforcer',
  mcp: 'MCP',
};

function shownPlaces({ actsIn }: Setting): string {
  return actsIn === places
    ? 'everywhere'
    : actsIn.map((place) => placeNames[place]).join(', ');
}

/** What the fields of a section mean together. */
const notes: Readonly<Record<string, string>> = {
  models:
    'NAME is the provider; letter case does not count. What these fields do together: [Providers](#providers).',
  prices:
    'NAME is `provider/model`. Prices are in US dollars, and so are `maxCost` and what is shown. The prices of\nsome models come along: [Prices](prices.md). Without any price the cost is unknown, and `run` refuses\n`maxCost`.',
  tools:
    'In a pattern `*` and `?` stand for characters of one word, `**` for any number of words: `npm run *` allows\n`npm run build` and not `npm run build --force`. A command with shell syntax (`;`, `&&`, `|`, `$`, `>` …) fits only a\npattern that is equal to it.',
  permissions:
    'The names under `allow` are those of tools: `{ "shell": ["npm test **"], "write_file": ["src/**"] }`. A file tool that is\nnot named may write everywhere in the workspace. Modes, patterns and questions: [Permissions](permissions.md).',
  notify:
    'What a command and an address are told, and when: [Be told when it needs you](guides/notify.md). The bell is rung by `run`.',
  workers:
    'NAME is the `agentType` of the todos that go to the worker. A project’s file can narrow the tools of a built-in worker and\nnot widen them, and its `prompt` is told to the worker as words of the project: [Our own agent](agents.md#workers).',
  checks:
    'Exactly one of `command`, `file`, `http` and `human` makes the kind; fields of another kind are an error. The whole check\ncomes from the strongest source that names it. What checks are for: [Checks](checks.md).',
  todoChecks: 'All entries that fit a title count.',
  texts: `A text is a line or a list of lines, with parts in braces. A line whose parts are all empty is left out. What a part holds is
quoted as in our own texts, and never read as a template.

${partRows(textParts)}

\`{marker}\`, \`{next}\` and \`{wayOut}\` must stay in every text, \`{reason}\` in those for \`default\`, \`failed-check\` and
\`dropped-todos\`; \`checks-running\` needs only the marker. A text without them is refused when the settings are read. For example, in German:

\`\`\`json
{
  "texts": {
    "default": ["{marker} Stand: {progress}.", "{reason}", "Weiter mit {next}.", "{last}", "{wayOut}"],
    "loop": ["{marker} Du drehst dich im Kreis. Geh es anders an: {next}.", "{wayOut}"]
  },
  "toasts": { "countdown": "Weiter in {seconds} s, {remaining} offen" }
}
\`\`\`

\`untildone why\` shows the text that was sent. From a project’s file they count once you accepted them: whoever words these texts
speaks to your agent. A program gives a function instead: [Words of your own](library.md#words-of-your-own).`,
  toasts: `As for [\`texts\`](#texts); the title of a toast stays ours. \`{reason}\` must stay, in a countdown \`{seconds}\`.

${partRows(toastParts)}`,
};

function partRows(parts: Readonly<Record<string, string>>): string {
  const rows = Object.entries(parts).map(
    ([name, holds]) => `| \`{${name}}\` | ${holds} |`,
  );
  return `| part | holds |\n|---|---|\n${rows.join('\n')}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** Long lists are told by their length: the schema has them in full. */
function shownDefault(value: unknown): string {
  const json = JSON.stringify(value);
  if (Array.isArray(value) && json.length > 60) return `${value.length} entries`;
  return `\`${cell(json)}\``;
}

/** For people every text of a setting is simply a text. */
function wordFor({ type }: Kind): string {
  return type === 'line' ? 'text' : type;
}

function shownKind(kind: Kind): string {
  switch (kind.type) {
    case 'integer':
      return `whole number, ${kind.minimum} to ${kind.maximum}`;
    case 'number':
      return `number, ${kind.minimum} to ${kind.maximum}`;
    case 'choice':
      return kind.values.map((value) => `\`${value}\``).join(', ');
    case 'list':
      return `list of ${wordFor(kind.of)}s`;
    case 'nullable':
      return `${shownKind(kind.of)}, or null`;
    case 'named':
      return `names with ${shownKind(kind.of)}`;
    case 'either':
      return kind.of.map(shownKind).join(', or ');
    default:
      return kind.type === 'boolean' ? 'true or false' : wordFor(kind);
  }
}

/**
 * The fields inside a setting and how their place is written; null: it has none of its
 * own.
 */
function sectionOf(
  name: string,
  kind: Kind,
): { readonly path: string; readonly section: SectionShape } | null {
  if (kind.type === 'section') return { path: name, section: kind };
  if (kind.type === 'named' && kind.of.type === 'section')
    return { path: `${name}.NAME`, section: kind.of };
  if (kind.type === 'list' && kind.of.type === 'section')
    return { path: `${name}[]`, section: kind.of };
  return null;
}

function fieldRow(path: string, field: Kind & { readonly default?: unknown }): string {
  const without = 'default' in field ? shownDefault(field.default) : leftOut[path];
  if (without === undefined)
    throw new Error(`Say in scripts/docs/config-docs.ts what holds without ${path}.`);
  return `| \`${path}\` | ${shownKind(field)} | ${without} | ${cell(field.summary ?? '')} |`;
}

function sectionText([name, setting]: readonly [string, Setting]): string[] {
  const found = name === 'agents' ? null : sectionOf(name, setting);
  if (found === null) return [];
  const rows = Object.entries(found.section.fields).map(([key, field]) =>
    fieldRow(`${found.path}.${key}`, field),
  );
  const note = notes[name] === undefined ? '' : `\n\n${notes[name]}`;
  return [
    `### ${name}\n\n| field | value | without it | meaning |\n|---|---|---|---|\n${rows.join('\n')}${note}`,
  ];
}

function settingRow([name, setting]: readonly [string, Setting]): string {
  const shown =
    sectionOf(name, setting) === null || name === 'agents'
      ? `\`${name}\``
      : `[\`${name}\`](#${name.toLowerCase()})`;
  return `| ${shown} | ${shownDefault(setting.default)} | ${setting.perAgent ? 'yes' : 'no'} | ${shownPlaces(setting)} | ${cell(setting.summary)} |`;
}

function providerRow([name, known]: readonly [
  string,
  (typeof knownProviders)[string],
]): string {
  const keys =
    known.keyVariables.map((variable) => `\`${variable}\``).join(', else ') ||
    'none is sent';
  const model = known.defaultModel === null ? '–' : `\`${known.defaultModel}\``;
  const moved = known.baseUrlVariable === null ? '–' : `\`${known.baseUrlVariable}\``;
  return `| \`${name}\` | \`${known.api}\` | \`${known.baseUrl}\` | ${moved} | ${keys} | ${model} |`;
}

export function configDocs(): string {
  return `# Settings

\`\`\`sh
untildone config          # what applies here, and where it comes from
untildone config init     # writes a small untildone.json to start from
untildone run "fix the test" --max-minutes 60     # for this run only
\`\`\`

The strongest first: a flag, the environment, the project's file, the user's file, the default.

| where | what |
|---|---|
| flag | \`${flagName('maxContinuations')}=20\`, in a section \`${flagName('context.maxMessages')}=80\`, for commands that take settings (\`run\`, \`config\`) |
| environment | \`${environmentName('maxContinuations')}=20\`, \`${environmentName('context.maxMessages')}=80\`; lists are separated by commas or are a JSON array, whole sections are JSON |
| project | \`untildone.json\` in the directory or above it, up to the root of the git repository; it counts once you accepted it: [Trust](trust.md) |
| user | \`~/.config/untildone/untildone.json\` (\`XDG_CONFIG_HOME\`) |

The file is JSON, and may have comments (\`//\`, \`/* */\`). If a key or a value is wrong, you are told where, and nothing of the file is applied.

A \`$schema\` gives completion in editors: \`"./node_modules/untildone/dist/schema.json"\` if the package is installed in the project;
else \`untildone config init\` writes the path of the copy that runs.

\`agents\` overrides settings for one agent by name, where the third column says so:

\`\`\`json
{ "maxStagnant": 4, "agents": { "build": { "maxContinuations": 30 } } }
\`\`\`

Our own agent goes by the name \`run\`: \`"agents": { "run": { "model": "ollama/qwen3", "maxMinutes": 60 } }\` counts for
\`untildone run\` only, unless a flag or the environment says something else.

Settings are frozen at each of your messages: an agent that edits the file in the middle of its work changes nothing before you
write again. A repository cannot grant itself anything: \`permissions\`, \`notify\` and \`tools.shellAllow\`, also under
\`agents\`, count only from the user's file, the environment or a flag.

## All settings

Those with a link have fields of their own: [below](#sections). "Acts in" says where a setting does something: \`run\` is our own
agent, hooks are [hosts](hosts/README.md) that ask before they stop (${titles('asked')}), plugins those that load one
(${titles('told')}), the enforcer is any program with [its event bus](enforcer.md), MCP the todo tools of [\`untildone mcp\`](mcp.md).

- Hosts with hooks and \`run\` get their answer in the moment in which they stop. Nothing counts down and nothing waits between
  two continuations, so \`minIntervalSeconds\` and \`countdownSeconds\` do nothing there, nor in \`opencode run\`.
- Tokens are counted as the host reports them. OpenCode does it with each step. Claude Code has them in its transcript, which is
  read at a stop if \`maxTokens\` is set (its last 8 MB; not what subagents write into files of their own); it reports no cost. A
  program on the enforcer reports them by \`usage.reported\`.
- Hosts compact their context by themselves, so \`contextShare\` is for \`run\`, and for programs that report
  their context.
- The enforcer runs checks only with a \`checker\`.

| setting | default | per agent | acts in | meaning |
|---|---|---|---|---|
${settings.map(settingRow).join('\n')}

Times have their unit at the end of their name, and may be fractions: \`"toastSeconds": 0.9\`.

\`skipAgents\` are agents that plan or summarise and must not be sent on: those of OpenCode and Claude Code, and \`prometheus\` and
\`momus\`, the planners of a widespread OpenCode plugin. A list of your own replaces it.

## Sections

In \`context\`, \`iterations\`, \`tools\`, \`texts\` and \`toasts\` a file may give any of the fields; the others keep their values.

${settings.flatMap(sectionText).join('\n\n')}

## Providers

A model is written \`provider/model\`: \`${flagName('model')} ollama/qwen3-coder\`, \`${environmentName('model')}\`, or \`model\` in a file. Without
one, the first provider of this table whose key is set gives its usual model. Any other name of a model works as well;
it goes to the provider as it is written.

| provider | api | address | moved by | key | usual model |
|---|---|---|---|---|---|
${Object.entries(knownProviders).map(providerRow).join('\n')}

Any other server is a provider of your own, under a name that you choose. In the user's file:

\`\`\`json
{
  "model": "corp/big-model",
  "models": {
    "corp": {
      "baseUrl": "https://models.example.com/v1",
      "api": "chat",
      "apiKeyEnv": "CORP_API_KEY",
      "contextLimit": 128000
    }
  },
  "prices": { "corp/big-model": { "input": 3, "output": 15 } }
}
\`\`\`

\`\`\`sh
CORP_API_KEY=… untildone run "fix the failing test"
\`\`\`

- \`api\` is the protocol: \`chat\` for OpenAI-compatible chat completions, \`responses\` for OpenAI's newer one, \`anthropic\`,
  \`google\`. The path of the protocol (\`/chat/completions\` …) is added to \`baseUrl\`, which therefore ends in its version.
- A key is never written into a file, only the name of its variable.
- A known provider with a \`baseUrl\` of its own gets no key unless \`apiKeyEnv\` names one: the known key belongs to the
  known address.
- A project's file must not choose who reads the conversation: from there a \`baseUrl\` counts only on this machine
  (localhost, 127.0.0.1, ::1), and an \`apiKeyEnv\` is refused.

To try it without a provider, put a [scripted model](scripted-model.md) at the address.

This page is written by \`npm run docs -- config\`.
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, configDocs());
