// What pi is given: a file that loads our extension in the folders that want it, or our package in the project's settings;
// and whether it loads it, once.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Edit, FileTarget } from '../install/changes.ts';
import * as installer from '../install/installer.ts';
import { broken, note, ok, readSources } from '../install/installer.ts';
import { isPinned, packageVersions } from '../install/json-text.ts';
import { watchedLoader } from '../install/watched-loader.ts';
import { listOf, recordOf } from '../untrusted.ts';

const packageName = 'npm:untildone';

export const piInstaller: installer.HostInstaller = {
  name: 'pi',
  title: 'pi',
  program: 'pi',
  programs: ['pi-extension.js'],
  pieces: 'plugin',
  // Earlier ones do not wait for extensions at the end of a step: `pi -p` is gone before we can answer.
  oldestVersion: '0.75.5',
  knownVersions: ['0.87.1'],
  howToGet: 'npm install --global @earendil-works/pi-coding-agent@latest',
  afterInstall: 'pi loads extensions when it starts: /reload in one that is running.',
  howToRemovePlugin: `take "${packageName}" out of "packages" in that file`,
  survey,
};

/** The user's folder, and that of the project: pi looks into no folder above the one where it starts. */
function survey(basis: installer.InstallBasis): installer.HostSurvey {
  const { env, home, version } = basis;
  const { root: project } = installer.findProject(basis);
  const own = env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent');
  const shared = join(project, '.pi', 'settings.json');
  const sources = readSources([join(own, 'settings.json'), shared], true).map((source) => {
    const packages = listOf(source.value['packages']).map((entry) => recordOf(entry)['source'] ?? entry);
    return { ...source, versions: packageVersions(packages, packageName) };
  });
  const pinned = sources.flatMap(({ path, versions }) =>
    path === shared ? (versions.find(isPinned) ?? []) : [],
  );
  const named = sources.findLast(({ versions }) => versions.length > 0 && pinned.length === 0);
  const loader = watchedLoader(basis, {
    ...{ host: 'pi', title: 'pi', program: 'pi-extension.js', project },
    path: join(own, 'extensions', 'untildone.js'),
    exported,
  });

  function targets(scope: installer.Scope): FileTarget[] {
    if (scope !== 'shared') return loader.targets(scope);
    const edits: Edit[] = [{ kind: 'package', path: ['packages'], name: packageName, version }];
    return [{ path: shared, edits }];
  }

  function examine(scopes: readonly installer.Scope[]): installer.Examination {
    const wrong = sources.find(({ problem }) => problem !== null);
    const isTwice = scopes.includes('shared') && scopes.length > 1;
    const twice = 'Installed twice: for you, and by --shared for everyone in this project. One of them acts.';
    const flag = scopes.includes('project') ? '' : ' --user';
    const untrusted = 'pi loads what a project names once you trust the project: /trust in pi.';
    return [
      [
        wrong &&
          broken('settings', `pi cannot read ${wrong.path}: it ${wrong.problem}.`, `mend ${wrong.path}`),
        ok('settings', 'Settings can be read.'),
      ],
      [isTwice && note('plugin', twice, `untildone init pi${flag} --uninstall`)],
      [scopes.includes('shared') && !existsSync(join(own, 'trust.json')) && note('trust', untrusted)],
      [ok('todo-tools', 'pi has no list of todos of its own: the model plans with those of untildone.')],
    ];
  }

  return {
    project,
    plugin: named?.path ?? null,
    layout: (scope) => ({
      targets: targets(scope),
      summary: scope === 'shared' ? `"${packageName}" among the packages` : 'the extension and its loader',
    }),
    installed: (scope) =>
      scope === 'shared' ? pinned.map((one) => ({ version: one })) : loader.installed(scope),
    examine,
    /** pi loads its extensions and lists what they added: our commands among it. No model is asked. */
    proofs: (scopes, program) =>
      program === null || scopes.length === 0 || scopes.includes('shared')
        ? []
        : [
            {
              name: 'plugin-call',
              call: [program, '--mode', 'rpc', '--no-session', '--offline'],
              input: () => `${JSON.stringify({ id: 'untildone', type: 'get_commands' })}\n`,
              // It runs the extensions of where it starts: a stranger's only where `init` was called.
              ...(scopes.includes('project') && { folder: project }),
              isProved: (answer) =>
                answer.includes('"get_commands"') ? answer.includes('"untildone-status"') : null,
              proved: 'pi was started, and has loaded the extension.',
              failed: 'pi was started, and has not loaded the extension.',
            },
          ],
  };
}

/** pi neither starts where an extension fails nor without one that hangs: then it runs without us, and says so. */
const exported = (moved: string) => `export default async function (pi) {
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
