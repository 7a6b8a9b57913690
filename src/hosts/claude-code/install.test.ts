import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { writePlugin } from '../../../scripts/build/plugin.ts';
import { hooksOf } from '../asked-translate.ts';
import { serverName } from '../install/hook-host.ts';
import { claudeCodeLanguage } from './host.ts';
import { claudeCodeInstaller, hookElement, pluginName } from './install.ts';

const claudeCodeHooks = hooksOf(claudeCodeLanguage);

const root = fileURLToPath(new URL('../../../', import.meta.url));
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const plugin = join(root, 'claude-code-plugin');

const scratch = mkdtempSync(join(tmpdir(), 'untildone-plugin-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the plugin folder', () => {
  it('C1: has the same hooks and timeouts as init, without a grant that it cannot give', () => {
    const command = `node "\${CLAUDE_PLUGIN_ROOT}/programs/hook.js" claude-code`;
    expect(readJson(join(plugin, 'hooks/hooks.json')).hooks).toEqual(
      Object.fromEntries(
        claudeCodeHooks.map(({ hook, timeout }) => [
          hook,
          [hookElement(command, timeout)],
        ]),
      ),
    );
  });

  it('C1: marketplace, manifest and server carry the names that doctor and texts know', () => {
    const { name } = readJson(join(plugin, '.claude-plugin/plugin.json'));
    const marketplace = readJson(join(plugin, '.claude-plugin/marketplace.json'));
    expect(`${name}@${marketplace.name}`).toBe(pluginName);
    expect(marketplace.plugins).toMatchObject([{ name, source: './' }]);
    expect(Object.keys(readJson(join(plugin, '.mcp.json')).mcpServers)).toEqual([
      serverName,
    ]);
  });

  const readCommand = (name: string) =>
    readFileSync(join(plugin, 'commands', `${name}.md`), 'utf8');

  it.each(['status', 'why'])(
    'C3: /untildone:%s may start its own command and nothing else',
    (name) => {
      const line = `node "\${CLAUDE_PLUGIN_ROOT}/programs/host-commands.js" ${name}`;
      expect(readCommand(name)).toContain(`allowed-tools: Bash(${line}:*)\n`);
      expect(readCommand(name)).toContain(`!\`${line} "\${CLAUDE_SESSION_ID}"\``);
    },
  );

  it('V12: /untildone:pause starts nothing: the hook, which knows that a human typed it, pauses the session', () => {
    expect(readCommand('pause')).not.toMatch(/allowed-tools|!`/u);
    expect(readCommand('pause')).toContain('disable-model-invocation: true');
  });

  it('C1: built, it carries every program that it names, and the version of the package', () => {
    const output = join(scratch, 'dist');
    mkdirSync(join(output, 'plugin', 'programs'), { recursive: true });
    for (const name of claudeCodeInstaller.programs)
      writeFileSync(join(output, 'plugin', 'programs', name), name);
    writePlugin(root, output, '1.2.3');
    expect(readJson(join(output, 'plugin/.claude-plugin/plugin.json')).version).toBe(
      '1.2.3',
    );
    const texts = [
      'hooks/hooks.json',
      '.mcp.json',
      'commands/status.md',
      'commands/why.md',
      'commands/pause.md',
    ];
    const named = texts.flatMap((path) => [
      ...readFileSync(join(output, 'plugin', path), 'utf8').matchAll(
        /\$\{CLAUDE_PLUGIN_ROOT\}\/([\w./-]+)/g,
      ),
    ]);
    expect(named.length).toBeGreaterThan(10);
    for (const [, path = ''] of named)
      expect(existsSync(join(output, 'plugin', path)), path).toBe(true);
  });
});
