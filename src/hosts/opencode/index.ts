// `untildone/opencode`: the plugin as a part, for people who put a plugin file of their own together.
export { createOpenCodePlugin, type OpenCodePluginOptions } from './plugin.ts';
export type { ClientLike, HooksLike, PluginInputLike, PluginLike } from './plugin-types.ts';
