// OpenCode under the conformance suite: its own plugin object, told what the real host
// was recorded to tell. Work that the plugin does by itself takes real time (it looks at
// the workspace), so the clock moves until it has come to rest.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultSettings } from '../../src/core/settings.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256 } from '../../src/engine/system.ts';
import { createOpenCodePlugin } from '../../src/hosts/opencode/index.ts';
import { createSimulatedClock } from '../../src/simulated/simulated-clock.ts';
import { acceptProject } from '../support/accept-project.ts';
import { hostNamed } from '../support/host-named.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import type { DrivenHost, DrivenSession, HostUnderTest } from './driven-host.ts';
import { startFakeOpencode } from './fake-opencode.ts';

export const opencodeHost: HostUnderTest = {
  capabilities: hostNamed('opencode'),
  hasWorkspace: true,
  start,
};

/** Longer than the countdown and the interval between continuations. */
const restMs = 5000;

async function start(
  settings: Parameters<HostUnderTest['start']>[0],
): Promise<DrivenHost> {
  const directory = mkdtempSync(join(tmpdir(), 'untildone-opencode-'));
  writeFileSync(join(directory, 'untildone.json'), JSON.stringify(settings));
  acceptProject(directory, directory);
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const identifiers = createIdentifiers(clock);
  const plugin = createOpenCodePlugin({
    clock,
    identifiers,
    openStore: async () => store,
    argv: ['bun', 'index.js', 'serve'],
    environment: {
      HOME: directory,
      PATH: process.env['PATH'],
      UNTILDONE_HOME: directory,
    },
  });
  const host = await startFakeOpencode(plugin, directory, () => clock.now());
  let sessions = 0;

  /**
   * Until the plugin has taken in what it was told, however long its look at the
   * workspace takes.
   */
  async function settle(sessionId: string): Promise<void> {
    let isDone = false;
    const flushed = host.flush(sessionId).then(() => {
      isDone = true;
    });
    while (!isDone) {
      await clock.advance(1);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await flushed;
  }

  async function open(parentId: string | null, agent: string): Promise<DrivenSession> {
    sessions += 1;
    const id = `ses_${sessions}`;
    await host.open(id, parentId, agent);
    let seen = 0;
    let stops = 0;

    async function rest(): Promise<string[]> {
      await settle(id);
      await clock.advance(restMs);
      await settle(id);
      const received = host.injected(id).slice(seen);
      seen += received.length;
      return received;
    }
    async function stop(): Promise<void> {
      stops += 1;
      await host.answers(id, `I am done, for the ${stops}. time.`);
      await host.idles(id);
    }
    /** As `untildone pause` does, in a process of its own. */
    async function act(type: 'human-paused' | 'human-resumed'): Promise<void> {
      await settle(id);
      const policy = () => ({ settings: defaultSettings, goalChecks: [] });
      const runtime = createRuntime({ store, clock, identifiers, hash: sha256, policy });
      const base = { id: identifiers.next(), sessionId: id, at: clock.now() };
      await runtime.handle(
        type === 'human-paused' ? { ...base, type, reason: null } : { ...base, type },
      );
    }
    const writes = async (
      todos: readonly Readonly<Record<string, unknown>>[],
    ): Promise<void> => {
      await host.writesTodos(id, todos);
      await settle(id);
    };
    return {
      async says(text) {
        await host.says(id, text);
        await settle(id);
      },
      plans: (...titles) =>
        writes([
          ...host.todos(id),
          ...titles.map((content) => ({
            content,
            status: 'pending',
            priority: 'medium',
          })),
        ]),
      completes: (title) =>
        writes(
          host
            .todos(id)
            .map((todo) =>
              todo['content'] === title ? { ...todo, status: 'completed' } : todo,
            ),
        ),
      async works() {
        await host.calls(id, 'write');
        await settle(id);
      },
      async stops() {
        await stop();
        return rest();
      },
      async stopsTwice() {
        await stop();
        // As the host does: one idle, told as an idle and as a status, and each change of
        // a message twice.
        await host.tells('session.status', { sessionID: id, status: { type: 'idle' } });
        return rest();
      },
      async stopsAndIsSpokenTo(text) {
        await stop();
        await settle(id);
        await clock.advance(1000);
        await host.says(id, text);
        return rest();
      },
      async aborts() {
        await host.aborts(id);
        return rest();
      },
      // Under another id, as after a restart: what it carries is all that tells whose it
      // is.
      async shows(text) {
        const part = {
          type: 'text',
          text,
          synthetic: true,
          metadata: { untildone: { key: 'older' } },
        };
        const message = { id: `msg_${text.length}`, sessionID: id, role: 'user', agent };
        await host.hooks['chat.message']?.({ sessionID: id }, { message, parts: [part] });
      },
      asksHuman: () =>
        host.tells('permission.asked', {
          id: 'per_1',
          sessionID: id,
          permission: 'bash',
        }),
      async humanAnswers() {
        await host.tells('permission.replied', {
          sessionID: id,
          requestID: 'per_1',
          reply: 'once',
        });
        return rest();
      },
      async startsSubagent() {
        const child = await open(id, agent);
        await child.says('Look around.');
        const ends = async (): Promise<string[]> => {
          await child.stops();
          return rest();
        };
        return { ...child, ends };
      },
      ends: async () => [],
      pauses: () => act('human-paused'),
      async resumes() {
        await act('human-resumed');
        return rest();
      },
      outcome: async () => (await store.state(id))?.settled?.outcome ?? null,
    };
  }

  return {
    open: (agent = 'writes') => open(null, agent === 'writes' ? 'build' : 'reader'),
    async sendGarbage(values) {
      for (const value of values) {
        await host.hooks.event?.({ event: value });
        await host.hooks['chat.message']?.(
          { sessionID: 'ses_0' },
          { message: value, parts: [value] },
        );
      }
      await host.hooks.event?.({
        event: { id: 'e', type: 'message.part.updated', properties: { part: values } },
      });
    },
    async close() {
      await host.hooks.dispose?.();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
