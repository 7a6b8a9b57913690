// What every run of the real OpenCode needs: its program, an environment in which it asks
// nobody but the scripted model, a home in which it has nothing to install, and the
// settings of a project folder. It starts nothing.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ScriptedModel } from '../../../src/scripted-model/index.ts';
import { acceptProject } from '../../support/accept-project.ts';
import { hostProgram } from '../harness/install-host.ts';
import type { Project } from '../harness/project.ts';

export const program = hostProgram('opencode', 'opencode');

/** The built plugin, as the host's loader takes it. */
export const ourPlugin = fileURLToPath(
  new URL('../../../dist/plugin/programs/server.js', import.meta.url),
);

/** Another model of the same provider, for tests that look at which one was asked. */
const models = ['first', 'second'] as const;

export interface FolderSettings {
  /** Paths of plugin files; default: ours alone. */
  readonly plugins?: readonly string[];
  /** Becomes `untildone.json`, which a human accepted; null: there is none. */
  readonly config?: object | null;
  /** Laid over the settings of the host. */
  readonly opencode?: object;
}

export function hostEnvironment(project: Project): Readonly<Record<string, string>> {
  return {
    ...project.environment,
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    npm_config_fetch_retries: '0',
    npm_config_offline: 'true',
  };
}

/**
 * The host takes its own package for installed where a lock names it, and asks no
 * registry for 63 MB.
 */
export function seedHome(project: Project): void {
  const folder = join(project.home, '.config', 'opencode');
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  const dependencies = { '@opencode-ai/plugin': '*' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies }));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ packages: { '': { dependencies } } }),
  );
}

/** Makes a folder a project under git with the host's settings and ours. */
export function settleFolder(
  directory: string,
  project: Project,
  model: ScriptedModel,
  { plugins = [ourPlugin], config, opencode = {} }: FolderSettings,
): void {
  mkdirSync(directory, { recursive: true });
  execFileSync('git', ['init', '--quiet'], { cwd: directory, env: project.environment });
  // So large that a plan of a hundred todos, written whole two hundred times, does not
  // fill it.
  const limit = { context: 2_000_000, output: 8000 };
  const settings = {
    $schema: 'https://opencode.ai/config.json',
    model: 'scripted/first',
    small_model: 'scripted/first',
    share: 'disabled',
    snapshot: false,
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${model.url}/v1`, apiKey: 'dummy' },
        models: Object.fromEntries(models.map((name) => [name, { name, limit }])),
      },
    },
    permission: { '*': 'allow' },
    plugin: plugins.map((path) => pathToFileURL(path).href),
    ...opencode,
  };
  writeFileSync(join(directory, 'opencode.json'), JSON.stringify(settings, null, 2));
  if (config === undefined || config === null) return;
  writeFileSync(join(directory, 'untildone.json'), JSON.stringify(config));
  acceptProject(project.state, directory);
}

/** The host cannot be asked to take any free port: it takes its usual one then. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
