// The demo without a terminal, told as events: that every scene of its story happens, in
// order, and is what it seems.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CommandBench,
  type CommandResult,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import type { AgentEvent } from '../../agent/agent-event.ts';
import { systemClock } from '../../engine/system.ts';
import { readArguments } from '../program.ts';
import { createDemo } from './demo.ts';

let bench: CommandBench;
let result: CommandResult;
let events: readonly AgentEvent[];

beforeAll(async () => {
  bench = createCommandBench();
  result = await bench.runWith({ clock: systemClock }, 'demo', '--json');
  events = result.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}, 60_000);

afterAll(() => bench.close());

function of<Type extends AgentEvent['type']>(
  type: Type,
): Extract<AgentEvent, { type: Type }>[] {
  return events.filter((event) => event.type === type) as Extract<
    AgentEvent,
    { type: Type }
  >[];
}

describe('demo', () => {
  it('runs as written, without a key and without a person', () => {
    expect(result.err.trim()).toBe(
      'Stopping after this step; Ctrl-C again stops at once.',
    );
    expect(result.code).toBe(0);
  });

  it('P1, V4, G11, V1: every habit of the agent is answered by its own continuation', () => {
    expect(of('continuation').map(({ textKind }) => textKind)).toEqual([
      'standard',
      'dropped-todos',
      'text-question',
      'failed-check',
    ]);
  });

  it('S4, S7: the worker asks, the script answers from elsewhere and says so, the command runs', () => {
    const [asked] = of('permission-asked');
    expect(asked).toMatchObject({ tool: 'shell', subject: 'node greet.mjs world' });
    expect(of('permission-answered')).toMatchObject([
      { requestId: asked?.requestId, granted: true, remembered: 'once', by: 'elsewhere' },
    ]);
    expect(of('notice').map(({ sentence }) => sentence)).toEqual([
      'Nobody is here to answer, so the script says yes.',
      'The script presses Ctrl-C.',
    ]);
    const workerId = of('worker-started')[0]?.workerId;
    const command = of('tool-ended').find(({ tool }) => tool === 'shell');
    expect(command).toMatchObject({ ok: true, sessionId: workerId });
    expect(command?.output).toContain('Hello, world!');
    expect(of('worker-ended')).toMatchObject([{ agentType: 'tester', result: 'done' }]);
  });

  it('C3: Ctrl-C ends the first run after its step, and the same session is resumed to its end', () => {
    const [first, last] = of('run-started');
    expect([first?.resumed, last?.resumed]).toEqual([false, true]);
    expect(last?.sessionId).toBe(first?.sessionId);
    expect(of('run-ended').map(({ outcome }) => outcome)).toEqual(['aborted', 'done']);
  });

  it('V1: the check of the human fails once, and the agent is let go only after it has passed', () => {
    expect(of('check-ended').map((ended) => ended.result)).toEqual(['failed', 'passed']);
    expect(
      of('run-ended')
        .at(-1)
        ?.todos.map(({ status }) => status),
    ).toEqual(Array(4).fill('completed'));
  });

  it('V1: whoever says no gets no claim that it was tried out: the todo is blocked, and so is the end', async () => {
    const refusing = createDemo('no');
    let out = '';
    const io = {
      stdout: { write: (text: string) => (out += text) },
      stderr: { write: () => true },
      env: bench.env,
      cwd: bench.project,
      isTTY: false,
      clock: systemClock,
      whyNoHuman: async () => null,
      agentAbove: async () => null,
      agentSessions: async () => [],
    };
    const code = await refusing.run(readArguments(refusing, ['--json']), io);
    const told: AgentEvent[] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const ends = told.filter((event) => event.type === 'run-ended');
    expect(ends.map(({ outcome }) => outcome)).toEqual(['aborted', 'blocked']);
    const tryOut = ends.at(-1)?.todos.find(({ title }) => title === 'Try it out');
    expect(tryOut).toMatchObject({ status: 'blocked' });
    expect(code).toBe(0);
  }, 60_000);

  it('leaves nothing behind, neither its folder nor a session among those of the human', () => {
    expect(existsSync(of('run-started')[0]?.directory ?? '')).toBe(false);
    expect(existsSync(bench.home)).toBe(false);
  });
});
