// A host with hooks under the conformance suite: recorded payloads go through its
// translation and the hook, and what the host would read from standard output comes back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultSettings } from '../../src/core/settings.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256 } from '../../src/engine/system.ts';
import type { AskedHost } from '../../src/hosts/asked-call.ts';
import { continuationOf, createHookCase } from '../support/hook-case.ts';
import { hostNamed } from '../support/host-named.ts';
import type { DrivenHost, DrivenSession, HostUnderTest } from './driven-host.ts';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * What the host sends. The driver adds the session, the folder and whatever `common`
 * says.
 */
export interface SpokenHooks {
  readonly name: string;
  readonly host: AskedHost;
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * In every payload. @param prompt a new one for each human message; null: none was said
   * @param reads the agent must not write
   */
  common(prompt: string | null, reads: boolean): Fields;
  starts(): Fields;
  prompts(text: string): Fields;
  /**
   * One call or several that make the plan what it is now; none where the host refuses
   * them. @param reads as above
   */
  writes(
    plan: readonly PlannedTodo[],
    changed: readonly PlannedTodo[],
    next: (name: string) => string,
    reads: boolean,
    sessionId: string,
  ): readonly Fields[];
  works(callId: string): Fields;
  reads(callId: string): Fields;
  stops(jobs: readonly Job[]): Fields;
  /** The human interrupted: what the host does next, if it tells at all. */
  afterAbort(next: (name: string) => string): Fields | null;
  asksHuman(): Fields | null;
  /** Of calls and of the stop of a subagent; null: the host shows none. */
  subagent(
    id: string,
    sessionId: string,
  ): Readonly<{ call: Fields; stop: Fields }> | null;
  /**
   * For a host that does not list its jobs at a stop: one begins in the background, and
   * ends.
   */
  job?(id: string): Readonly<{ starts: Fields; ends: Fields }>;
}
export type PlannedTodo = Readonly<{
  id: string;
  title: string;
  status: 'pending' | 'completed';
}>;
type Job = Readonly<{ id: string }>;

export function hookHost(spoken: SpokenHooks): HostUnderTest {
  return {
    capabilities: hostNamed(spoken.name),
    hasWorkspace: true,
    start: (settings) => start(spoken, settings),
  };
}

async function start(
  spoken: SpokenHooks,
  settings: Parameters<HostUnderTest['start']>[0],
): Promise<DrivenHost> {
  const policy = { settings: { ...defaultSettings, ...settings }, goalChecks: [] };
  const { host, environment = {} } = spoken;
  const hooks = createHookCase({ host, policy, environment });
  const { store, clock } = hooks;
  const cwd = mkdtempSync(join(tmpdir(), 'untildone-hooks-'));
  let count = 0;
  const next = (name: string): string => {
    count += 1;
    return `${name}-${count}`;
  };

  async function open(reads: boolean): Promise<DrivenSession> {
    const sessionId = next('session');
    const jobs = new Map<string, Job>();
    let plan: readonly PlannedTodo[] = [];
    let promptId: string | null = null;
    const send = (payload: Fields, more: Fields = {}): Promise<object> =>
      hooks.send({
        ...payload,
        ...spoken.common(promptId, reads),
        cwd,
        session_id: sessionId,
        ...more,
      });
    const stop = async (more: Fields = {}): Promise<string[]> => {
      const answer = continuationOf(await send(spoken.stops([...jobs.values()]), more));
      return answer === null ? [] : [answer];
    };
    const prompt = async (payload: Fields): Promise<void> => {
      promptId = next('prompt');
      await send(payload);
    };
    const write = async (
      changed: readonly PlannedTodo[],
      more: Fields = {},
    ): Promise<void> => {
      const known = plan.filter(({ id }) => !changed.some((one) => one.id === id));
      plan = [...known, ...changed];
      for (const payload of spoken.writes(plan, changed, next, reads, sessionId))
        await send(payload, more);
    };
    /** As `untildone pause` does, in a process of its own. */
    async function act(type: 'human-paused' | 'human-resumed'): Promise<void> {
      const identifiers = createIdentifiers(clock);
      const runtime = createRuntime({
        store,
        clock,
        identifiers,
        hash: sha256,
        policy: () => policy,
      });
      const base = { id: identifiers.next(), sessionId, at: clock.now() };
      await runtime.handle(
        type === 'human-paused' ? { ...base, type, reason: null } : { ...base, type },
      );
    }
    const planned = (titles: readonly string[]): readonly PlannedTodo[] =>
      titles.map((title) => ({
        id: String(plan.length + titles.indexOf(title) + 1),
        title,
        status: 'pending',
      }));
    await send(spoken.starts());
    return {
      says: (text) => prompt(spoken.prompts(text)),
      plans: (...titles) => write(planned(titles)),
      completes: (title) =>
        write(
          plan
            .filter((todo) => todo.title === title)
            .map((todo) => ({ ...todo, status: 'completed' })),
        ),
      works: async () => void (await send(spoken.works(next('write')))),
      stops: () => stop(),
      stopsTwice: async () => [...(await stop()), ...(await stop())],
      async stopsAndIsSpokenTo(text) {
        const received = await stop();
        await prompt(spoken.prompts(text));
        return received;
      },
      async aborts() {
        // Nothing is told of it but what the host does next; most do nothing before the
        // human speaks.
        const after = spoken.afterAbort(next);
        if (after === null) return [];
        await prompt(after);
        return stop();
      },
      shows: (text) => prompt(spoken.prompts(text)),
      async asksHuman() {
        const asked = spoken.asksHuman();
        if (asked !== null) await send(asked);
      },
      humanAnswers: async () => [],
      async startsSubagent() {
        const id = next('agent');
        jobs.set(id, { id });
        const told = spoken.subagent(id, sessionId);
        const job = spoken.job?.(id);
        if (job !== undefined) await send(job.starts);
        return {
          ...(await open(reads)),
          // Its todos land in the list of its parent; what a host does not show reaches
          // nobody.
          async plans(...titles) {
            if (told !== null) await write(planned(titles), told.call);
          },
          async works() {
            if (told !== null) await send(spoken.reads(next('read')), told.call);
          },
          stops: async () => (told === null ? [] : stop(told.stop)),
          async ends() {
            jobs.delete(id);
            if (job !== undefined) await send(job.ends);
            return [];
          },
        };
      },
      ends: async () => [],
      pauses: () => act('human-paused'),
      async resumes() {
        await act('human-resumed');
        return [];
      },
      outcome: async () => (await store.state(sessionId))?.settled?.outcome ?? null,
    };
  }

  return {
    open: (agent = 'writes') => open(agent === 'reads'),
    async sendGarbage(values) {
      for (const value of values) await hooks.send(value);
    },
    close: async () => rmSync(cwd, { recursive: true }),
  };
}
