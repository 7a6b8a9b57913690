// The extension in a pi without a process, for the tests beside it: the recorded order of
// events, a store in memory and a clock that moves when it is told to.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../src/engine/store.ts';
import { createIdentifiers } from '../../src/engine/system.ts';
import { createPiExtension } from '../../src/hosts/pi/host.ts';
import {
  createSimulatedClock,
  type SimulatedClock,
} from '../../src/simulated/simulated-clock.ts';
import { type FakePi, startFakePi } from '../conformance/fake-pi.ts';
import { acceptProject } from './accept-project.ts';
import { createMemoryStore } from './memory-store.ts';

export const sessionId = 'session-1';

/**
 * Until the extension has taken in what it was told: a command of the human's waits
 * behind all of it.
 */
export async function settlePi(pi: FakePi, clock: SimulatedClock): Promise<void> {
  let isDone = false;
  const flushed = Promise.all([pi.sent(), pi.types('untildone-why')]).then(() => {
    isDone = true;
  });
  while (!isDone) {
    await clock.advance(1);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await flushed;
}

export async function createPiCase(
  options: Readonly<{
    headless?: boolean;
    settings?: object;
    openStore?: () => Promise<Store>;
  }> = {},
) {
  const { headless = false, settings } = options;
  const directory = mkdtempSync(join(tmpdir(), 'untildone-pi-'));
  if (settings !== undefined) {
    writeFileSync(join(directory, 'untildone.json'), JSON.stringify(settings));
    acceptProject(directory, directory);
  }
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const environment = {
    HOME: directory,
    PATH: process.env['PATH'],
    UNTILDONE_HOME: directory,
  };
  const { openStore = async () => store } = options;
  const extension = createPiExtension({
    clock,
    identifiers: createIdentifiers(clock),
    openStore,
    environment,
  });
  const pi = await startFakePi(extension, {
    id: sessionId,
    directory,
    headless,
    now: () => clock.now(),
  });
  const settle = () => settlePi(pi, clock);
  return {
    pi,
    clock,
    store,
    directory,
    environment,
    extension,
    settle,
    async rest() {
      await settle();
      await clock.advance(5000);
      await settle();
    },
    async session() {
      const session = await store.state(sessionId);
      if (session === null) throw new Error('The record knows nothing of the session.');
      return session;
    },
    decisions: () => store.decisions(sessionId, 50),
    async plans(...titles: string[]) {
      await pi.says('Do it.');
      await pi.calls('create_todo', { items: titles.map((title) => ({ title })) });
    },
    async close() {
      await pi.leaves();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
