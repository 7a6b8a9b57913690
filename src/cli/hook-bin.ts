// What hosts start: `hook.js <host> [--tools=PREFIX]`, one JSON object on stdout and exit code 0, whatever happens.
// The same file is the runner of checks that such a call starts: nothing else may be installed beside it.
import { runHookProcess } from './hook-process.ts';

const [first = '', ...rest] = process.argv.slice(2);
if (first === 'check-runner') await (await import('./hook-late.ts')).runQueueProcess(rest);
else await runHookProcess(first, rest);
