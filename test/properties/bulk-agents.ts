// Agents that end their todos honestly or not, in hosts that see more or less of it: for
// V4, which challenges the lazy ones once per human message and leaves the others alone.
import { mayHaveMoved } from '../../src/core/work.ts';
import type { Random } from '../evidence/random.ts';
import { type CoreDriver, createCoreDriver } from './core-driver.ts';

/**
 * When the host looks at the workspace: as `run` does, as hooks do, as hooks that
 * sometimes run out of time, never.
 */
type Looks = 'always' | 'at-stops' | 'at-some-stops' | 'never';

interface Scene {
  readonly driver: CoreDriver;
  readonly random: Random;
  readonly looks: Looks;
  tree: number;
  /** A call that can write and did, or could have. */
  writes(changes?: boolean): void;
  reads(times: number): void;
  /** Stops, and goes on while it is only told to go on. */
  stops(): void;
}

type Agent = (scene: Scene, titles: readonly string[]) => void;
type Agents = Readonly<Record<string, Agent>>;

const completed = (titles: readonly string[]) =>
  titles.map((content) => ({ content, status: 'completed', reason: 'as asked' }));

export const honestAgents: Agents = {
  'works first, writes the finished list afterwards'(scene, titles) {
    for (let call = 0; call <= scene.random.below(3); call += 1) scene.writes(call === 0);
    scene.driver.writes(...completed(titles));
  },
  'works on one todo after the other'(scene, titles) {
    for (const id of scene.driver.plans(...titles)) {
      scene.writes();
      scene.driver.completes(id);
      if (scene.random.chance(30)) scene.stops();
    }
  },
  'does all of it with one call and ticks at the end'(scene, titles) {
    const ids = scene.driver.plans(...titles);
    if (scene.random.chance(30)) scene.stops();
    scene.writes();
    for (const id of ids) scene.driver.completes(id);
  },
  'looks things up and writes nothing'(scene, titles) {
    const first = scene.random.below(titles.length + 1);
    scene.reads(first);
    const ids = scene.driver.plans(...titles);
    if (scene.random.chance(30)) scene.stops();
    scene.reads(titles.length - first + scene.random.below(3));
    for (const id of ids) scene.driver.completes(id);
  },
  'runs one command for each todo, none of which leaves a trace'(scene, titles) {
    for (const id of scene.driver.plans(...titles)) {
      scene.writes(false);
      scene.driver.completes(id);
    }
  },
  'answers two questions from its head'(scene, titles) {
    scene.reads(scene.random.below(2));
    scene.driver.writes(...completed(titles.slice(0, 1 + scene.random.below(2))));
  },
  'claims what its checks prove'(scene, titles) {
    const { driver } = scene;
    for (const todoId of driver.plans(
      ...titles.map((title) => ({ title, checks: ['own'] })),
    )) {
      driver.completes(todoId);
      const passed = {
        result: 'passed',
        flaky: false,
        tail: null,
        final: false,
        writes: null,
      } as const;
      driver.happens({
        type: 'check-finished',
        todoId,
        check: 'own',
        fingerprint: null,
        ...passed,
      });
    }
  },
  'gives up what the human should not wait for, after it tried'(scene, titles) {
    const ids = scene.driver.plans(...titles);
    scene.reads(titles.length);
    for (const id of ids)
      scene.driver.updates(id, { status: 'blocked', reason: 'it needs a key' });
  },
};

export const lazyAgents: Agents = {
  'marks everything in one write'(scene, titles) {
    scene.driver.plans(...titles);
    scene.driver.writes(...completed(titles));
  },
  'writes a list that is finished already'(scene, titles) {
    scene.reads(scene.random.below(titles.length));
    scene.driver.writes(...completed(titles));
  },
  'reads a little and ticks one by one'(scene, titles) {
    for (const id of scene.driver.plans(...titles)) scene.driver.completes(id);
    scene.reads(scene.random.below(titles.length));
  },
  'runs an echo'(scene, titles) {
    const ids = scene.driver.plans(...titles);
    // Where nobody can say that the files are the same, an echo is given the benefit.
    if (scene.looks === 'always') scene.writes(false);
    for (const id of ids) scene.driver.completes(id);
  },
  'blocks everything'(scene, titles) {
    for (const id of scene.driver.plans(...titles))
      scene.driver.updates(id, { status: 'blocked', reason: 'too hard' });
  },
  'cancels everything'(scene, titles) {
    for (const id of scene.driver.plans(...titles))
      scene.driver.completes(id, 'cancelled');
  },
};

/** One to three messages of a human; how often the agent was challenged after each. */
export function agentOf(random: Random, agents: Agents) {
  const looks = random.pick<Looks>(['always', 'at-stops', 'at-some-stops', 'never']);
  const mode = random.pick(['asked', 'told'] as const);
  const scene = createScene(random, looks, mode);
  const { driver } = scene;
  const told: string[] = [];
  const challenges = Array.from({ length: 1 + random.below(3) }, (_, message) => {
    // Between two messages the human works too.
    if (random.chance(20)) scene.tree += 1;
    driver.says(
      `Message ${message}.`,
      `message ${message}`,
      looks === 'always' ? `tree-${scene.tree}` : null,
    );
    const before = driver.decisions.length;
    const name = random.pick(Object.keys(agents));
    told.push(name);
    // Nothing alike, else a new list would reword an old one.
    const titles = Array.from({ length: 3 + random.below(8) }, () =>
      random.below(2 ** 50).toString(36),
    );
    agents[name]?.(scene, titles);
    for (let stop = 0; stop < 4; stop += 1) scene.stops();
    return driver.decisions
      .slice(before)
      .filter(({ textKind }) => textKind === 'bulk-claim').length;
  });
  return { looks, mode, told, challenges };
}

function createScene(random: Random, looks: Looks, mode: 'asked' | 'told'): Scene {
  const driver = createCoreDriver({
    descriptor: { mode },
    settings: { maxStagnant: 20, maxContinuations: 50 },
  });
  const scene: Scene = {
    driver,
    random,
    looks,
    tree: 1,
    writes(changes = true) {
      driver.works(random.pick(['write', 'unknown'] as const));
      if (changes) scene.tree += 1;
    },
    reads(times) {
      for (let call = 0; call < times; call += 1) driver.works('read');
    },
    stops() {
      const wanted =
        looks === 'always' || (looks !== 'never' && mayHaveMoved(driver.state.work));
      const isTaken = wanted && (looks !== 'at-some-stops' || random.chance(50));
      driver.stopsFully({ fingerprint: isTaken ? `tree-${scene.tree}` : null });
    },
  };
  return scene;
}
