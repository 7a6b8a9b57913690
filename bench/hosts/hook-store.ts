// The store that the hook is measured on: a thousand other sessions, and one of Claude
// Code with a plan of two hundred.

import type { Event, SessionDescriptor } from '../../src/core/events.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import { claudeCode } from '../../src/hosts/claude-code/host.ts';
import { scriptedDescriptor } from '../../src/simulated/scripted-host.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';

export interface HookStoreOptions {
  readonly path: string;
  readonly sessions: number;
}

const agent = { name: 'build', canWrite: 'yes' as const, model: null, variant: null };

export async function fillStore({ path, sessions }: HookStoreOptions): Promise<void> {
  const { store, runtime } = await open(path);
  const descriptor: SessionDescriptor = scriptedDescriptor('asked', 'bench');
  for (let number = 0; number < sessions; number++) {
    const sessionId = `other-${number}`;
    const base = (id: string) => ({
      id: `${sessionId} ${id}`,
      sessionId,
      at: Date.now(),
    });
    const items = Array.from({ length: 5 }, (_, index) => ({
      id: `${sessionId}/${index}`,
      title: `todo number ${index}`,
    }));
    const events: Event[] = [
      { ...base('open'), type: 'session-opened', descriptor, agent },
      { ...base('plan'), type: 'todos-created', actor: 'agent', items },
      {
        ...base('stop'),
        type: 'stop-attempted',
        end: 'normal',
        question: false,
        fingerprint: null,
        background: null,
        toolError: null,
      },
    ];
    for (const event of events) await runtime.handle(event);
  }
  await store.close();
}

/** What hooks would have recorded: a session, a human's message and a plan. */
export async function addClaudeSession(
  path: string,
  payloads: readonly object[],
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const { store, runtime } = await open(path);
  for (const payload of payloads) {
    const read = claudeCode.translate(payload, {
      at: Date.now(),
      environment,
      toolPrefix: null,
    });
    if (!read.ok) throw new Error(read.sentence ?? '');
    const { asks, descriptor, sessionId, agent: claudeAgent } = read.call;
    const base = { id: `bench ${sessionId}`, sessionId, at: Date.now() };
    if (asks.type === 'open')
      await runtime.handle({
        ...base,
        type: 'session-opened',
        descriptor,
        agent: claudeAgent,
      });
    else if (asks.type === 'record')
      for (const event of asks.events) await runtime.handle(event);
    else throw new Error(`The bench has no use for ${read.call.hook}.`);
  }
  await store.close();
}

async function open(path: string) {
  const store = await openSqliteStore({ path, clock: systemClock });
  const runtime = createRuntime({
    store,
    clock: systemClock,
    identifiers: createIdentifiers(),
    hash: sha256,
    policy: () => ({ settings: defaultSettings, goalChecks: [] }),
  });
  return { store, runtime };
}
