// The commands that a host starts by itself, in one file that can be copied anywhere: the MCP server, the runner of
// checks that it starts, and what the slash commands of a host's plugin show. Our own agent is not in it.
import { UntildoneError } from '../core/error.ts';
import type { Command } from './command.ts';
import { pause } from './commands/hold.ts';
import { checkRunner } from './commands/hook.ts';
import { mcp } from './commands/mcp.ts';
import { status } from './commands/status.ts';
import { why } from './commands/why.ts';
import { processIo } from './io.ts';
import { reportFailure, shown } from './print.ts';
import { readArguments } from './program.ts';

const commands: Readonly<Record<string, Command>> = { mcp, 'check-runner': checkRunner, status, why, pause };

const [name = '', ...rest] = process.argv.slice(2);
const io = processIo();
try {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const known = Object.keys(commands).join(', ');
    throw new UntildoneError('usage', `There is no command "${shown(name, 40)}" here, only ${known}.`);
  }
  process.exitCode = await command.run(readArguments(command, rest, name), io);
} catch (error) {
  // Safe: a command that failed has committed whole transactions or nothing; all that is left is to say so.
  process.exitCode = reportFailure(error, io);
}
