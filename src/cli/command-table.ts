// Every command by name, with one line for the overview. A command's own file is loaded only when it runs, so that
// the others cost nothing at the start.
import type { Command } from './command.ts';

export interface CommandRow {
  readonly name: string;
  /** Started by the system itself: not for the overview. */
  readonly hidden?: true;
  readonly summary: string;
  load(): Promise<Command>;
}

export const commandTable: readonly CommandRow[] = [
  {
    name: 'run',
    summary: 'Our own agent: plans, works, and ends when the work is done',
    load: async () => (await import('./commands/run.ts')).run,
  },
  {
    name: 'demo',
    summary: 'The same with a scripted model: no key, no network, under a minute',
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  {
    name: 'init',
    summary: 'Install into a host: hooks, switches, grants, tools; or take it away',
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'doctor',
    summary: 'Does it work here, and if not, the command that mends it',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'trust',
    summary: 'What this project’s file asks for, and your yes to it',
    load: async () => (await import('./commands/trust.ts')).trust,
  },
  {
    name: 'status',
    summary: 'What the sessions are doing, and how far they may still go',
    load: async () => (await import('./commands/status.ts')).status,
  },
  {
    name: 'attach',
    summary: 'Watch a session that runs elsewhere, live; pause or stop it by a key',
    load: async () => (await import('./commands/attach.ts')).attach,
  },
  {
    name: 'transcript',
    summary: 'What our own agent or one of its workers said and did',
    load: async () => (await import('./commands/transcript.ts')).transcript,
  },
  {
    name: 'why',
    summary: 'Why the agent was continued or let go: the rules in order',
    load: async () => (await import('./commands/why.ts')).why,
  },
  {
    name: 'report',
    summary: 'One page for a pull request: changed files, what proves each, what was refused',
    load: async () => (await import('./commands/report.ts')).report,
  },
  {
    name: 'replay',
    summary: 'What other settings would have decided',
    load: async () => (await import('./commands/replay.ts')).replay,
  },
  {
    name: 'pause',
    summary: 'No continuations until you resume',
    load: async () => (await import('./commands/pause.ts')).pause,
  },
  {
    name: 'resume',
    summary: 'Lift a pause or a stop (a human at a terminal only)',
    load: async () => (await import('./commands/resume.ts')).resume,
  },
  {
    name: 'stop',
    summary: 'Latch a session: no continuation until you speak or resume',
    load: async () => (await import('./commands/stop.ts')).stop,
  },
  {
    name: 'say',
    summary: 'Speak to our own agent while it works (a human at a terminal only)',
    load: async () => (await import('./commands/say.ts')).say,
  },
  {
    name: 'verify',
    summary: 'Run the checks now: of a session, a plan file or the goal',
    load: async () => (await import('./commands/verify.ts')).verify,
  },
  {
    name: 'approve',
    summary: 'Answer a check or a permission (a human at a terminal only)',
    load: async () => (await import('./commands/approve.ts')).approve,
  },
  {
    name: 'permissions',
    summary: 'What you allowed our own agent for good here, and how to forget it',
    load: async () => (await import('./commands/permissions.ts')).permissions,
  },
  {
    name: 'plan show',
    summary: 'The plan of a session as a list',
    load: async () => (await import('./commands/plan.ts')).planShow,
  },
  {
    name: 'plan log',
    summary: 'Who changed the plan, when and how',
    load: async () => (await import('./commands/plan.ts')).planLog,
  },
  {
    name: 'plan import',
    summary: 'Read a Markdown task list into a plan',
    load: async () => (await import('./commands/plan-files.ts')).planImport,
  },
  {
    name: 'plan export',
    summary: 'The plan as a Markdown task list, or its boxes in one',
    load: async () => (await import('./commands/plan-files.ts')).planExport,
  },
  {
    name: 'ledger verify',
    summary: 'Check that no entry of the ledger was changed or lost',
    load: async () => (await import('./commands/plan.ts')).ledgerVerify,
  },
  {
    name: 'config',
    summary: 'The settings that hold here, and where each comes from',
    load: async () => (await import('./commands/config.ts')).config,
  },
  {
    name: 'config init',
    summary: 'Write a small untildone.json into this directory',
    load: async () => (await import('./commands/config.ts')).configInit,
  },
  {
    name: 'hook',
    summary: 'Answers one hook call of a host; hosts call it',
    load: async () => (await import('./commands/hook.ts')).hook,
  },
  {
    name: 'mcp',
    summary: 'The todo tools as an MCP server, for any host that speaks it',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  {
    name: 'gc',
    summary: 'Archive sessions that nobody touched for a while',
    load: async () => (await import('./commands/gc.ts')).gc,
  },
  {
    name: 'check-runner',
    hidden: true,
    summary: 'Works through the checks of one folder',
    load: async () => (await import('./commands/hook.ts')).checkRunner,
  },
];
