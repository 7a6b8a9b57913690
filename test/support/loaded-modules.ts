// What Node really loads when a program runs: every module, and who asked for it by which
// name. A hook of Node's loader sees static and late imports alike; Node's own modules
// that are fetched with getBuiltinModule() pass it by.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `asked`: as it stands in the import; `by`: the address of the importer. */
export type LoadedModule = Readonly<{ asked: string; by: string; url: string }>;

const hook = `
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const loaded = new Map();
registerHooks({
  resolve(asked, context, next) {
    const found = next(asked, context);
    loaded.set(context.parentURL + ' ' + asked, { asked, by: context.parentURL ?? '', url: found.url });
    return found;
  },
});
process.on('exit', () => writeFileSync(process.env.LOADED_MODULES, JSON.stringify([...loaded.values()])));
`;

/** @param program the text of a module */
export function loadedModules(
  program: string,
  place: Readonly<{ cwd: string; env: NodeJS.ProcessEnv }>,
): readonly LoadedModule[] {
  const folder = mkdtempSync(join(tmpdir(), 'loaded-'));
  const env = { ...place.env, LOADED_MODULES: join(folder, 'modules.json') };
  const preload = `data:text/javascript,${encodeURIComponent(hook)}`;
  const words = [
    '--no-warnings',
    '--import',
    preload,
    '--input-type=module',
    '--eval',
    program,
  ];
  const started = { cwd: place.cwd, env, encoding: 'utf8', timeout: 60_000 } as const;
  try {
    const { status, stderr } = spawnSync(process.execPath, words, started);
    if (status !== 0) throw new Error(`It ended with ${status}: ${stderr}`);
    return JSON.parse(readFileSync(env.LOADED_MODULES, 'utf8')) as LoadedModule[];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Files below this folder, each once, relative to it; packages there do not count. */
export function filesBelow(
  folder: string,
  loaded: readonly LoadedModule[],
): readonly string[] {
  const prefix = `file://${folder}/`;
  const paths = loaded.flatMap(({ url }) =>
    url.startsWith(prefix) ? [url.slice(prefix.length)] : [],
  );
  return [...new Set(paths)].filter((path) => !path.includes('node_modules/'));
}

/** Packages that files below this folder import by name, or all that were loaded. */
export function packagesOf(
  loaded: readonly LoadedModule[],
  folder: string | null = null,
): readonly string[] {
  const isOurs = ({ by }: LoadedModule) =>
    folder === null || by.startsWith(`file://${folder}/`);
  const names = loaded.filter(isOurs).flatMap(({ url }) => {
    const inside = url.split('/node_modules/').at(-1) ?? '';
    return url.includes('/node_modules/')
      ? (inside.match(/^(?:@[^/]+\/)?[^/]+/) ?? [])
      : [];
  });
  return [...new Set(names)].sort();
}
