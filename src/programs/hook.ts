// What hosts start: `hook.js HOST [--tools=PREFIX]`, one JSON object on stdout and exit
// code 0, whatever happens. Only this is compiled at each call; all else comes out of
// Node's cache of compiled code.
import { writeSync } from 'node:fs';
import { useCompiledCode } from '../store/state-directory.ts';

start().catch(() => {
  // Safe: a file is gone or damaged. The agent goes on as if we were not there.
  writeSync(1, '{}\n');
  process.exit(0);
});

async function start(): Promise<void> {
  useCompiledCode(process.env);
  const { runHook } = await import('../hosts/asked.ts');
  await runHook(process.argv.slice(2), async (...seen) =>
    (await import('../mcp/receipts.ts')).bindReceipt(...seen),
  );
}
