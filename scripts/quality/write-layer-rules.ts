// Writes biome.layers.json from the table in layers.ts: `npm run chores -- layers` after
// a change of the table. The file is committed, so that Biome (and an editor) needs no
// step before it; a test says when it is old.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  databaseFolder,
  databaseModules,
  forbiddenLayers,
  globalsDeniedToCore,
  hiddenFromEntries,
  layers,
  outsideImports,
} from './layers.ts';

interface Pattern {
  readonly group: readonly string[];
  readonly message: string;
}

const outsideGroups = {
  nothing: ['**', '!./**', '!../**'],
  node: ['**', '!./**', '!../**', '!node:*'],
} as const;

function outsidePattern(layer: string): Pattern[] {
  const outside = outsideImports[layer];
  if (!outside) return [];
  const what = outside === 'nothing' ? 'no package and no Node module' : 'no package';
  return [{ group: outsideGroups[outside], message: `${layer} imports ${what}.` }];
}

function layerPattern(layer: string): Pattern {
  const allowed = [layer, ...(layers[layer] ?? [])].join(', ');
  return {
    group: forbiddenLayers(layer).map((other) =>
      other === 'open' ? '../**/open.ts' : `../**/${other}/**`,
    ),
    message: `src/${layer} may import only ${allowed}.`,
  };
}

function databasePaths(): Record<string, string> {
  return Object.fromEntries(
    databaseModules.map((name) => [name, `Only ${databaseFolder} opens a database.`]),
  );
}

function restrictImports(
  includes: string,
  patterns: readonly Pattern[],
  mayOpenDatabase: boolean,
) {
  const options = mayOpenDatabase ? { patterns } : { paths: databasePaths(), patterns };
  return {
    includes: [includes],
    linter: { rules: { style: { noRestrictedImports: { level: 'error', options } } } },
  };
}

/**
 * Biome takes the last override that matches a file, so the database's folder stands
 * after its layer.
 */
export function layerRules(): string {
  const overrides: object[] = [
    restrictImports(
      'src/*.ts',
      [
        {
          group: hiddenFromEntries.map((layer) => `./${layer}/**`),
          message: 'A package entry shows neither the command line nor the test tools.',
        },
      ],
      false,
    ),
  ];
  const aboveOpen = forbiddenLayers('open').map((layer) => `./${layer}/**`);
  overrides.push(
    restrictImports(
      'src/open.ts',
      [
        {
          group: aboveOpen,
          message: 'src/open.ts wires services and knows nobody who uses them.',
        },
      ],
      false,
    ),
  );
  for (const layer of Object.keys(layers).filter((name) => name !== 'open')) {
    overrides.push(
      restrictImports(
        `src/${layer}/**`,
        [...outsidePattern(layer), layerPattern(layer)],
        false,
      ),
    );
  }
  overrides.push(restrictImports(`${databaseFolder}/**`, [layerPattern('store')], true));
  const denied = 'core takes time, ids and randomness as values and performs nothing.';
  const deniedGlobals = Object.fromEntries(
    globalsDeniedToCore.map((name) => [name, denied]),
  );
  overrides.push({
    includes: ['src/core/**'],
    linter: {
      rules: {
        style: { noRestrictedGlobals: { level: 'error', options: { deniedGlobals } } },
      },
    },
  });
  const lines = overrides
    .map((override) => `    ${JSON.stringify(override)}`)
    .join(',\n');
  return `{\n  "overrides": [\n${lines}\n  ]\n}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('../../biome.layers.json', import.meta.url), layerRules());
}
