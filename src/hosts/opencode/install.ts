// Installs our plugin in OpenCode: by a file that loads it in the folders that want it,
// or by our package in the project's settings. Examines whether OpenCode loads it, and
// only once.
import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Edit } from '../install/changes.ts';
import type { Examination, InstallBasis, Project, Source } from '../install/installer.ts';
import { brokenRow, noteRow, okRow, readSources } from '../install/installer.ts';
import { packageVersions } from '../install/json-text.ts';
import { pluginInstaller } from '../install/plugin-host.ts';
import { type Fields, listOf, recordOf } from '../untrusted.ts';
import { isTodoToolOn } from './translate.ts';

const schema = 'https://opencode.ai/config.json';
const packages = { name: 'untildone', key: 'plugin', word: 'plugins' };

export const opencodeInstaller = pluginInstaller({
  name: 'opencode',
  title: 'OpenCode',
  program: 'opencode',
  plugin: 'server.js',
  word: 'plugin',
  packages,
  exported,
  look,
  // Earlier versions do not look for "./server" of a package.
  oldestVersion: '1.3.4',
  knownVersions: ['1.18.33'],
  howToGet: 'npm install --global opencode-ai@latest',
  afterInstall: 'OpenCode loads plugins when it starts: restart it if it is running.',
  proof: { words: ['debug', 'config'], input: '', sign: '"plugin"' },
});

const theirHook = 'todo-continuation-enforcer';
/**
 * Plugins that continue agents too. The value is the hook to switch off in their own
 * settings; null: there is none.
 */
const continuingPlugins = {
  'oh-my-opencode': theirHook,
  'oh-my-openagent': theirHook,
  'oh-my-opencode-slim': theirHook,
  'opencode-auto-resume': null,
};

/**
 * Looks where the real program does: in the user's folder, then in each folder from its
 * own up to the root of the working tree.
 */
function look({ env, home }: InstallBasis, { folder, root: project }: Project) {
  const own = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode');
  const steps = relative(project, folder).split('/').filter(Boolean);
  const upwards = ['', ...steps].map((_step, index) =>
    join(project, ...steps.slice(0, index)),
  );
  const hidden = upwards.map((one) => join(one, '.opencode'));
  const nearer = [
    ...hidden,
    join(home, '.opencode'),
    env['OPENCODE_CONFIG_DIR'] || '',
  ].filter(Boolean);
  const variants = (folders: readonly string[], name = 'opencode') =>
    folders.flatMap((one) => [join(one, `${name}.json`), join(one, `${name}.jsonc`)]);
  // Weakest first: later files win, as in the host.
  const paths = [
    join(own, 'config.json'),
    ...variants([own]),
    env['OPENCODE_CONFIG'] || '',
  ].filter(Boolean);
  const sources = readSources([...paths, ...variants([...upwards, ...nearer])]).map(
    readPlugins,
  );
  const committed = variants([project, join(project, '.opencode')]);

  function edits(path: string): Edit[] {
    const written =
      sources.find((source) => source.path === path)?.value['$schema'] ?? schema;
    // Without it the host adds it, and the file counts as edited.
    return written === schema
      ? [{ kind: 'member', path: ['$schema'], value: schema }]
      : [];
  }

  function examine(): Examination {
    const pure =
      env['OPENCODE_PURE'] && 'OPENCODE_PURE is set: OpenCode loads no plugins then.';
    const gone = sources.flatMap(({ path, ourFiles }) => {
      const mend = `take it out of "plugin" in ${path}, then untildone init opencode`;
      const files = ourFiles.filter((file) => !existsSync(file));
      const sentence = `${path} names a plugin that is gone: `;
      return files.map((file) => [brokenRow('plugin-file', sentence + file, mend)]);
    });
    const others = Object.entries(continuingPlugins).map(([name, hook]) => {
      const path = sources.findLast(
        ({ plugins }) => packageVersions(plugins, name).length > 0,
      )?.path;
      const theirs = readSources(variants([own, ...nearer], name));
      const isOff = theirs.some(
        ({ value }) => hook && listOf(value['disabled_hooks']).includes(hook),
      );
      const sentence = `${name} (in ${path}) continues agents as well: both would send their texts.`;
      const mend = hook
        ? `put "${hook}" into "disabled_hooks" of ${name}.json beside ${path}`
        : `take "${name}" out of "plugin" in ${path}`;
      return path !== undefined && !isOff && brokenRow('other-plugins', sentence, mend);
    });
    const buildOf = (value: Fields) => recordOf(recordOf(value['agent'])['build']);
    const agents = sources.map(({ path, value }) => ({ path, value: buildOf(value) }));
    const setting = [...sources, ...agents].findLast(
      ({ value }) => isTodoToolOn(value) !== null,
    );
    const isOff = setting && !isTodoToolOn(setting.value);
    const off = `todowrite is switched off in ${setting?.path}: the model plans with the todo tools of untildone instead.`;
    return [
      [
        pure && brokenRow('settings', pure, 'unset OPENCODE_PURE'),
        okRow('settings', 'Settings can be read, and plugins are loaded.'),
      ],
      ...gone,
      [
        ...others,
        okRow('other-plugins', 'No other plugin that is known to continue agents.'),
      ],
      [
        isOff && noteRow('todo-tools', off),
        okRow('todo-tools', 'The model has a todo tool.'),
      ],
    ];
  }

  // The loader is in the user's folder: in a project's `.opencode`, the host would
  // install 63 MB beside it.
  return {
    loader: join(own, 'plugin', 'untildone.js'),
    sources,
    committed,
    edits,
    examine,
  };
}

/** `ourFiles`: copies of our plugin that a person named by path. */
function readPlugins({ path, problem, value }: Source) {
  const entries = [...listOf(value['plugin']), ...listOf(value['plugins'])];
  const names = entries.map(
    (entry) => listOf(entry)[0] ?? recordOf(entry)['package'] ?? entry,
  );
  const plugins = names.filter((name) => typeof name === 'string');
  const isPath = (name: string) => isAbsolute(name) || /^(\.|file:\/\/)/.test(name);
  const ours = plugins.filter(
    (name) => isPath(name) && /untildone.*[\\/]server\.js$/.test(name),
  );
  const fileOf = (name: string) =>
    /^file:/.test(name) ? fileURLToPath(name) : resolve(path, '..', name);
  const versions = packageVersions(plugins, packages.name);
  return { path, problem, value, plugins, versions, ourFiles: ours.map(fileOf) };
}

function exported(moved: string) {
  return `export default {
  id: 'untildone',
  async server(input, options) {
    if (!isWatched(input.directory)) return {};
${moved}    const { default: plugin } = await import(program);
    return plugin.server(input, options);
  },
};
`;
}
