// `notify.js` tells a human what its environment holds, and ends. It outlives whoever
// starts it.
import { scriptSwitch } from '../engine/start-program.ts';
import { sendNotice } from '../hosts/notify.ts';

// A command of the human must not inherit what made a host's own program run this script.
const { [scriptSwitch]: _, ...environment } = process.env;
sendNotice(environment).catch((error: unknown) => {
  // Safe: the session does not depend on it.
  process.stderr.write(`untildone: ${String(error)}\n`);
  process.exitCode = 1;
});
