// The table of all commands: the group in which `--help` lists each, its line there, one
// example, and its file. A command's file is loaded only when the command runs, so that
// the others cost nothing at the start.
import type { Command } from './command.ts';

const loaders = {
  run: async () => (await import('./commands/run.ts')).run,
  demo: async () => (await import('./commands/demo.ts')).demo,
  status: async () => (await import('./commands/status.ts')).status,
  attach: async () => (await import('./commands/attach.ts')).attach,
  why: async () => (await import('./commands/why.ts')).why,
  transcript: async () => (await import('./commands/transcript.ts')).transcript,
  report: async () => (await import('./commands/report.ts')).report,
  say: async () => (await import('./commands/hold.ts')).say,
  pause: async () => (await import('./commands/hold.ts')).pause,
  resume: async () => (await import('./commands/hold.ts')).resume,
  stop: async () => (await import('./commands/hold.ts')).stop,
  verify: async () => (await import('./commands/verify.ts')).verify,
  approve: async () => (await import('./commands/approve.ts')).approve,
  permissions: async () => (await import('./commands/permissions.ts')).permissions,
  'plan show': async () => (await import('./commands/plan.ts')).planShow,
  'plan log': async () => (await import('./commands/plan.ts')).planLog,
  'plan import': async () => (await import('./commands/plan-files.ts')).planImport,
  'plan export': async () => (await import('./commands/plan-files.ts')).planExport,
  'plan move': async () => (await import('./commands/plan-move.ts')).planMove,
  'ledger verify': async () => (await import('./commands/plan.ts')).ledgerVerify,
  init: async () => (await import('./commands/init.ts')).init,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  trust: async () => (await import('./commands/trust.ts')).trust,
  config: async () => (await import('./commands/config.ts')).config,
  'config init': async () => (await import('./commands/config.ts')).configInit,
  gc: async () => (await import('./commands/gc.ts')).gc,
  completion: async () => (await import('./completion.ts')).completion,
  mcp: async () => (await import('./commands/mcp.ts')).mcp,
  hook: async () => (await import('./commands/hook.ts')).hook,
  'check-runner': async () => (await import('./commands/hook.ts')).checkRunner,
} as const satisfies Record<string, () => Promise<Command>>;

type CommandName = keyof typeof loaders;
type Words = {
  readonly [Name in CommandName]?: readonly [summary: string, example: string];
};

/** The groups in the order of `--help`. */
const groups: Readonly<Record<string, Words>> = {
  'Work until it is done': {
    run: [
      'Our own agent works in this directory until the work is done',
      'run "fix the tests" --check "npm test"',
    ],
    demo: [
      'Watch it work in under a minute, with a scripted model: no key, no network',
      'demo',
    ],
  },
  'See what happens': {
    status: [
      'What the sessions are doing, and how far they may still go',
      'status --all',
    ],
    attach: ['Watch a session that runs elsewhere, live', 'attach'],
    why: ['Why the agent had to go on or was allowed to stop', 'why'],
    transcript: [
      'What our own agent or one of its workers said and did',
      'transcript 8e34db',
    ],
    report: [
      'One page for a pull request: what changed, what proves it',
      'report --md > report.md',
    ],
  },
  'Speak to an agent, or hold it': {
    say: ['Tell our own agent something while it works', 'say "use tabs, please"'],
    pause: ['Send nothing more to an agent until you resume', 'pause --reason lunch'],
    resume: ['Take back a pause or a stop', 'resume'],
    stop: ['Stop: nothing is sent until you write to the agent or resume', 'stop'],
  },
  'Check the work': {
    verify: [
      'Run the checks now: of a session, of a plan file, or of the project',
      'verify --plan PLAN.md',
    ],
    approve: ['Answer a check or a permission that waits for you', 'approve'],
    permissions: [
      'What you always allow our own agent here, and how to take it back',
      'permissions',
    ],
  },
  'Plans and their history': {
    'plan show': ['The plan of a session as a list', 'plan show'],
    'plan log': ['Who changed the plan, when and how', 'plan log 8e34db'],
    'plan import': ['Read a Markdown task list into a plan', 'plan import PLAN.md'],
    'plan export': [
      'Write the plan as a Markdown task list',
      'plan export --file PLAN.md',
    ],
    'plan move': [
      'Go on with a plan in another agent, checks included',
      'plan move 8e34db opencode',
    ],
    'ledger verify': [
      'Check that no change of a plan was altered or lost',
      'ledger verify --all',
    ],
  },
  'Set up': {
    init: [
      'Set up Claude Code, OpenCode, Codex and others, or take it away again',
      'init claude-code --check "npm test"',
    ],
    doctor: ['See whether everything works here, and what to type if not', 'doctor'],
    trust: ['Accept what this project’s untildone.json asks for', 'trust'],
    config: [
      'Which settings apply here, and where each comes from',
      'config --max-cost 5',
    ],
    'config init': [
      'Write a small untildone.json into this directory',
      'config init --check "npm test"',
    ],
    gc: [
      'Archive sessions that nobody touched for a while',
      'gc --older-than 30d --dry-run',
    ],
    completion: [
      'Complete commands and options with Tab in your shell',
      'completion bash >> ~/.bashrc',
    ],
  },
  'Started by other programs': {
    mcp: [
      'The todo tools as an MCP server, for any host that speaks MCP',
      'mcp --tools todo_write,todo_read',
    ],
    hook: ['Answers one hook call of a host', 'hook claude-code < call.json'],
    'check-runner': [
      'Works through the checks of one folder',
      'check-runner DIRECTORY HOLDER',
    ],
  },
};

export type CommandTable = typeof commandTable;

export const commandTable = {
  rows: Object.entries(groups).flatMap(([group, rows]) =>
    Object.entries(rows).map(([name, [summary, example]]) => ({
      name,
      group,
      summary,
      example: `untildone ${example}`,
      /** untildone starts it by itself, so no help lists it. */
      hidden: name === 'check-runner',
      load: loaders[name as CommandName] as () => Promise<Command>,
    })),
  ),
  /** The words that hold several commands and are no command themselves. */
  groups: {
    plan: 'The plan of a session: show, log, import, export, move',
    ledger: 'The history of the plans: verify',
  } as Readonly<Record<string, string>>,
};
