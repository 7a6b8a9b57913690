// What the host's loader takes by the package's name: `exports["./server"]`, one file that needs nothing beside it.
// Started as a script it is the runner of checks; loaded by the host it only defines the plugin.
import { runChecks, runnerCommand } from './check-runner.ts';
import { createOpenCodePlugin } from './plugin.ts';
import type { PluginLike } from './plugin-types.ts';

const [, , first, ...rest] = process.argv;
if (first === runnerCommand && isStarted()) await runChecks(rest);

/** The host loads this file; only the plugin itself starts it, and then it is the program's own script. */
function isStarted(): boolean {
  return (import.meta as { readonly main?: boolean }).main === true;
}

const plugin: { readonly id: string; readonly server: PluginLike } = {
  id: 'untildone',
  server: createOpenCodePlugin(),
};

// biome-ignore lint/style/noDefaultExport: the host's loader asks for it, and calls every other export
export default plugin;
