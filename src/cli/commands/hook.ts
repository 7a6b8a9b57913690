// `untildone hook HOST`: one call of a host's hook, for hosts whose settings are shared and name no path. It reaches
// the code that `init` copies as a file of its own, and ends the process as that does.
import { runHook } from '../../hosts/asked.ts';
import { bindReceipt } from '../../mcp/receipts.ts';
import type { Command } from '../command.ts';

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
  async run(given) {
    const options = ['tools', 'timeout'].flatMap((name) => {
      const value = given.text(name);
      return value === null ? [] : [`--${name}=${value}`];
    });
    await runHook([given.positional(0) ?? '', ...options], bindReceipt);
    return 0;
  },
};
