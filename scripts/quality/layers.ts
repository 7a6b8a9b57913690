// Who may import whom: the one table behind biome.layers.json and
// test/architecture.test.ts. An import may only point to the left. Every layer is listed
// here and exists: a test compares the table with the folders of src.

const heart = ['core', 'engine'] as const;
const services = [...heart, 'store', 'checks', 'tools', 'plan-file'] as const;
const wired = [...services, 'open', 'session'] as const;

/**
 * Folder under src/ → the folders it may import besides itself. `open` is one file,
 * src/open.ts.
 */
export const layers: Readonly<Record<string, readonly string[]>> = {
  core: [],
  engine: ['core'],
  store: heart,
  checks: heart,
  tools: heart,
  'plan-file': heart,
  // The one place that wires store, policy, checks and runtime.
  open: services,
  // A session with a goal, without its agent: `openSession`, and what our own runs stand
  // on.
  session: [...services, 'open'],
  hosts: wired,
  // For programs of others that tell when they are idle, on what our own hosts of that
  // kind share.
  enforcer: [...wired, 'hosts'],
  // Holds text back in any stream of a model's parts: for our own agent and for streams
  // of others.
  guard: wired,
  frameworks: [...wired, 'guard'],
  agent: [...wired, 'guard'],
  mcp: wired,
  // What hosts start, and what our own processes start and leave behind.
  programs: [...wired, 'hosts', 'mcp'],
  // The demo runs our own agent on the scripted model, so the command line may use it.
  cli: [
    ...wired,
    'guard',
    'hosts',
    'enforcer',
    'frameworks',
    'agent',
    'mcp',
    'scripted-model',
  ],
  'scripted-model': [],
  simulated: heart,
};

/**
 * What a layer may import that is not a file of ours. Layers that are not named are free.
 */
export const outsideImports: Readonly<Record<string, 'nothing' | 'node'>> = {
  core: 'nothing',
  engine: 'node',
};

/** The package entries (src/*.ts) show neither the command line nor the test tools. */
export const hiddenFromEntries = ['cli', 'scripted-model', 'simulated'] as const;

/** The only folder that may open a database. */
export const databaseFolder = 'src/store/sqlite';
export const databaseModules = ['node:sqlite', 'bun:sqlite'] as const;

/** core performs nothing: what it would need for that is out of its reach. */
export const globalsDeniedToCore = [
  'process',
  'Buffer',
  'fetch',
  'crypto',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'require',
] as const;

export function forbiddenLayers(layer: string): readonly string[] {
  const allowed = layers[layer] ?? [];
  return Object.keys(layers).filter(
    (other) => other !== layer && !allowed.includes(other),
  );
}

/** The layer that a path under src/ belongs to; null: a package entry. */
export function layerOf(file: string): string | null {
  const [, folder, ...rest] = file.split('/');
  if (folder === 'open.ts') return 'open';
  return folder && rest.length > 0 ? folder : null;
}
