// The scripted hosts under the conformance suite: no payloads to translate, so that what
// fails here is the engine's.

import {
  type Event,
  type HostMode,
  type Job,
  parseEvent,
} from '../../src/core/events.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import { sha256 } from '../../src/engine/system.ts';
import type { HostCapabilities } from '../../src/hosts/hosts.ts';
import {
  createScriptedHost,
  type ScriptedHost,
  type ScriptedHostOptions,
} from '../../src/simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../../src/simulated/simulated-clock.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import type { DrivenHost, DrivenSession, HostUnderTest } from './driven-host.ts';

export function scriptedHost(mode: HostMode): HostUnderTest {
  return {
    capabilities: capabilitiesOf(mode),
    hasWorkspace: false,
    start: async (settings) => start(mode, settings),
  };
}

function capabilitiesOf(mode: HostMode): HostCapabilities {
  return {
    name: 'scripted',
    title: `The scripted host that is ${mode}`,
    mode,
    blockCap: null,
    seesBackground: ['subagents', 'shell jobs'],
    seesAborts: 'at once',
    seesQuestions: true,
    repeatsStops: mode === 'told',
    canVetoCompletion: false,
    hasTodoTools: true,
    canHideText: true,
    silentAs: [],
    recognisesOurMessages: 'by what was sent',
    delivery: mode === 'asked' ? 'at most once' : 'exactly once',
  };
}

/** Longer than any countdown and any interval between continuations. */
const restMs = 10_000;

function start(
  mode: HostMode,
  settings: Parameters<HostUnderTest['start']>[0],
): DrivenHost {
  const clock = createSimulatedClock();
  const options = {
    mode,
    clock,
    store: createMemoryStore(),
    identifiers: createSequentialIdentifiers(),
    hash: sha256,
    policy: () => ({ settings: { ...defaultSettings, ...settings }, goalChecks: [] }),
  };
  let sessions = 0;

  async function open(overrides: Partial<ScriptedHostOptions>): Promise<DrivenSession> {
    sessions += 1;
    const sessionId = `session-${sessions}`;
    // Each acts for itself alone: timers and injections belong to whoever is attached.
    const host = createScriptedHost({
      ...options,
      ...overrides,
      sessionId,
      instance: sessionId,
    });
    await host.open();
    await host.runtime.attach();
    return drive(host, () =>
      open({ descriptor: { kind: 'subagent', parentId: sessionId } }),
    );
  }

  function drive(
    host: ScriptedHost,
    openChild: () => Promise<DrivenSession>,
  ): DrivenSession {
    const { happens } = host;
    const ids = new Map<string, string>();
    const jobs = new Map<string, Job>();
    let seen = 0;

    /** What a call answered, or what was sent once all timers had their time. */
    async function rest(answer: string | null = null): Promise<string[]> {
      await clock.advance(restMs);
      const sent = host.injected.slice(seen).map(({ text }) => text);
      seen = host.injected.length;
      return answer === null ? sent : [answer, ...sent];
    }

    const tellStop = async (): Promise<string | null> =>
      (await host.stops({ background: [...jobs.values()] })).answer?.text ?? null;
    /** The model answers what it was sent, and ends. */
    async function stop(): Promise<string | null> {
      await happens({ type: 'activity-seen' });
      return tellStop();
    }
    const stops = async () => rest(await stop());
    return {
      stops,
      says: async (text) => void (await host.says(text)),
      async plans(...titles) {
        for (const [index, id] of (await host.plans(...titles)).entries())
          ids.set(titles[index] ?? '', id);
      },
      completes: async (title) => void (await host.completes(ids.get(title) ?? '')),
      works: () => host.works(),
      async stopsTwice() {
        const answers = [await stop(), await tellStop()];
        return [...answers.filter((text) => text !== null), ...(await rest())];
      },
      async stopsAndIsSpokenTo(text) {
        const answer = await stop();
        await clock.advance(1000);
        await host.says(text);
        return rest(answer);
      },
      async aborts() {
        await happens({ type: 'human-aborted', how: 'interrupted' });
        return stops();
      },
      shows: async () => void (await happens({ type: 'activity-seen' })),
      asksHuman: async () =>
        void (await happens({
          type: 'wait-started',
          wait: { kind: 'permission', requestId: 'request-1' },
        })),
      async humanAnswers() {
        await happens({
          type: 'wait-ended',
          wait: { kind: 'permission', requestId: 'request-1', granted: true },
        });
        return rest();
      },
      async startsSubagent() {
        const job = {
          id: `job-${jobs.size}`,
          kind: 'subagent',
          description: 'Looks around',
        } as const;
        jobs.set(job.id, job);
        const ends = async (): Promise<string[]> => {
          jobs.delete(job.id);
          await happens({
            type: 'wait-ended',
            wait: { kind: 'background', jobId: job.id },
          });
          return rest();
        };
        return { ...(await openChild()), ends };
      },
      ends: async () => [],
      pauses: async () => void (await happens({ type: 'human-paused', reason: null })),
      async resumes() {
        await happens({ type: 'human-resumed' });
        return rest();
      },
      outcome: async () =>
        (await options.store.state(host.sessionId))?.settled?.outcome ?? null,
    };
  }

  return {
    open: (agent = 'writes') =>
      open({ agent: { canWrite: agent === 'writes' ? 'yes' : 'no' } }),
    async sendGarbage(values) {
      const host = createScriptedHost({ ...options, sessionId: 'garbage' });
      for (const value of values) {
        const parsed = parseEvent(value);
        if (parsed.ok) await host.runtime.handle(parsed.event satisfies Event);
      }
    },
    close: async () => {},
  };
}
