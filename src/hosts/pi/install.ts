// Installs our extension in pi: by a file that loads it in the folders that want it, or
// by our package in the project's settings. Examines whether pi loads it, and only once.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { noteRow, okRow, readSources } from '../install/installer.ts';
import { packageVersions } from '../install/json-text.ts';
import { pluginInstaller } from '../install/plugin-host.ts';
import { listOf, recordOf } from '../untrusted.ts';

const packages = { name: 'npm:untildone', key: 'packages', word: 'packages' };
const untrusted =
  'pi loads what a project names once you trust the project: /trust in pi.';

export const piInstaller = pluginInstaller({
  name: 'pi',
  title: 'pi',
  program: 'pi',
  plugin: 'pi-extension.js',
  word: 'extension',
  packages,
  exported,
  // Earlier versions do not wait for extensions at the end of a step: `pi -p` exits
  // before we can answer.
  oldestVersion: '0.75.5',
  knownVersions: ['0.87.1'],
  howToGet: 'npm install --global @earendil-works/pi-coding-agent@latest',
  afterInstall: 'pi loads extensions when it starts: /reload in one that is running.',
  proof: {
    words: ['--mode', 'rpc', '--no-session', '--offline'],
    input: `${JSON.stringify({ id: 'untildone', type: 'get_commands' })}\n`,
    sign: '"get_commands"',
  },
  /**
   * Looks into the user's folder and that of the project; pi looks into no folder above
   * the one where it starts.
   */
  look({ env, home }, { root }) {
    const own = env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent');
    const shared = join(root, '.pi', 'settings.json');
    const sources = readSources([join(own, 'settings.json'), shared], true).map(
      (source) => {
        const named = listOf(source.value['packages']).map(
          (entry) => recordOf(entry)['source'] ?? entry,
        );
        return { ...source, versions: packageVersions(named, packages.name) };
      },
    );
    return {
      loader: join(own, 'extensions', 'untildone.js'),
      sources,
      committed: [shared],
      examine: (scopes) => [
        [okRow('settings', 'Settings can be read.')],
        [
          scopes.includes('shared') &&
            !existsSync(join(own, 'trust.json')) &&
            noteRow('trust', untrusted),
        ],
        [
          okRow(
            'todo-tools',
            'pi has no list of todos of its own: the model plans with those of untildone.',
          ),
        ],
      ],
    };
  },
});

/**
 * The loader's default export. pi does not start if an extension fails or hangs, so then
 * it runs without us and says so.
 */
function exported(moved: string) {
  return `export default async function (pi) {
  if (!isWatched(process.cwd())) return;
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('it did not load within 10 s')), 10_000);
  });
  try {
${moved}    const { default: extension } = await Promise.race([import(program), late]);
    await Promise.race([extension(pi), late]);
  } catch (error) {
    console.error('untildone was not loaded, so the agent is left alone:', error.message);
  } finally {
    clearTimeout(timer);
  }
}
`;
}
