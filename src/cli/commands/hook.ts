// What is started by programs, not by people. `untildone hook HOST`: one call of a host's hook, for hosts whose settings are
// shared and name no path; it reaches the code that `init` copies as a file of its own, and ends the process as that does.
// `untildone check-runner`: works through the queue of checks of one folder, started by the system itself.
import type { Command } from '../command.ts';
import { complain } from '../print.ts';

export const hook: Command = {
  usage: 'hook HOST [--tools PREFIX] [--timeout SECONDS]',
  about: [
    'Reads one hook call of the host from standard input and answers with one JSON object. Hosts call it; whatever\nhappens it exits with 0, and what it could not do stands in hook.log of the state directory.',
  ],
  options: {
    tools: {
      value: 'PREFIX',
      summary: 'What stands before the names of our own tools, if the agent may call them.',
    },
    timeout: { value: 'SECONDS', summary: 'How long the host waits, if not as long as init says.' },
  },
  // Too many words, or none, must not be an error: a host would read exit code 2 as a refusal.
  positionals: [0, 20],
  async run(given, io) {
    if (process.stdin.isTTY)
      complain(
        io,
        'Waiting for a call of an agent program on standard input: they start this, not people. Ctrl-C ends it.',
      );
    const { runHook } = await import('../../hosts/asked.ts');
    const options = ['tools', 'timeout'].flatMap((name) => {
      const value = given.text(name);
      return value === null ? [] : [`--${name}=${value}`];
    });
    await runHook([given.positional(0) ?? '', ...options], async (...seen) =>
      (await import('../../mcp/receipts.ts')).bindReceipt(...seen),
    );
    return 0;
  },
};

export const checkRunner: Command = {
  usage: 'check-runner DIRECTORY HOLDER',
  about: [
    'Runs the checks that sessions in the directory asked for, and ends. untildone starts it by itself.',
  ],
  options: {},
  positionals: [2, 2],
  async run(given, io) {
    const { runCheckQueue } = await import('../../hosts/check-queue.ts');
    await runCheckQueue(given.positional(0) ?? '', given.positional(1) ?? '', io.env);
    return 0;
  },
};
