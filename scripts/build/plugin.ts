// Completes the plugin for Claude Code, whose programs the build has written to
// dist/plugin/programs: the folder claude-code-plugin/ with the version of the package.
// Nothing is installed for a plugin, so it has to carry all that it needs.
import { copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function writePlugin(root: string, output: string, version: string): void {
  const folder = join(output, 'plugin');
  cpSync(join(root, 'claude-code-plugin'), folder, { recursive: true });
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'programs', 'package.json'), '{ "type": "module" }\n');
  const manifest = join(folder, '.claude-plugin', 'plugin.json');
  const { name, ...rest } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    name: string;
  };
  writeFileSync(manifest, `${JSON.stringify({ name, version, ...rest }, null, 2)}\n`);
}
