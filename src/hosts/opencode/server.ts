// What the host's loader takes by the package's name: `exports["./server"]`. It only defines the plugin.
import { createOpenCodePlugin } from './index.ts';
import type { PluginLike } from './translate.ts';

const plugin: { readonly id: string; readonly server: PluginLike } = {
  id: 'untildone',
  server: createOpenCodePlugin(),
};

// biome-ignore lint/style/noDefaultExport: the host's loader asks for it, and calls every other export
export default plugin;
