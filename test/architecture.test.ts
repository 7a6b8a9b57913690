// Proves that the layers hold in the real imports, that lint would catch every wrong one,
// and that the package's entries load without side effects. It knows no rule of its own:
// the table is scripts/quality/layers.ts.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { entries } from '../scripts/build/entries.ts';
import {
  databaseFolder,
  databaseModules,
  forbiddenLayers,
  hiddenFromEntries,
  layerOf,
  layers,
  outsideImports,
} from '../scripts/quality/layers.ts';
import { layerRules } from '../scripts/quality/write-layer-rules.ts';
import { parseEnvironment } from '../src/core/config.ts';
import { ownVariables } from '../src/core/own-variables.ts';
import { hosts } from '../src/hosts/hosts.ts';
import { cleanLoad, loadEntry, otherEntries } from './support/library-entries.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = globSync('src/**/*.ts', { cwd: root })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !file.endsWith('.test.ts'))
  .sort();

/** Static, re-exported, side-effect, dynamic and type imports alike. */
const importPattern =
  /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"])([^'"\n]+)\1/g;

function importsOf(text: string): string[] {
  return [...text.matchAll(importPattern)].map((match) => match[2] ?? '');
}

/** Every reason why this file may not contain this import; empty when it may. */
function objection(file: string, specifier: string): string | null {
  const layer = layerOf(file);
  if (
    databaseModules.some((name) => name === specifier) &&
    !file.startsWith(`${databaseFolder}/`)
  ) {
    return `${file} opens a database (${specifier})`;
  }
  if (!specifier.startsWith('.')) {
    const outside = layer ? outsideImports[layer] : undefined;
    const allowed = outside === undefined || (outside === 'node' && isBuiltin(specifier));
    return allowed ? null : `${file} imports ${specifier}`;
  }
  const target = posix.join(posix.dirname(file), specifier);
  if (!target.startsWith('src/')) return `${file} reaches outside src (${specifier})`;
  const other = layerOf(target);
  if (other === null || other === layer) return null;
  const forbidden =
    layer === null
      ? hiddenFromEntries.some((name) => name === other)
      : forbiddenLayers(layer).includes(other);
  return forbidden ? `${file} imports ${specifier}` : null;
}

describe('the layers', () => {
  it('every folder under src is a layer of the table, and every layer exists', () => {
    const existing = new Set(sources.map(layerOf).filter((layer) => layer !== null));
    expect([...existing].sort()).toEqual(Object.keys(layers).sort());
  });

  it('an import only points to the left', () => {
    const objections = sources.flatMap((file) =>
      importsOf(readFileSync(join(root, file), 'utf8')).map((specifier) =>
        objection(file, specifier),
      ),
    );
    expect(objections.length).toBeGreaterThan(0);
    expect(objections.filter((reason) => reason !== null)).toEqual([]);
  });

  it('the scan itself sees every form of import and objects to the wrong ones', () => {
    const text = [
      "import { a } from '../engine/a.ts';",
      "import type { B } from '../store/b.ts';",
      "export { c } from '../cli/c.ts';",
      "import '../tools/d.ts';",
      "await import('../hosts/e.ts');",
      "type F = import('../agent/f.ts').F;",
      "import fs from 'node:fs';",
      "import { z } from 'zod';",
      "import { g } from './rules/g.ts';",
    ].join('\n');
    const objections = importsOf(text).map((specifier) =>
      objection('src/core/planted.ts', specifier),
    );
    expect(objections.map((reason) => reason !== null)).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it('what wires the services is imported from above them only, and imports nobody who uses it', () => {
    for (const file of [
      'src/core/a.ts',
      'src/engine/a.ts',
      'src/store/sqlite/a.ts',
      'src/checks/a.ts',
    ])
      expect(
        objection(file, posix.relative(dirname(file), 'src/open.ts')),
      ).not.toBeNull();
    for (const file of [
      'src/hosts/x/a.ts',
      'src/agent/a.ts',
      'src/mcp/a.ts',
      'src/cli/a.ts',
      'src/index.ts',
    ])
      expect(
        objection(file, `./${posix.relative(dirname(file), 'src/open.ts')}`),
      ).toBeNull();
    expect(objection('src/open.ts', './checks/checker.ts')).toBeNull();
    expect(objection('src/open.ts', './agent/run-agent.ts')).not.toBeNull();
  });

  it('only the SQLite store names a database module, however it loads it', () => {
    const naming = sources.filter((file) =>
      /['"`](node|bun):sqlite['"`]/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(naming.filter((file) => !file.startsWith(`${databaseFolder}/`))).toEqual([]);
  });

  it('core asks neither a clock nor chance: time and ids come inside the event', () => {
    const impure = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bglobalThis\b/;
    const core = sources.filter((file) => file.startsWith('src/core/'));
    expect(
      core.filter((file) => impure.test(readFileSync(join(root, file), 'utf8'))),
    ).toEqual([]);
  });
});

describe('a host', () => {
  const folderOf = (file: string) =>
    /^src\/hosts\/([\w-]+)\/[\w.-]+$/.exec(file)?.[1] ?? null;
  const names = hosts.map(({ name }) => name);
  const outside = (name: string) =>
    sources.filter((file) => folderOf(file) !== name && file !== 'src/hosts/hosts.ts');
  const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

  it('is a folder and a row: every folder of one has its row, and the row has every part that stands there', () => {
    const folders = new Set(
      sources.map(folderOf).filter((name) => name !== null && name !== 'install'),
    );
    expect([...folders].sort()).toEqual([...names].sort());
    for (const { name, asked, driver } of hosts) {
      const has = (part: string) => existsSync(join(root, 'src/hosts', name, part));
      expect([name, has('install.ts'), has('drive.ts')]).toEqual([
        name,
        true,
        driver !== undefined,
      ]);
      expect([name, asked !== undefined && !has('host.ts')]).toEqual([name, false]);
    }
  });

  it.each(names)(
    '%s can be taken away with its row: nothing else imports or names it',
    (name) => {
      const reaching = outside(name).filter((file) => {
        const targets = importsOf(textOf(file)).map((specifier) =>
          posix.join(posix.dirname(file), specifier),
        );
        return targets.some((target) => folderOf(target) === name);
      });
      expect(reaching).toEqual([]);
      const quoted = new RegExp(`['"\`]${name}['"\`]`);
      expect(outside(name).filter((file) => quoted.test(textOf(file)))).toEqual([]);
    },
  );
});

describe('layout of code', () => {
  const everyFile = globSync('{src,test,scripts,bench,examples}/**/*.{ts,tsx}', {
    cwd: root,
    exclude: (path) => path.includes('node_modules'),
  });
  const codeOf = (file: string) => readFileSync(join(root, file), 'utf8');

  it('no literal is spread only to keep several keys on one line', () => {
    const literalSpread = /\.{3}\{/;
    expect(everyFile.filter((file) => literalSpread.test(codeOf(file)))).toEqual([]);
  });

  it('no declaration takes a literal list apart to declare several constants', () => {
    const listTakenApart = /\b(?:const|let) \[[^\]]*\] = \[[^[\]]*\];/;
    expect(everyFile.filter((file) => listTakenApart.test(codeOf(file)))).toEqual([]);
  });
});

describe('environment variables', () => {
  const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
  const namesIn = (pattern: RegExp) =>
    new Set(sources.flatMap((file) => textOf(file).match(pattern) ?? []));

  it('every variable of ours that src names is known to the configuration', () => {
    // The build replaces these by a text.
    const declared = [...namesIn(/(?<=declare const )UNTILDONE_\w+/g)];
    const named = [...namesIn(/\bUNTILDONE_[A-Z_]+\b/g)];
    const read = named.filter((name) => !declared.includes(name));
    expect(read).toEqual(expect.arrayContaining(Object.values(ownVariables)));
    const { warnings } = parseEnvironment(
      Object.fromEntries(read.map((name) => [name, 'x'])),
    );
    expect(warnings).toEqual([]);
  });
});

describe('failure', () => {
  it('no error is swallowed without a sentence that says why going on is safe', () => {
    const emptyCatch =
      /\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}|\.catch\(\(\w*\)\s*=>\s*(?:\{\s*\}|undefined|null)\)/;
    const silent = sources.flatMap((file) => {
      const lines = readFileSync(join(root, file), 'utf8').split('\n');
      return lines.flatMap((line, index) => {
        const above = lines.slice(0, index);
        // The statement may have begun some lines above.
        const before = above.findLast((one) => /[;{}]$|^\s*(\/\/|\*)/.test(one)) ?? '';
        const explained = line.includes('//') || /^\s*(\/\/|\*)/.test(before);
        return emptyCatch.test(line) && !explained ? [`${file}:${index + 1}`] : [];
      });
    });
    expect(silent).toEqual([]);
  });
});

describe('lint', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'untildone-layers-'));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  const planted = new Map<string, boolean>();

  function plant(file: string, text: string, isWrong: boolean): void {
    mkdirSync(join(scratch, dirname(file)), { recursive: true });
    writeFileSync(join(scratch, file), `${text}\n`);
    planted.set(file, isWrong);
  }

  function lintedAsWrong(): string[] {
    const biome = join(root, 'node_modules/.bin/biome');
    const run = spawnSync(
      biome,
      ['lint', '--max-diagnostics=none', '--reporter=json', 'src'],
      {
        cwd: scratch,
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    const report = JSON.parse(run.stdout) as {
      diagnostics: { category: string; severity: string; location: { path: string } }[];
    };
    // Not `--only`: that would switch the rule back on where the configuration switches
    // it off.
    const paths = report.diagnostics
      .filter(
        ({ category, severity }) =>
          category === 'lint/style/noRestrictedImports' && severity === 'error',
      )
      .map(({ location }) => location.path);
    return [...new Set(paths)].sort();
  }

  it('the committed rules are those of the table (npm run chores -- layers writes them)', () => {
    expect(readFileSync(join(root, 'biome.layers.json'), 'utf8')).toBe(layerRules());
  });

  it('fails on every import that points to the right, and on no other', () => {
    for (const name of ['biome.jsonc', 'biome.layers.json'])
      copyFileSync(join(root, name), join(scratch, name));
    for (const layer of Object.keys(layers).filter((name) => name !== 'open')) {
      for (const other of Object.keys(layers)) {
        const isWrong = forbiddenLayers(layer).includes(other);
        const [file, deepFile] =
          other === 'open'
            ? ['open.ts', 'open.ts']
            : [`${other}/x.ts`, `${other}/deep/x.ts`];
        plant(`src/${layer}/to-${other}.ts`, `import '../${file}';`, isWrong);
        plant(
          `src/${layer}/deep/to-${other}.ts`,
          `export type { X } from '../../${deepFile}';`,
          isWrong,
        );
      }
      plant(`src/${layer}/package.ts`, "import 'zod';", layer in outsideImports);
      plant(
        `src/${layer}/node.ts`,
        "import 'node:fs';",
        outsideImports[layer] === 'nothing',
      );
      plant(`src/${layer}/database.ts`, "import 'node:sqlite';", true);
      plant(`src/${layer}/same.test.ts`, "import '../simulated/x.ts';", false);
    }
    plant('src/index.ts', "export { run } from './engine/run.ts';", false);
    plant('src/open.ts', "export { run } from './agent/run.ts';", true);
    plant('src/other-entry.ts', "export { main } from './cli/main.ts';", true);
    plant(
      'src/core/dynamic.ts',
      "export const late = () => import('../engine/x.ts');",
      true,
    );
    plant('src/store/sqlite/open.ts', "import 'node:sqlite';", false);
    plant('src/store/sqlite/wrong.ts', "import '../../cli/main.ts';", true);
    const expected = [...planted].filter(([, isWrong]) => isWrong).map(([file]) => file);
    expect(expected.length).toBeGreaterThan(100);
    expect(lintedAsWrong()).toEqual(expected.sort());
  });
});

describe('package entries', () => {
  it.each(otherEntries)(
    '$source loads clean: no output, no open handle, no throw',
    ({ source }) => {
      expect(loadEntry(source)).toEqual(cleanLoad);
    },
  );

  it('every path in "exports" and "bin" is one that the build writes', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      bin: Record<string, string>;
      exports: Record<string, string | { default: string }>;
    };
    const targets = [...Object.values(manifest.bin), ...Object.values(manifest.exports)]
      .map((target) => (typeof target === 'string' ? target : target.default))
      .filter((target) => target.endsWith('.js'));
    const written = entries.map((entry) => `./dist/${entry.output}.js`);
    expect(targets.filter((target) => !written.includes(target))).toEqual([]);
    expect(entries.filter((entry) => !existsSync(join(root, entry.source)))).toEqual([]);
  });

  it('on an old Node the command says one sentence and exits 2 without loading the program', () => {
    const source = readFileSync(join(root, 'src/cli/bin.ts'), 'utf8');
    expect(source).not.toMatch(/^import\s[^(]/m);
    const program = `Object.defineProperty(process.versions, 'node', { value: '22.12.0' });
      await import(${JSON.stringify(join(root, 'src/cli/bin.ts'))});`;
    const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
    });
    expect(run.status).toBe(2);
    expect(run.stdout).toBe('');
    expect(run.stderr.trim().split('\n')).toEqual([expect.stringContaining('22.13')]);
  });

  it('scripts/assert-node.cjs lets the pinned Node pass and refuses one without TypeScript with one sentence', () => {
    const script = join(root, 'scripts/assert-node.cjs');
    expect(execFileSync(process.execPath, [script], { encoding: 'utf8' })).toBe('');
    const program = `Object.defineProperty(process.features, 'typescript', { value: false }); require(${JSON.stringify(script)});`;
    const run = spawnSync(process.execPath, ['--eval', program], { encoding: 'utf8' });
    expect(run.status).toBe(1);
    expect(run.stderr.trim().split('\n')).toEqual([expect.stringContaining('npm ci')]);
  });
});
