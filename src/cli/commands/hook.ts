// The commands that programs start, not people. `untildone hook HOST` answers one call of
// a host's hook, for hosts whose shared settings cannot name a path. `untildone
// check-runner` works through the queue of checks of one folder.
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
  // Hosts do not come this way: main.ts calls `answerHook` before it reads the arguments,
  // so that a wrong argument is no error.
  run: () => answerHook(process.argv.slice(3)),
};

/**
 * Answers a hook call. It ignores arguments that it does not know: a host would take exit
 * code 2 for a refusal.
 */
export async function answerHook(argv: readonly string[]): Promise<number> {
  const { runHook } = await import('../../hosts/asked.ts');
  const host = argv.find((word) => !word.startsWith('-')) ?? '';
  const options = argv.map((word, index) =>
    /^--(?:tools|timeout)$/u.test(word) ? `${word}=${argv[index + 1] ?? ''}` : word,
  );
  await runHook([host, ...options], async (...binding) =>
    (await import('../../mcp/receipts.ts')).bindReceipt(...binding),
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
