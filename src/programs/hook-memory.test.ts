// The hook as hosts start it, and what it remembers: a process per call over a state
// directory that others lock, open to everybody, put back or damage.
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/build/bundle.ts';
import {
  createPayload,
  promptPayload,
  sessionId,
  stopPayload,
  toolPayload,
  updatePayload,
} from '../../test/support/payload-cases.ts';
import { mostPayloadBytes } from '../hosts/asked.ts';

const bundles = mkdtempSync(join(tmpdir(), 'untildone-bundle-'));
const file = join(bundles, 'plugin/programs/hook.js');
/** The human is told this once, however often the agent stops afterwards. */
const stoppedByYou = expect.stringMatching(
  /^untildone: not done: 1 of 1 todo open.* \(aborted\)\. You stopped the agent/u,
);
let home: string;
let project: string;
let state: string;

beforeAll(async () => {
  for (const group of ['quick-program', 'late'] as const) await bundle(group, bundles);
});

afterAll(() => rmSync(bundles, { recursive: true }));

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'untildone-home-'));
  project = join(home, 'project');
  state = join(home, 'state');
  mkdirSync(project);
});

function start(input: string | Buffer, skewMs = 0, heldMs = 0): Promise<string> {
  const skew = `const now = Date.now; Date.now = () => now() + ${skewMs}`;
  const clock = {
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(skew)}"`,
  };
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    UNTILDONE_HOME: state,
    ...(skewMs !== 0 && clock),
  };
  // No mask: what is private then is private by our own word.
  const words = ['-c', 'umask 0; exec "$@"', 'sh', process.execPath, file, 'claude-code'];
  const child = spawn('/bin/sh', words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.stdin.on('error', () => {});
  // A host starts its hooks together: none has its payload before all of them run.
  setTimeout(() => child.stdin.end(input), heldMs);
  return new Promise((resolve) => child.on('close', () => resolve(out)));
}

const call = async (payload: object, skewMs = 0, heldMs = 0) =>
  JSON.parse(await start(JSON.stringify({ ...payload, cwd: project }), skewMs, heldMs));
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('the state directory', () => {
  it('V10: one that others can write is refused, and the human is told at the stop', async () => {
    mkdirSync(state);
    chmodSync(state, 0o777);
    expect(await call(promptPayload('Please do it'))).toEqual({});
    const { systemMessage } = await call(stopPayload());
    expect(systemMessage).toContain(`${state} can be written by others (mode 777)`);
    expect(systemMessage).toContain(`chmod go-w ${state}`);
    for (const name of ['untildone.db', 'hook.log', 'bin'])
      expect(existsSync(join(state, name)), name).toBe(false);
    chmodSync(state, 0o755);
    await call(promptPayload('Please do it'));
    expect(existsSync(join(state, 'untildone.db'))).toBe(true);
  });

  it("V10: what a hook makes in it is the user's alone, whatever the mask", async () => {
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Write a.txt'));
    expect(modeOf(state)).toBe(0o700);
    expect(modeOf(join(state, 'bin'))).toBe(0o700);
    expect(modeOf(join(state, 'bin/compiled'))).toBe(0o700);
    expect(modeOf(join(state, 'untildone.db'))).toBe(0o600);
  });
});

describe('the log of the store', () => {
  const logBytes = () => statSync(join(state, 'untildone.db-wal')).size;

  it('V5: a stop that ends the turn copies it into the store, other calls leave it', async () => {
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Write a.txt'));
    expect(logBytes()).toBeGreaterThan(0);
    const { hookSpecificOutput } = await call(stopPayload());
    expect(hookSpecificOutput.additionalContext).toContain('Write a.txt');
    expect(logBytes()).toBeGreaterThan(0);
    await call(updatePayload('1', 'completed', 'u1'));
    expect((await call(stopPayload())).systemMessage).toContain('claimed');
    expect(logBytes()).toBe(0);
  });
});

describe('a store that went back in time', () => {
  const storeFiles = ['untildone.db', 'untildone.db-wal', 'untildone.db-shm'];
  const lost = 'the store was restored to an earlier state, or lost';

  const copy = (from: string, to: string) => {
    mkdirSync(to, { recursive: true });
    for (const name of storeFiles) {
      rmSync(join(to, name), { force: true });
      if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
    }
  };
  const backup = () => join(home, 'backup');
  const textOf = (answer: { hookSpecificOutput?: { additionalContext: string } }) =>
    answer.hookSpecificOutput?.additionalContext;

  /** As Claude Code keeps it. */
  async function createsTask(id: string, subject: string): Promise<void> {
    const folder = join(home, '.claude/tasks', sessionId);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, `${id}.json`),
      JSON.stringify({ id, subject, description: subject, status: 'pending' }),
    );
    await call(createPayload(id, subject));
  }
  const writesList = (name: string, ...titles: string[]) => {
    const todos = titles.map((content) => ({
      content,
      status: 'pending',
      activeForm: content,
    }));
    return call(
      toolPayload('TodoWrite', name, { todos }, { oldTodos: [], newTodos: todos }),
    );
  };

  it.each(['a backup', 'nothing'])(
    'P43: %s in its place is noticed, told, and the list of the host is read anew',
    async (kind) => {
      await call(promptPayload('Please do it'));
      await createsTask('1', 'Write a.txt');
      copy(state, backup());
      await createsTask('2', 'Write b.txt');
      await createsTask('3', 'Write c.txt');
      expect(textOf(await call(stopPayload()))).toContain('3 remaining');
      copy(kind === 'nothing' ? join(home, 'nowhere') : backup(), state);
      await call(promptPayload('go on', { prompt_id: 'p2' }));
      const answer = await call(stopPayload({ prompt_id: 'p2' }));
      expect(textOf(answer)).toContain('3 remaining');
      expect(answer.systemMessage).toContain(lost);
      expect(
        (await call(stopPayload({ prompt_id: 'p2' }))).systemMessage,
      ).toBeUndefined();
    },
  );

  it('P43: what was only in the inbox is missed as well: not done, but claimed, and told', async () => {
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Write a.txt'));
    await call(stopPayload());
    copy(state, backup());
    await writesList('w1', 'Write b.txt', 'Write c.txt');
    copy(backup(), state);
    await call(updatePayload('1', 'completed', 'u1'));
    const { systemMessage } = await call(stopPayload());
    expect(systemMessage).toContain('claimed');
    expect(systemMessage).toContain(lost);
  });

  it('V5: a log that vanished is missed', async () => {
    await call(promptPayload('Please do it'));
    await call(stopPayload());
    await writesList('w1', 'Write b.txt');
    for (const name of storeFiles.slice(1)) rmSync(join(state, name));
    const { systemMessage } = await call(stopPayload());
    expect(systemMessage).toContain(lost);
  });

  it('P43: calls and stops at once raise no false alarm', async () => {
    await call(promptPayload('Please do it'));
    const calls = Array.from({ length: 12 }, (_, index) =>
      call(createPayload(String(index + 1), `Todo ${index}`)),
    );
    await Promise.all([...calls, call(stopPayload()), call(stopPayload())]);
    const answer = await call(stopPayload());
    expect(textOf(answer)).toContain('12 remaining');
    expect(answer.systemMessage).toBeUndefined();
  });
});

describe('a store that another process holds for long', () => {
  const lists = (
    name: string,
    ...todos: (readonly [title: string, status: string])[]
  ) => {
    const written = todos.map(([content, status]) => ({
      content,
      status,
      activeForm: content,
    }));
    return call(
      toolPayload(
        'TodoWrite',
        name,
        { todos: written },
        { oldTodos: [], newTodos: written },
      ),
    );
  };
  const spool = () => join(state, 'untildone.db-spool', sessionId);

  async function whileHeld(work: () => Promise<unknown>): Promise<void> {
    const other = new DatabaseSync(join(state, 'untildone.db'));
    other.exec('BEGIN IMMEDIATE');
    try {
      await work();
    } finally {
      other.exec('ROLLBACK');
      other.close();
    }
  }

  it('V5: what hooks told meanwhile is folded before what comes later, in its order', async () => {
    await call(promptPayload('Please do it'));
    await lists('w1', ['Write a.txt', 'pending']);
    await whileHeld(async () => {
      expect(
        await lists('w2', ['Write a.txt', 'completed'], ['Write b.txt', 'pending']),
      ).toEqual({});
      expect(
        await lists('w3', ['Write a.txt', 'completed'], ['Write b.txt', 'in_progress']),
      ).toEqual({});
    });
    expect(modeOf(spool())).toBe(0o600);
    expect(modeOf(join(state, 'untildone.db-spool'))).toBe(0o700);
    await lists(
      'w4',
      ['Write a.txt', 'completed'],
      ['Write b.txt', 'completed'],
      ['Write c.txt', 'pending'],
    );
    const answer = await call(stopPayload());
    expect(answer.hookSpecificOutput.additionalContext).toContain(
      '2/3 completed, 1 remaining',
    );
    expect(answer.hookSpecificOutput.additionalContext).toContain('Write c.txt');
  }, 30_000);

  it('V5: a prompt of the human is not lost either, and nothing counts twice', async () => {
    await call(promptPayload('Please do it'));
    await lists('w1', ['Write a.txt', 'pending']);
    await call(stopPayload());
    await whileHeld(() => call(promptPayload('stop', { prompt_id: 'p2' })));
    expect(await call(stopPayload({ prompt_id: 'p2' }))).toEqual({
      systemMessage: stoppedByYou,
    });
    expect(await call(stopPayload({ prompt_id: 'p2' }))).toEqual({});
    await call(promptPayload('go on', { prompt_id: 'p3' }));
    const answer = await call(stopPayload({ prompt_id: 'p3' }));
    expect(answer.hookSpecificOutput.additionalContext).toContain('Write a.txt');
  }, 30_000);

  it('V5: a line that a crash cut short, or garbage, holds nothing up', async () => {
    await call(promptPayload('Please do it'));
    await whileHeld(() => lists('w1', ['Write a.txt', 'pending']));
    appendFileSync(spool(), '{"event":{"id":"half');
    await whileHeld(() =>
      lists('w2', ['Write a.txt', 'pending'], ['Write b.txt', 'pending']),
    );
    appendFileSync(
      spool(),
      'null\n{}\n[]\n{"event":null}\n{"event":{"type":"human-spoke","sessionId":"other","id":"x"}}\n',
    );
    const answer = await call(stopPayload());
    expect(answer.hookSpecificOutput.additionalContext).toContain(
      '0/2 completed, 2 remaining',
    );
  }, 30_000);
});

describe('hooks that are asked about one stop at once', () => {
  /** In the user's own configuration, which needs nobody's leave. */
  function configure(settings: object): void {
    const folder = join(home, '.config/untildone');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'untildone.json'), JSON.stringify(settings));
  }

  it.each([
    [
      'a check fails',
      { checks: { slow: { command: ['sh', '-c', 'sleep 1; exit 1'] } }, goal: ['slow'] },
      'completed',
      12,
    ],
    ['a todo is open', {}, 'in_progress', 6],
  ])(
    'V5: where %s, one of them continues the agent, and all others say nothing',
    async (_what, settings, status, hooks) => {
      configure(settings);
      await call(promptPayload('Please do it'));
      await call(createPayload('1', 'Write a.txt'));
      await call(updatePayload('1', status, 'u1'));
      const answers = await Promise.all(
        Array.from({ length: hooks }, () => call(stopPayload(), 0, 400)),
      );
      const continued = answers.filter(
        (answer) => answer.hookSpecificOutput !== undefined,
      );
      expect(continued).toHaveLength(1);
      expect(answers.filter((answer) => Object.keys(answer).length > 0)).toEqual(
        continued,
      );
    },
    30_000,
  );
});

describe('a payload that cannot be read', () => {
  const stop = (fields = {}) => JSON.stringify({ ...stopPayload(fields), cwd: project });
  const huge = { last_assistant_message: 'x'.repeat(mostPayloadBytes) };
  const utf16 = (text: string) => Buffer.from(`\u{feff}${text}`, 'utf16le');

  it.each([
    ['too large', () => stop(huge), 'more than'],
    ['in UTF-16', () => utf16(stop()), 'not JSON in UTF-8'],
    ['cut off', () => stop().slice(0, -10), 'not JSON in UTF-8'],
    ['without a session', () => stop({ session_id: null }), 'names no session'],
  ])('C4: %s, at a stop, is told to the human', async (_what, input, sentence) => {
    const { systemMessage } = JSON.parse(await start(input()));
    expect(systemMessage).toContain('could not decide, so the agent may stop');
    expect(systemMessage).toContain(sentence);
  });

  it("C4: anywhere else it is nobody's stop, whatever a text in it says", async () => {
    const quoted = toolPayload(
      'Bash',
      'c1',
      {},
      { stdout: stop() + 'x'.repeat(mostPayloadBytes) },
    );
    expect(await start(JSON.stringify(quoted))).toBe('{}\n');
    expect(await start(utf16(JSON.stringify(promptPayload('Please do it'))))).toBe(
      '{}\n',
    );
  });

  it('C4: a byte order mark before a payload changes nothing', async () => {
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Write a.txt'));
    const answer = JSON.parse(await start(`\u{feff}${stop()}`));
    expect(answer.hookSpecificOutput.additionalContext).toContain('Write a.txt');
  });
});

describe('a clock that is set', () => {
  const stop = (text: string, skewMs = 0) =>
    call(stopPayload({ last_assistant_message: text }), skewMs);
  const textOf = (answer: { hookSpecificOutput?: { additionalContext: string } }) =>
    answer.hookSpecificOutput?.additionalContext;

  it('P42: back by seconds hides no todo and loses no completion', async () => {
    await call(promptPayload('do it'), 3000);
    await call(createPayload('1', 'Write a.txt'), 3000);
    await call(createPayload('2', 'Write b.txt'), 3000);
    await call(updatePayload('1', 'completed', 'u1'));
    expect(textOf(await stop('first'))).toContain('1/2 completed, 1 remaining');
    expect(textOf(await stop('second', -1000))).toContain('1/2 completed, 1 remaining');
    const database = new DatabaseSync(join(state, 'untildone.db'), { readOnly: true });
    const rows = database
      .prepare('SELECT body FROM events WHERE applied IS NOT NULL ORDER BY applied')
      .all();
    database.close();
    const times = rows.map(({ body }) => Number(JSON.parse(String(body)).at));
    expect(times, 'times never run backwards').toEqual(times.toSorted((a, b) => a - b));
  });

  it('P42: back by seconds does not lift a human\'s "stop"', async () => {
    await call(promptPayload('do it'), 5000);
    await call(createPayload('1', 'Write a.txt'), 5000);
    await call(promptPayload('stop', { prompt_id: 'p2' }));
    expect(await stop('first')).toEqual({ systemMessage: stoppedByYou });
    expect(await stop('second', -3000)).toEqual({});
  });

  it('P42: back by seconds, it hides no stop: the same words a second time are another one', async () => {
    await call(promptPayload('do it'));
    await call(createPayload('1', 'Write a.txt'));
    for (const skew of [0, -500, -10_000])
      expect(textOf(await stop('I am done.', skew)), `${skew} ms`).toContain(
        '0/1 completed',
      );
  });

  it('P42: by -10 s to +2 h between any two calls changes no answer', async () => {
    const skews = [0, 7_200_000, -10_000, 3_600_000, -400, 5000, -1500, 60_000, -9000];
    await call(promptPayload('do it'), skews[0]);
    for (const [index, skew] of skews.slice(1, 5).entries())
      await call(createPayload(String(index + 1), `Todo ${index}`), skew);
    for (const [index, skew] of skews.slice(5).entries()) {
      expect(textOf(await stop(`text ${index}`, skew)), `stop ${index}`).toContain(
        `${index}/4 completed`,
      );
      await call(updatePayload(String(index + 1), 'completed', `u${index}`), -skew);
    }
    const { systemMessage } = await stop('all done', -10_000);
    expect(systemMessage).toContain('claimed');
  });
});
