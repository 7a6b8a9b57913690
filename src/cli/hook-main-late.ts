// The two programs that one file holds: the hook, and the runner of checks that it starts, because nothing else may
// be installed beside it.
import { runHookProcess } from './hook-process.ts';

export async function main([first = '', ...rest]: readonly string[]): Promise<void> {
  if (first === 'check-runner') await (await import('./queue-late.ts')).runQueueProcess(rest);
  else await runHookProcess(first, rest);
}
