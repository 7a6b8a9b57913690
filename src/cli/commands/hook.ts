// What is started by programs, not by people. `untildone hook HOST`: one call of a host's
// hook, for hosts whose settings are shared and name no path; it reaches the code that
// `init` copies as a file of its own, and ends the process as that does. `untildone
// check-runner`: works through the queue of checks of one folder, started by the system
// itself.
import type { Command } from '../command.ts';

export const hook: Command = {
  takes: '[HOST]',
  about: [
    'Reads one hook call of the host from standard input and answers with one JSON object. Hosts call it; whatever\nhappens it exits with 0, and what it could not do stands in hook.log of the state directory.',
  ],
  options: {
    tools: {
      value: 'PREFIX',
      summary:
        'What stands before the names of our own tools, if the agent may call them.',
    },
    timeout: {
      value: 'SECONDS',
      summary: 'How long the host waits, if not as long as init says.',
    },
  },
  // Not the way of a host: main.ts calls `answerHook` before arguments are read, so that
  // none of them is an error.
  run: () => answerHook(process.argv.slice(3)),
};

/**
 * Takes what makes sense and complains of nothing: a host would read exit code 2 as a
 * refusal.
 */
export async function answerHook(argv: readonly string[]): Promise<number> {
  const { runHook } = await import('../../hosts/asked.ts');
  const host = argv.find((word) => !word.startsWith('-')) ?? '';
  const options = argv.map((word, index) =>
    /^--(?:tools|timeout)$/u.test(word) ? `${word}=${argv[index + 1] ?? ''}` : word,
  );
  await runHook([host, ...options], async (...seen) =>
    (await import('../../mcp/receipts.ts')).bindReceipt(...seen),
  );
  return 0;
}

export const checkRunner: Command = {
  takes: '<DIRECTORY> <HOLDER>',
  about: [
    'Runs the checks that sessions in the directory asked for, and ends. untildone starts it by itself.',
  ],
  options: {},
  async run(given, io) {
    const { runCheckQueue } = await import('../../hosts/check-queue.ts');
    await runCheckQueue(given.positional(0) ?? '', given.positional(1) ?? '', io.env);
    return 0;
  },
};
