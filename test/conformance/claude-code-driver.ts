// Claude Code under the conformance suite: recorded payloads go through its translation and the hook, and what the host
// would read from standard output comes back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultSettings } from '../../src/core/settings.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256 } from '../../src/engine/system.ts';
import { continuationOf, createHookCase } from '../support/hook-case.ts';
import { hostNamed } from '../support/host-named.ts';
import {
  createPayload,
  notification,
  promptPayload,
  startPayload,
  stopPayload,
  toolPayload,
  updatePayload,
} from '../support/payload-cases.ts';
import type { DrivenHost, DrivenSession, HostUnderTest } from './driven-host.ts';

export const claudeCodeHost: HostUnderTest = {
  capabilities: hostNamed('claude-code'),
  hasWorkspace: true,
  start,
};

type Fields = Readonly<Record<string, unknown>>;

async function start(settings: Parameters<HostUnderTest['start']>[0]): Promise<DrivenHost> {
  const policy = { settings: { ...defaultSettings, ...settings }, goalChecks: [] };
  // The host itself would end a turn sooner than our own limits do; `init` sets its cap behind them.
  const hooks = createHookCase({ policy, environment: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '500' } });
  const { store, clock } = hooks;
  const cwd = mkdtempSync(join(tmpdir(), 'untildone-claude-code-'));
  let count = 0;
  const next = (name: string): string => {
    count += 1;
    return `${name}-${count}`;
  };

  async function open(mode: string): Promise<DrivenSession> {
    const sessionId = next('session');
    const jobs = new Map<string, Fields>();
    const tasks = new Map<string, string>();
    let promptId = next('prompt');
    const fields = () => ({ cwd, session_id: sessionId, prompt_id: promptId, permission_mode: mode });
    const send = (payload: Fields): Promise<object> => hooks.send({ ...payload, ...fields() });
    const stop = async (more: Fields = {}): Promise<string[]> => {
      const answer = continuationOf(
        await send(stopPayload({ background_tasks: [...jobs.values()], ...more })),
      );
      return answer === null ? [] : [answer];
    };
    const prompt = async (text: string): Promise<void> => {
      promptId = next('prompt');
      await send(promptPayload(text));
    };
    /** As `untildone pause` does, in a process of its own. */
    async function act(type: 'human-paused' | 'human-resumed'): Promise<void> {
      const identifiers = createIdentifiers(clock);
      const runtime = createRuntime({ store, clock, identifiers, hash: sha256, policy: () => policy });
      const base = { id: identifiers.next(), sessionId, at: clock.now() };
      await runtime.handle(type === 'human-paused' ? { ...base, type, reason: null } : { ...base, type });
    }
    await send(startPayload('startup'));
    return {
      says: prompt,
      async plans(...titles) {
        for (const title of titles) {
          const id = String(tasks.size + 1);
          tasks.set(title, id);
          await send(createPayload(id, title));
        }
      },
      completes: async (title) =>
        void (await send(updatePayload(tasks.get(title) ?? '', 'completed', next('update')))),
      works: async () => void (await send(toolPayload('Write', next('write'), {}, {}))),
      stops: () => stop(),
      stopsTwice: async () => [...(await stop()), ...(await stop())],
      async stopsAndIsSpokenTo(text) {
        const received = await stop();
        await prompt(text);
        return received;
      },
      async aborts() {
        // Nothing is told of it but what the host does next: a job ends and wakes the agent.
        await prompt(notification(next('job')));
        return stop();
      },
      shows: (text) => prompt(text),
      asksHuman: async () =>
        void (await send({ hook_event_name: 'Notification', notification_type: 'permission_prompt' })),
      humanAnswers: async () => [],
      async startsSubagent() {
        const id = next('agent');
        jobs.set(id, { id, type: 'subagent', status: 'running', description: 'Looks around' });
        const agent = { agent_id: id, agent_type: 'general-purpose' };
        return {
          ...(await open(mode)),
          // Its todos land in the list of its parent.
          async plans(...titles) {
            for (const title of titles) await send(createPayload(next('task'), title, agent));
          },
          works: async () => void (await send({ ...toolPayload('Read', next('read'), {}, {}), ...agent })),
          stops: () => stop({ hook_event_name: 'SubagentStop', ...agent }),
          async ends() {
            jobs.delete(id);
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
    };
  }

  return {
    open: (agent = 'writes') => open(agent === 'writes' ? 'default' : 'plan'),
    async sendGarbage(values) {
      for (const value of values) await hooks.send(value);
    },
    close: async () => rmSync(cwd, { recursive: true }),
  };
}
