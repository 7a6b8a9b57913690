// Writes docs/configuration.md from the table of settings, so that the page cannot say anything else.
// Usage: npm run docs:config
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Setting } from '../src/core/config/setting.ts';
import { environmentName, flagName } from '../src/core/config/setting-names.ts';
import { settingTable } from '../src/core/config/settings.ts';

const page = new URL('../docs/configuration.md', import.meta.url);

/** Long lists are told by their length: the schema has them in full. */
function shownDefault(value: unknown): string {
  const json = JSON.stringify(value);
  if (Array.isArray(value) && json.length > 60) return `${value.length} entries`;
  return `\`${json.replaceAll('|', '\\|')}\``;
}

function row(name: string, setting: Setting): string {
  const override = setting.perAgent ? 'yes' : 'no';
  const summary = setting.summary.replaceAll('|', '\\|');
  return `| \`${name}\` | ${shownDefault(setting.default)} | ${override} | ${summary} |`;
}

export function configDocs(): string {
  const rows = Object.entries(settingTable as Readonly<Record<string, Setting>>).map(([name, setting]) =>
    row(name, setting),
  );
  return `# Configuration

Flags over environment over the project's file over the user's file over defaults (C1). \`untildone config\` shows what
holds here and where each value comes from; \`untildone config init\` writes a small file to start from.

| where | what |
|---|---|
| flag | \`${flagName('maxContinuations')}=20\`, for commands that take settings (\`run\`) |
| environment | \`${environmentName('maxContinuations')}=20\`; lists are separated by commas or are a JSON array, sections are JSON |
| project | \`untildone.json\` in the directory or above it, up to the root of the git repository |
| user | \`~/.config/untildone/untildone.json\` (\`XDG_CONFIG_HOME\`) |

The file is plain JSON; \`"$schema": "./node_modules/untildone/dist/schema.json"\` gives completion in editors. A wrong
key or value is told with its path, and nothing of the file is applied. \`agents\` overrides settings for one agent by
name, where the third column says so:

\`\`\`json
{ "maxStagnant": 4, "agents": { "build": { "maxContinuations": 30 } } }
\`\`\`

What holds is frozen at each message of the human: an agent that edits the file in mid-turn changes nothing before the
human speaks again. A repository cannot grant itself commands: \`tools.shellAllow\` counts only from the user's file, the
environment or a flag.

| setting | default | per agent | meaning |
|---|---|---|---|
${rows.join('\n')}

This page is written by \`npm run docs:config\`.
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, configDocs());
