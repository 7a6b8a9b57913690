// The menu of the site, by what people come for. A test holds it to the pages: each
// stands here once.
import { readdirSync, readFileSync } from 'node:fs';

interface Group {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

function group(text: string, pages: Readonly<Record<string, string>>): Group {
  return {
    text,
    items: Object.entries(pages).map(([link, title]) => ({ text: title, link })),
  };
}

/** A host is a page in docs/hosts, named by its first line. */
const hostFolder = new URL('../hosts/', import.meta.url);
const hostPages = Object.fromEntries(
  readdirSync(hostFolder)
    .filter((file) => /^[a-z].*\.md$/.test(file))
    .sort()
    .map((file) => {
      const [title = ''] = readFileSync(new URL(file, hostFolder), 'utf8').split('\n');
      return [`/hosts/${file.slice(0, -'.md'.length)}`, title.replace(/^# /, '')];
    }),
);

export const menu: readonly Group[] = [
  group('Guides', {
    '/guides/claude-code': 'Claude Code with your tests',
    '/guides/opencode': 'OpenCode with your tests',
    '/guides/ci': 'A gate in CI',
    '/guides/overnight': 'Overnight, with a budget',
    '/guides/notify': 'Be told when it needs you',
    '/guides/team-policy': 'One policy for a team',
    '/guides/plan-file': 'Work through a plan file',
    '/guides/good-checks': 'Writing good checks',
    '/guides/too-early-too-late': 'It stops too early or too late',
  }),
  group('Reference', {
    '/reference/commands': 'Commands',
    '/configuration': 'Settings',
    '/prices': 'Prices',
    '/reference/outcomes': 'Outcomes and exit codes',
    '/reference/rules': 'Rules',
    '/reference/events': 'Events of a session',
    '/reference/library': 'The library, name by name',
    '/run-events': 'Events of a run (NDJSON)',
    '/checks': 'Checks',
    '/plan-files': 'Plan files',
    '/permissions': 'Permissions',
    '/trust': 'Trust',
    '/live-view': 'The live view',
    '/platforms': 'Linux, macOS, Windows',
    '/words': 'Words',
  }),
  group('Hosts and parts', {
    '/hosts/': 'Hosts compared',
    ...hostPages,
    '/mcp': 'Any MCP client',
    '/agents': 'Our own agent and its workers',
    '/run-with': 'Drive the agent that you have',
    '/library': 'Use it as a library',
    '/frameworks/ai-sdk': 'AI SDK',
    '/frameworks/langchain': 'LangChain',
    '/frameworks/openai-agents': 'OpenAI Agents',
    '/frameworks/claude-agent-sdk': 'Claude Agent SDK',
    '/frameworks/mastra': 'Mastra',
    '/enforcer': 'The idle enforcer',
    '/scripted-model': 'The scripted model',
  }),
  group('Explanation', {
    '/explanation/how-it-decides': 'How it decides',
    '/explanation/evidence': 'What counts as evidence',
    '/explanation/limits': 'What it cannot do',
    '/explanation/will-not-be': 'What it will not be',
    '/explanation/compared': 'Compared with loops, hooks and judges',
    '/explanation/questions': 'Questions',
    '/explanation/other-names': 'If you know this under other names',
    '/architecture': 'Architecture',
    '/decisions/': 'Decisions',
    '/requirements': 'Requirements',
  }),
];
