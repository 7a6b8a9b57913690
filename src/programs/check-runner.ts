// `check-runner.js DIRECTORY HOLDER` works through the queue of one folder and ends. It
// outlives whoever starts it.
import { scriptSwitch } from '../engine/start-program.ts';
import { useCompiledCode } from '../store/state-directory.ts';

start().catch((error: unknown) => {
  // Safe: whoever waits sees that the lease ran out, and starts another.
  process.stderr.write(`untildone: ${String(error)}\n`);
  process.exitCode = 1;
});

async function start(): Promise<void> {
  const [directory, holder] = process.argv.slice(2);
  if (directory === undefined || holder === undefined) return;
  // Checks must not inherit what made a host's own program run this script.
  const { [scriptSwitch]: _, ...environment } = process.env;
  useCompiledCode(environment);
  const { runCheckQueue } = await import('../hosts/check-queue.ts');
  await runCheckQueue(directory, holder, environment);
}
