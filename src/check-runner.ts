// The runner of checks as a process of its own: `check-runner.js DIRECTORY HOLDER` works through the queue of one folder and
// ends. Hooks, plugins, servers and the command line start it, and it outlives them.
import { scriptSwitch } from './checks/queue.ts';
import { useCompiledCode } from './store/state-directory.ts';

start().catch((error: unknown) => {
  // Nobody reads what it prints; whoever waits sees that the lease ran out, and starts another.
  process.stderr.write(`untildone: ${String(error)}\n`);
  process.exitCode = 1;
});

async function start(): Promise<void> {
  const [directory, holder] = process.argv.slice(2);
  if (directory === undefined || holder === undefined) return;
  // Checks must not inherit what made a host's own program run this script.
  const { [scriptSwitch]: _, ...environment } = process.env;
  useCompiledCode(environment);
  const { runCheckQueue } = await import('./hosts/check-queue.ts');
  await runCheckQueue(directory, holder, environment);
}
