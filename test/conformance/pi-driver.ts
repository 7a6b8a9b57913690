// pi under the conformance suite: our own extension, told what the real one was recorded
// to tell. Each session is a pi of its own over one store, as people run them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultSettings } from '../../src/core/settings.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256 } from '../../src/engine/system.ts';
import { createPiExtension } from '../../src/hosts/pi/host.ts';
import { createSimulatedClock } from '../../src/simulated/simulated-clock.ts';
import { acceptProject } from '../support/accept-project.ts';
import { hostNamed } from '../support/host-named.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { settlePi } from '../support/pi-case.ts';
import type { DrivenHost, DrivenSession, HostUnderTest } from './driven-host.ts';
import { type FakePi, startFakePi } from './fake-pi.ts';

export const piHost: HostUnderTest = {
  capabilities: hostNamed('pi'),
  hasWorkspace: true,
  start,
};

/** Longer than the countdown and the interval between continuations. */
const restMs = 5000;

async function start(
  settings: Parameters<HostUnderTest['start']>[0],
): Promise<DrivenHost> {
  const directory = mkdtempSync(join(tmpdir(), 'untildone-pi-'));
  writeFileSync(join(directory, 'untildone.json'), JSON.stringify(settings));
  acceptProject(directory, directory);
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const identifiers = createIdentifiers(clock);
  const running: FakePi[] = [];

  async function open(tools: readonly string[], parent?: string): Promise<DrivenSession> {
    const id = `session-${running.length + 1}`;
    const environment = {
      HOME: directory,
      PATH: process.env['PATH'],
      UNTILDONE_HOME: directory,
      ...(parent !== undefined && { UNTILDONE_PI: `0:${parent}` }),
    };
    const openStore = async () => store;
    const extension = createPiExtension({ clock, identifiers, openStore, environment });
    const pi = await startFakePi(extension, {
      id,
      directory,
      tools,
      now: () => clock.now(),
    });
    running.push(pi);
    let seen = 0;
    const titles = new Map<string, string>();
    const settle = () => settlePi(pi, clock);

    async function rest(): Promise<string[]> {
      await settle();
      await clock.advance(restMs);
      await settle();
      const received = pi.injected.slice(seen);
      seen += received.length;
      return received;
    }
    /** As `untildone pause` does, in a process of its own. */
    async function act(type: 'human-paused' | 'human-resumed'): Promise<void> {
      await settle();
      const policy = () => ({ settings: defaultSettings, goalChecks: [] });
      const runtime = createRuntime({ store, clock, identifiers, hash: sha256, policy });
      const base = { id: identifiers.next(), sessionId: id, at: clock.now() };
      await runtime.handle(
        type === 'human-paused' ? { ...base, type, reason: null } : { ...base, type },
      );
    }
    const answer = () => (pi.isRunning() ? pi.answers('I am done.') : Promise.resolve());
    return {
      async says(text) {
        await pi.says(text);
        await settle();
      },
      async plans(...names) {
        const created = await pi.calls('create_todo', {
          items: names.map((title) => ({ title })),
        });
        // Where we are switched off there is no such tool.
        if (!pi.tools.includes('create_todo')) return;
        for (const todo of JSON.parse(created).created) titles.set(todo.title, todo.id);
      },
      completes: async (title) =>
        void (await pi.calls('complete_todo', {
          todoId: titles.get(title) ?? '',
          outcome: 'It is there.',
        })),
      async works() {
        await pi.calls('write', { path: 'a.txt', content: '' });
        await settle();
      },
      async stops() {
        await answer();
        return rest();
      },
      async stopsTwice() {
        await answer();
        const first = await rest();
        await answer();
        return [...first, ...(await rest())];
      },
      async stopsAndIsSpokenTo(text) {
        await answer();
        await settle();
        await clock.advance(1000);
        await pi.says(text);
        return rest();
      },
      async aborts() {
        await pi.aborts();
        return rest();
      },
      shows: async (text) =>
        void (await pi.tells('input', { text, source: 'extension' })),
      asksHuman: async () =>
        void (await pi.tells('ui_prompt_start', { kind: 'confirm' })),
      async humanAnswers() {
        await pi.tells('ui_prompt_end', { kind: 'confirm' });
        return rest();
      },
      async startsSubagent() {
        const child = await open(tools, id);
        await child.says('Look around.');
        return child;
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

  const names = [
    'input',
    'context',
    'turn_end',
    'message_start',
    'tool_execution_start',
    'tool_execution_end',
  ];
  return {
    open: (agent = 'writes') =>
      open(agent === 'writes' ? ['read', 'bash', 'edit', 'write'] : ['read', 'ls']),
    async sendGarbage(values) {
      for (const value of values) {
        const fields = {
          message: value,
          messages: value,
          text: value,
          toolCallId: value,
          result: value,
        };
        // A step that goes on, whatever else is in it: one that ends would be a stop.
        const step = {
          stopReason: 'toolUse',
          content: [{ type: 'toolCall' }, value],
          usage: value,
        };
        for (const pi of running) {
          for (const name of names) await pi.tells(name, fields);
          await pi.tells('turn_end', { message: step });
        }
      }
    },
    async close() {
      for (const pi of running) await pi.leaves();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
