// Adds to package-lock.json the platform packages that the registry at hand does not
// offer: of the repository, or of the folder that is named (`npm run chores -- lock
// test/hosts/qwen-code`). npm leaves them out of the lock when a mirror lacks them, and
// then `npm ci` refuses that lock everywhere. It adds nothing else: each row is an exact
// version that an installed package already asks for as optional.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface LockedPackage {
  version?: string;
  cpu?: string[];
  dev?: boolean;
  libc?: string[];
  optional?: boolean;
  os?: string[];
  optionalDependencies?: Record<string, string>;
}

const operatingSystems = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'openharmony',
  'win32',
];
const processors = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32'];
const libraries: Record<string, string> = {
  gnu: 'glibc',
  gnueabihf: 'glibc',
  musl: 'musl',
  musleabihf: 'musl',
};

/**
 * `@rolldown/binding-linux-arm64-musl` → for which machines it is; null when the name
 * does not say.
 */
export function platformOf(
  name: string,
): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> | null {
  const words = name.split(/[/-]/);
  const os = operatingSystems.filter((word) => words.includes(word));
  const cpu = processors.filter((word) => words.includes(word));
  const libc = words.flatMap((word) => libraries[word] ?? []);
  if (cpu.length !== 1 || os.length > 1 || (os.length === 0 && cpu[0] !== 'wasm32'))
    return null;
  return { cpu, ...(libc.length > 0 ? { libc } : {}), ...(os.length > 0 ? { os } : {}) };
}

/**
 * The rows that are missing, by their place in the lock. Throws where a name does not
 * tell its platform.
 */
export function missingRows(
  packages: Record<string, LockedPackage>,
): Record<string, LockedPackage> {
  const rows: Record<string, LockedPackage> = {};
  for (const [place, { optionalDependencies = {} }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const row = `node_modules/${name}`;
      if (packages[row] || packages[`${place}/${row}`]) continue;
      const platform = platformOf(name);
      if (!platform || !/^\d+\.\d+\.\d+[\w.+-]*$/.test(version)) {
        throw new Error(
          `${name}@${version} is not in the lock, and its name does not say for which platform it is.`,
        );
      }
      rows[row] = { version, dev: true, optional: true, ...platform };
    }
  }
  return rows;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = join(
    process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url)),
    'package-lock.json',
  );
  const lock = JSON.parse(readFileSync(file, 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const rows = missingRows(lock.packages);
  const byPlace = Object.entries({ ...lock.packages, ...rows }).sort(([a], [b]) =>
    a.localeCompare(b, 'en'),
  );
  lock.packages = Object.fromEntries(byPlace);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${Object.keys(rows).length} platform packages were added to ${file}.`);
}
