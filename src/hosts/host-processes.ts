// How the agent hosts show in the process table: by command, by package where a runtime runs them, and by the
// variables that they set for the commands of their agents. One row per host; nothing else knows these names.
import { sessionVariable } from '../checks/process.ts';

interface KnownHost {
  readonly name: string;
  readonly commands: readonly string[];
  readonly packages: readonly string[];
  readonly variables: readonly string[];
}

const knownHosts: readonly KnownHost[] = [
  { name: 'a session of untildone', commands: [], packages: [], variables: [sessionVariable] },
  {
    name: 'Claude Code',
    commands: ['claude'],
    packages: ['@anthropic-ai/claude-code'],
    variables: ['CLAUDECODE'],
  },
  { name: 'OpenCode', commands: ['opencode'], packages: ['opencode-ai'], variables: ['OPENCODE'] },
  {
    name: 'Codex',
    commands: ['codex'],
    packages: ['@openai/codex'],
    variables: ['CODEX_SANDBOX', 'CODEX_THREAD_ID'],
  },
  { name: 'Gemini CLI', commands: ['gemini'], packages: ['@google/gemini-cli'], variables: ['GEMINI_CLI'] },
  { name: 'Qwen Code', commands: ['qwen'], packages: ['@qwen-code/qwen-code'], variables: ['QWEN_CODE'] },
  { name: 'Copilot', commands: ['copilot'], packages: ['@github/copilot'], variables: ['COPILOT_CLI'] },
  {
    name: 'pi',
    commands: ['pi'],
    packages: ['@earendil-works/pi-coding-agent', '@mariozechner/pi-coding-agent'],
    variables: ['PI_CODING_AGENT'],
  },
];

const runtimes = ['node', 'nodejs', 'bun', 'deno'];

/** Whose process is this, by its arguments? Null: none that we know. */
export function hostOfCommand(argv: readonly string[]): string | null {
  const words = argv.map((argument) => argument.replaceAll('\\', '/'));
  const programs = programsOf(words);
  for (const { name, commands, packages } of knownHosts) {
    const isCommand = programs.some((program) => commands.includes(baseName(program)));
    const isPackage = programs.some((program) =>
      packages.some((part) => program.includes(`/node_modules/${part}/`)),
    );
    if (isCommand || isPackage) return name;
  }
  const ours = programs.find(isOurProgram);
  return ours !== undefined && words[words.indexOf(ours) + 1] === 'run' ? 'untildone run' : null;
}

/** Which host set one of these variables? An empty value counts as not set. */
export function hostOfVariables(isSet: (variable: string) => boolean): string | null {
  return knownHosts.find(({ variables }) => variables.some(isSet))?.name ?? null;
}

/** The program, and for a runtime the first two words after its flags: a flag's value may stand before the script. */
function programsOf([program = '', ...rest]: readonly string[]): string[] {
  if (!runtimes.includes(baseName(program))) return [program];
  return [program, ...rest.filter((argument) => !argument.startsWith('-')).slice(0, 2)];
}

function isOurProgram(argument: string): boolean {
  return baseName(argument) === 'untildone' || argument.endsWith('untildone/dist/bin.js');
}

function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return name.replace(/\.(?:exe|cmd|js|mjs|cjs)$/, '');
}
