// Makes the plugin for Claude Code: the folder plugin/ with the programs that it starts and the version of the package,
// as dist/plugin. Nothing is installed for a plugin, so it has to carry all that it needs.
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { claudeCodePrograms } from '../src/hosts/claude-code/install-edits.ts';

export function writePlugin(root: string, output: string, version: string): void {
  const folder = join(output, 'plugin');
  cpSync(join(root, 'plugin'), folder, { recursive: true });
  mkdirSync(join(folder, 'programs'), { recursive: true });
  for (const name of claudeCodePrograms) copyFileSync(join(output, name), join(folder, 'programs', name));
  for (const file of [join(root, 'LICENSE'), join(output, 'THIRD_PARTY_LICENSES')]) {
    copyFileSync(file, join(folder, basename(file)));
  }
  const manifest = join(folder, '.claude-plugin', 'plugin.json');
  const { name, ...rest } = JSON.parse(readFileSync(manifest, 'utf8')) as { name: string };
  writeFileSync(manifest, `${JSON.stringify({ name, version, ...rest }, null, 2)}\n`);
}
