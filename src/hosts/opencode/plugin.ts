// The plugin: the host's hooks on one side, the driver on the other. Whatever goes wrong in here, the host and its
// agent go on as if we were not there; it is said once and stands in the log (design: we fail open).

import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers, systemClock } from '../../engine/system.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { storePath } from '../../store/state-directory.ts';
import { claimFolder } from './claim-folder.ts';
import { createDriver } from './driver.ts';
import { createHostCalls } from './host-calls.ts';
import { openPlugin } from './open-plugin.ts';
import type { PluginContext } from './plugin-context.ts';
import { createHooks } from './plugin-hooks.ts';
import { isOffAtStart, offersTools } from './plugin-policy.ts';
import type { HooksLike, PluginInputLike, PluginLike } from './plugin-types.ts';
import { leavesOnIdle } from './run-mode.ts';
import { createSessionMemories } from './session-memory.ts';
import { createSpeaker } from './speak.ts';
import { createStoppedSessions } from './stopped-sessions.ts';

export interface OpenCodePluginOptions {
  /** Default: that of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The host's command line, by which `opencode run` is known; default: that of this process. */
  readonly argv?: readonly string[];
  readonly clock?: Clock;
  readonly identifiers?: Identifiers;
  /** Default: the store of this user. */
  readonly openStore?: () => Promise<Store>;
}

export function createOpenCodePlugin(options: OpenCodePluginOptions = {}): PluginLike {
  return async (input) => {
    const environment = options.environment ?? process.env;
    // Off means off: the host is left exactly as it is without us (C2).
    return isOffAtStart(input.directory, environment) ? {} : start(input, { ...options, environment });
  };
}

const loadedTwice =
  'the host loads the plugin twice for this folder; the second copy does nothing. `untildone doctor` says where they are.';

type StartOptions = OpenCodePluginOptions & Required<Pick<OpenCodePluginOptions, 'environment'>>;

function start({ client, directory }: PluginInputLike, options: StartOptions): HooksLike {
  const { environment, clock = systemClock } = options;
  const identifiers = options.identifiers ?? createIdentifiers(clock);
  const headless = leavesOnIdle(options.argv ?? process.argv);
  const calls = createHostCalls(client, clock);
  const memories = createSessionMemories();
  const stopped = createStoppedSessions(clock);
  const write = (line: string): void => void process.stderr.write(line);
  const speaker = createSpeaker({ calls, clock, headless, environment, write });
  const release = claimFolder(directory);
  if (release === null) {
    setTimeout(() => speaker.warnOnce(loadedTwice), 0);
    return {};
  }
  const openStore = options.openStore ?? (() => openSqliteStore({ path: storePath(environment), clock }));

  async function open(): Promise<PluginContext | null> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    try {
      const store = await openStore();
      const parts = { calls, memories, stopped, directory, environment, headless, speaker };
      return await openPlugin({ store, clock, identifiers, ...parts });
    } catch (error) {
      // Safe: nothing was begun, and without a store nothing will be.
      speaker.onError(error);
      return null;
    }
  }

  const ready = open();
  const driver = createDriver({ ready, memories, stopped, clock, calls, headless, onError: speaker.onError });
  const tools = offersTools(directory, environment);
  return createHooks({ ready, driver, memories, stopped, headless, speaker, tools, release });
}
