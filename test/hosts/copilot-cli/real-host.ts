// Copilot CLI as the suite of all hosts starts it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool, runCommand } from '../../../src/scripted-model/index.ts';
import { hostProgram } from '../harness/install-host.ts';
import type { RealHost } from '../harness/real-host.ts';

/**
 * The host unpacks itself into the home of its user, which takes seconds and 200 MB: once
 * for all tests.
 */
const unpacked = join(import.meta.dirname, 'node_modules', '.cache', 'copilot');

export const copilotCli: RealHost = {
  name: 'copilot-cli',
  program: 'copilot',
  turn: ({ text, conversation }) => ({
    words: ['--no-auto-update', '--allow-all', '--session-id', conversation, '-p', text],
  }),
  environment: ({ model }) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'dummy',
    COPILOT_MODEL: 'gpt-4.1',
  }),
  settle({ project: { home, directory, environment } }) {
    mkdirSync(unpacked, { recursive: true });
    mkdirSync(join(home, '.cache'), { recursive: true });
    symlinkSync(unpacked, join(home, '.cache', 'copilot'));
    if (!existsSync(join(unpacked, 'pkg')))
      execFileSync(hostProgram('copilot-cli', 'copilot'), ['--version'], {
        env: environment,
      });
    mkdirSync(join(home, '.copilot'));
    writeFileSync(
      join(home, '.copilot', 'config.json'),
      JSON.stringify({ trustedFolders: [directory] }),
    );
  },
  // Of what a hook says of its progress, wrapped as for a terminal.
  messages: ({ stdout }) =>
    stdout.split('\n\n').flatMap((block) => {
      const told = block.indexOf('● untildone: ');
      return told === -1 ? [] : block.slice(told + 2).replaceAll(/\s+/gu, ' ');
    }),
  hardCap: 8,
  family: 'sql',
  background: (command) => runCommand(command, { mode: 'async' }),
  subagent: (prompt) =>
    callTool('task', {
      name: 'scout',
      description: 'look around',
      prompt,
      agent_type: 'general-purpose',
      mode: 'background',
    }),
  shortenStop({ directory, editJson }, seconds) {
    type Hook = { bash: string; timeoutSec: number };
    const file = join(directory, '.github', 'copilot', 'settings.local.json');
    editJson<{ hooks: { Stop: Hook[] } }>(file, ({ hooks: { Stop } }) => {
      for (const hook of Stop) {
        hook.bash += ` --timeout=${seconds}`;
        hook.timeoutSec = seconds;
      }
    });
  },
};
