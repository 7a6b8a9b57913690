// The traps of driven programs (they hang, linger, lose a conversation, lie about their
// end), with a program that plays them.
import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { findProcessTree } from '../checks/process.ts';
import { defaultSettings } from '../core/settings.ts';
import type { DriveFact, HostDriver } from '../engine/host-driver.ts';
import { createIdentifiers, systemClock } from '../engine/system.ts';
import { createScriptedHost } from '../simulated/scripted-host.ts';
import type { AgentEvent } from './agent-event.ts';
import { type DrivenRunOptions, runDriven } from './drive.ts';

/**
 * Plays one script a start, in order; the last one again and again. `$ID` is the
 * conversation.
 */
const player = `
const fs = require('node:fs');
const place = process.argv[2];
const starts = fs.readFileSync(place + '/starts', 'utf8').split('\\n').length - 1;
fs.appendFileSync(place + '/starts', JSON.stringify({ words: process.argv.slice(3), input: fs.readFileSync(0, 'utf8') }) + '\\n');
const scripts = JSON.parse(fs.readFileSync(place + '/scripts', 'utf8'));
(async () => {
  for (const step of scripts[Math.min(starts, scripts.length - 1)]) {
    if (step.sleep) await new Promise((resolve) => setTimeout(resolve, step.sleep));
    else if (step.orphan) {
      const child = require('node:child_process').spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
      fs.writeFileSync(place + '/orphan', String(child.pid));
      child.unref();
    } else if (step.exit !== undefined) process.exit(step.exit);
    else console.log(JSON.stringify(step));
  }
})();
`;

type Step = DriveFact | { sleep: number } | { exit: number } | { orphan: true };

const driver: HostDriver = {
  name: 'fake',
  title: 'The fake',
  program: 'fake',
  howToGet: 'nothing',
  takesId: true,
  reports: { tokens: true, cost: true },
  tools: { pause: null, verify: null },
  permissions: { 'read-only': 'It looks.', edit: 'It edits.', auto: 'It does anything.' },
  start: ({ text, id, isNew, environment, flags }) => ({
    words: [
      `${environment['PLACE']}/player.cjs`,
      environment['PLACE'] ?? '',
      isNew ? 'new' : 'again',
      id ?? '',
      text,
      ...flags,
    ],
  }),
  createReader: () => (line, from) =>
    from === 'errors' ? [] : [JSON.parse(line) as DriveFact],
};

async function play(
  scripts: readonly (readonly Step[])[],
  more: Partial<DrivenRunOptions> = {},
) {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-drive-')));
  writeFileSync(join(place, 'player.cjs'), player);
  writeFileSync(join(place, 'scripts'), JSON.stringify(scripts));
  writeFileSync(join(place, 'starts'), '');
  const events: AgentEvent[] = [];
  const store = more.store ?? createMemoryStore();
  const ended = await runDriven({
    store,
    clock: systemClock,
    identifiers: createIdentifiers(),
    sessionId: 'session',
    goal: 'Do it.',
    resume: false,
    directory: place,
    environment: { ...process.env, PLACE: place },
    policy: { settings: defaultSettings, goalChecks: [] },
    acceptClaims: false,
    random: () => 0,
    emit: (event) => void events.push(event),
    driver,
    program: process.execPath,
    mode: 'edit',
    model: null,
    flags: [],
    conversation: null,
    limits: { silenceMs: 1500, exitMs: 700, interruptMs: 500, endGraceMs: 500 },
    ...more,
  });
  const starts = readFileSync(join(place, 'starts'), 'utf8').trimEnd().split('\n');
  const read = starts.map(
    (line) => JSON.parse(line) as { words: string[]; input: string },
  );
  return { ended, events, starts: read, place, store };
}

const says: Step[] = [
  { type: 'conversation', id: 'session' },
  { type: 'step', id: 'one' },
  { type: 'text', text: 'The answer is 42.' },
];
const end: Step = { type: 'ended', end: 'normal' };

describe('a driven program', () => {
  it('is started with the human’s words, under our id, with nothing on its standard input', async () => {
    const { ended, starts } = await play([[...says, end]], { flags: ['--more'] });
    expect(starts).toEqual([
      { words: ['new', 'session', 'Do it.', '--more'], input: '' },
    ]);
    expect(ended).toMatchObject({
      outcome: 'claimed',
      reason: 'no-plan',
      exitCode: 3,
      steps: 1,
    });
  });

  it('that lingers behind its result is ended, and its result counts', async () => {
    const { ended, starts } = await play([[...says, end, { sleep: 60_000 }]]);
    expect(ended).toMatchObject({ outcome: 'claimed', exitCode: 3 });
    expect(starts).toHaveLength(1);
  });

  it('that exits with 0 and no result was broken off, and is taken up in the same conversation', async () => {
    const { ended, starts } = await play([
      [...says, { exit: 0 }],
      [...says, end],
    ]);
    expect(starts.map(({ words }) => words.slice(0, 2))).toEqual([
      ['new', 'session'],
      ['again', 'session'],
    ]);
    expect(starts[1]?.words[2]).toContain('You were interrupted');
    expect(ended).toMatchObject({ outcome: 'claimed' });
  });

  it('whose result says done counts as ended, whatever its exit code is', async () => {
    const { ended, starts } = await play([[...says, end, { exit: 7 }]]);
    expect(starts).toHaveLength(1);
    expect(ended).toMatchObject({ outcome: 'claimed' });
  });

  it('that does not know the conversation any more begins it anew, with all that the human said', async () => {
    const { starts } = await play([
      [{ exit: 1 }],
      [{ type: 'unknown-conversation' }, { exit: 1 }],
      [...says, end],
    ]);
    expect(starts.map(({ words }) => words)).toEqual([
      ['new', 'session', 'Do it.'],
      ['again', 'session', 'Do it.'],
      ['new', 'session', 'Do it.'],
    ]);
  });

  it('that chooses its own ids is started without the one that it has forgotten', async () => {
    const [own, other]: Step[] = [
      { type: 'conversation', id: 'theirs' },
      { type: 'conversation', id: 'other' },
    ];
    const scripts = [
      [own, { exit: 1 }],
      [{ type: 'unknown-conversation' }, { exit: 1 }],
      [other, ...says.slice(1), end],
    ] as Step[][];
    const { starts, ended } = await play(scripts, {
      driver: { ...driver, takesId: false },
    });
    expect(starts.map(({ words }) => words.slice(0, 2))).toEqual([
      ['new', ''],
      ['again', 'theirs'],
      ['new', ''],
    ]);
    expect(ended).toMatchObject({ outcome: 'claimed' });
  });

  it('G9: that knows no conversation, not even a new one, ends the run as failed', async () => {
    const { starts, ended } = await play([
      [{ type: 'unknown-conversation' }, { exit: 1 }],
    ]);
    expect(starts.length).toBeLessThanOrEqual(6);
    expect(ended).toMatchObject({ outcome: 'failed', exitCode: 1 });
  }, 30_000);

  it('G9: that says nothing is ended; the third time in a row the run has failed', async () => {
    const { ended, starts } = await play([[{ sleep: 60_000 }]]);
    expect(starts).toHaveLength(3);
    expect(ended).toMatchObject({
      outcome: 'failed',
      reason: 'circuit-open',
      exitCode: 1,
    });
  }, 30_000);

  it('that tries a call again does not hang: it says so', async () => {
    const waits: Step = { type: 'retrying', sentence: 'It tries again.', inMs: 4000 };
    const soon: Step = { type: 'retrying', sentence: 'It connects again.', inMs: 0 };
    const { ended, starts, events } = await play([
      [...says, soon, waits, { sleep: 3000 }, end],
    ]);
    expect(starts).toHaveLength(1);
    expect(ended).toMatchObject({ outcome: 'claimed' });
    const told = events.flatMap((event) =>
      event.type === 'error' ? [[event.sentence, event.retryAt]] : [],
    );
    expect(told, 'no moment is named that it did not name').toEqual([
      ['It connects again.', null],
      ['It tries again.', expect.any(Number)],
    ]);
  }, 30_000);

  it('G9: that only tries again, and never says until when, is ended like one that is silent', async () => {
    const again: Step[] = [
      { type: 'retrying', sentence: 'It waits for the network.', inMs: 0 },
      { sleep: 400 },
    ];
    const { ended, starts } = await play([
      Array.from({ length: 20 }, () => again).flat(),
    ]);
    expect(starts).toHaveLength(3);
    expect(ended).toMatchObject({ outcome: 'failed', reason: 'circuit-open' });
  }, 30_000);

  it('leaves no process of a broken start behind', async () => {
    const { place } = await play([[...says, { orphan: true }, end]]);
    const group = Number(readFileSync(join(place, 'orphan'), 'utf8'));
    expect(group).toBeGreaterThan(1);
    expect(findProcessTree({ group, mark: 'NOBODY=1' })).toEqual([]);
  });

  it('G8: whose sums run on over resumes is counted by what they grew', async () => {
    const tokens = (inputTokens: number) => ({
      inputTokens,
      cachedTokens: 0,
      outputTokens: 10,
    });
    const sum = (input: number, cost: number): Step => ({
      type: 'usage',
      of: 'conversation',
      tokens: tokens(input),
      cost,
    });
    const { ended } = await play([
      [...says, sum(100, 0.5), { exit: 0 }],
      [...says, sum(150, 0.75), end],
    ]);
    expect(ended.usage).toMatchObject({ inputTokens: 150, outputTokens: 10, cost: 0.75 });
  });

  it('whose hooks are silent is known by its lines alone: its list holds it', async () => {
    const list = (status: string): Step => ({
      type: 'todos',
      todos: [{ key: null, title: 'Write the parser', status }],
    });
    const call: Step = {
      type: 'tool-ended',
      callId: 'c',
      tool: 'write',
      ok: true,
      output: '',
    };
    const { ended, starts } = await play([
      [...says, list('pending'), end],
      [...says, call, list('completed'), end],
    ]);
    expect(starts[1]?.words[2]).toContain('Write the parser');
    expect(ended).toMatchObject({
      outcome: 'claimed',
      todos: [{ title: 'Write the parser', status: 'completed' }],
    });
  });

  it('V8: is shown the plan before the refusal that counts what is open in it', async () => {
    const begins = (id: string): Step => ({ type: 'step', id });
    const list = (...done: readonly string[]): Step => {
      const todos = ['parser', 'docs'].map((title) => {
        return {
          key: null,
          title,
          status: done.includes(title) ? 'completed' : 'pending',
        };
      });
      return { type: 'todos', todos };
    };
    const { events } = await play([
      [...says, list(), end],
      [begins('two'), list('parser'), end],
      [begins('three'), list('parser', 'docs'), end],
    ]);
    const counted = events.flatMap((event, index) => {
      if (event.type !== 'continuation') return [];
      const shown = events.slice(0, index).findLast((one) => one.type === 'plan-changed');
      return [
        shown?.type === 'plan-changed' &&
          shown.todos.filter(({ status }) => status === 'pending').length,
      ];
    });
    expect(counted.slice(0, 2)).toEqual([2, 1]);
  });

  it('first-use 12: a refused answer is shown above its refusal, even if the line with it is read later', async () => {
    const store = createMemoryStore();
    const events: AgentEvent[] = [];
    let hooks: Promise<unknown> | null = null;
    /** A hook in the program does this long before the line with the answer is read. */
    const refuse = async () => {
      const host = createScriptedHost({ mode: 'asked', store, sessionId: 'session' });
      await host.happens({
        type: 'todos-created',
        actor: 'agent',
        items: [{ id: 'todo-1', title: 'Write it' }],
      });
      await host.stops();
    };
    const call = { callId: 'c', tool: 'write' };
    await play(
      [
        [
          says[0] as Step,
          { type: 'step', id: 'one' },
          { type: 'tool-started', ...call, input: {} },
          { type: 'tool-ended', ...call, ok: true, output: '' },
          { sleep: 1500 },
          { type: 'step', id: 'two' },
          { type: 'text', text: 'All done!' },
          { sleep: 800 },
          { type: 'step', id: 'three' },
          { type: 'text', text: 'Now it is.' },
          end,
        ],
        [...says, end],
      ],
      {
        store,
        emit(event) {
          events.push(event);
          if (event.type === 'tool-ended') hooks ??= refuse();
        },
        limits: { silenceMs: 5000, exitMs: 700, interruptMs: 500, endGraceMs: 500 },
      },
    );
    await hooks;
    const shown = events.flatMap((event) => {
      if (event.type === 'text') return [event.text];
      return event.type === 'continuation' ? [`refused: ${event.total}`] : [];
    });
    expect(shown.slice(0, 3)).toEqual(['All done!', 'refused: 1', 'Now it is.']);
  });

  it('V8: that a human stops in the middle of its work is decided as stopped, and the run says so', async () => {
    const store = createMemoryStore();
    let stop: Promise<unknown> | null = null;
    const host = createScriptedHost({ mode: 'asked', store, sessionId: 'session' });
    const { ended } = await play([[...says, { sleep: 20_000 }]], {
      store,
      emit(event) {
        if (event.type === 'text')
          stop ??= host.happens({ type: 'human-aborted', how: 'untildone stop' });
      },
      limits: { silenceMs: 30_000, exitMs: 700, interruptMs: 500, endGraceMs: 500 },
    });
    await stop;
    expect(ended).toMatchObject({ outcome: 'aborted', exitCode: 130 });
    expect(ended.sentence).toContain('You stopped the agent.');
  });
});
