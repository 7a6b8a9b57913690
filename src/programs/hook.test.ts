// The hook as hosts start it: bundled, a process per call. Whatever it is given, it
// answers with one JSON object and exits with 0, and many at once leave the exact state.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/build/bundle.ts';
import { acceptProject } from '../../test/support/accept-project.ts';
import { makeOlderStore, olderStoreSentence } from '../../test/support/older-store.ts';
import {
  completedPayload,
  createPayload,
  notification,
  promptPayload,
  sessionId,
  stopPayload,
  toolPayload,
  updatePayload,
} from '../../test/support/payload-cases.ts';
import { markedCommand } from '../checks/process.ts';
import type { Event } from '../core/events.ts';
import { mostPayloadBytes } from '../hosts/asked.ts';
import { todoIdOf } from '../hosts/asked-call.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';

const bundles = mkdtempSync(join(tmpdir(), 'untildone-bundle-'));
const file = join(bundles, 'plugin/programs/hook.js');
let home: string;
let project: string;
let state: string;

// As the build writes it and `init` copies it.
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

interface Said {
  readonly out: string;
  readonly err: string;
  readonly code: number | null;
}

function start(
  input: string | Buffer,
  argv: readonly string[] = ['claude-code'],
  environment = {},
) {
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    UNTILDONE_HOME: state,
    ...environment,
  };
  const child = spawn(process.execPath, [file, ...argv], { env });
  const said = new Promise<Said>((resolve) => {
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk;
    });
    child.on('close', (code) => resolve({ out, err, code }));
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return { child, said };
}

const call = (payload: object) =>
  start(JSON.stringify({ ...payload, cwd: project })).said;
const log = () => readFileSync(join(state, 'hook.log'), 'utf8');

async function withStore<T>(
  work: (store: Awaited<ReturnType<typeof openSqliteStore>>) => Promise<T>,
): Promise<T> {
  const store = await openSqliteStore({ path: join(state, 'untildone.db'), clock: Date });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const silent = { out: '{}\n', err: '', code: 0 };

describe('the hook process', () => {
  it.each([
    ['garbage', 'hello { world', 'not JSON'],
    ['nothing', '', 'sent nothing'],
    ['half of a payload', '{"session_id":"a', 'not JSON'],
    [
      'a hook that nobody knows',
      JSON.stringify(stopPayload({ hook_event_name: 'Later' })),
      'Later',
    ],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00]), 'not JSON'],
  ])(
    'answers %s with one empty object, exits with 0 and says why on the record',
    async (_what, input, why) => {
      expect(
        await start(input, ['claude-code'], { SECRET_TOKEN: 'hunter2hunter2' }).said,
      ).toEqual(silent);
      expect(log()).toContain(why);
      expect(log()).not.toContain('hunter2');
    },
  );

  it('reads more than it takes to the end, and answers', async () => {
    const said = await start(Buffer.alloc(mostPayloadBytes + 1, 'x')).said;
    expect(said).toEqual(silent);
    expect(log()).toContain('more than');
  });

  it.each([[['nobody']], [[]], [['claude-code', '--whatever']]])(
    'started with %j does no harm',
    async (argv) => {
      expect(await start('', argv).said).toEqual(silent);
    },
  );

  it('continues an agent with open todos, and says nothing else on stdout', async () => {
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Write a.txt'));
    const { out, err, code } = await call(stopPayload());
    expect({ err, code }).toEqual({ err: '', code: 0 });
    expect(JSON.parse(out).hookSpecificOutput.additionalContext).toContain(
      '“Write a.txt”',
    );
    expect(out.trimEnd()).not.toContain('\n');
  });

  it('a broken configuration of the user switches us off for the message and is told', async () => {
    mkdirSync(join(home, '.config/untildone'), { recursive: true });
    writeFileSync(
      join(home, '.config/untildone/untildone.json'),
      '{"maxStagnant": "many"}',
    );
    const { out } = await call(promptPayload('Please do it'));
    expect(JSON.parse(out).systemMessage).toContain('maxStagnant');
    await call(createPayload('1', 'Write a.txt'));
    expect(await call(stopPayload())).toEqual(silent);
  });
});

describe('the compiled code that the hook keeps', () => {
  const compiled = () => join(state, 'bin', 'compiled');
  const files = () =>
    readdirSync(compiled(), { recursive: true, encoding: 'utf8' })
      .map((name) => join(compiled(), name))
      .filter((path) => statSync(path).isFile());

  async function continued() {
    const { out, err, code } = await call(stopPayload());
    expect({ err, code }).toEqual({ err: '', code: 0 });
    expect(JSON.parse(out).hookSpecificOutput.additionalContext).toContain(
      '“Write a.txt”',
    );
  }

  beforeEach(async () => {
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Write a.txt'));
  });

  it('is there after the first calls, for what all need and for what few need, and is used', async () => {
    await continued();
    const kept = files().length;
    expect(kept).toBeGreaterThan(2);
    const environment = { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const stop = JSON.stringify({ ...stopPayload(), cwd: project });
    const { err } = await start(stop, ['claude-code'], environment).said;
    expect(err.match(/was accepted/g)).toHaveLength(kept);
  });

  it('is not believed when it is damaged', async () => {
    await continued();
    for (const path of files()) {
      const bytes = readFileSync(path);
      bytes.fill(0x5a, bytes.length >> 1);
      writeFileSync(path, bytes);
    }
    await continued();
  });

  it('is done without where it cannot be kept', async () => {
    rmSync(join(state, 'bin'), { recursive: true });
    writeFileSync(join(state, 'bin'), 'no folder');
    await continued();
  });

  it('does not make the folder of the state, which has to be private', async () => {
    rmSync(state, { recursive: true });
    await call(createPayload('1', 'Write a.txt'));
    expect(statSync(state).mode & 0o777).toBe(0o700);
  });
});

describe('a store that cannot be used', () => {
  it('locked by another process: the tool call goes on after a few seconds, and why is on the record', async () => {
    await call(createPayload('1', 'Write a.txt'));
    const other = new DatabaseSync(join(state, 'untildone.db'));
    other.exec('BEGIN IMMEDIATE');
    const said = await call(createPayload('2', 'Write b.txt'));
    other.exec('ROLLBACK');
    other.close();
    expect(said).toEqual(silent);
    expect(log()).toContain('store-busy');
  }, 15_000);

  it('where nothing can be written: the agent may stop, and the human is told', async () => {
    writeFileSync(join(home, 'file'), 'no directory');
    const environment = { UNTILDONE_HOME: join(home, 'file', 'state') };
    const stop = JSON.stringify({ ...stopPayload(), cwd: project });
    const { out, code } = await start(stop, ['claude-code'], environment).said;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      systemMessage: expect.stringContaining('may stop'),
    });
    const tool = JSON.stringify(createPayload('1', 'A'));
    expect(await start(tool, ['claude-code'], environment).said).toEqual(silent);
  });

  it('damaged: the agent may stop, and why is on the record', async () => {
    mkdirSync(state);
    writeFileSync(
      join(state, 'untildone.db'),
      'this is not a database, and long enough to be looked at'.repeat(50),
    );
    const { out } = await call(stopPayload());
    expect(JSON.parse(out)).toEqual({
      systemMessage: expect.stringContaining('may stop'),
    });
    expect(log()).toMatch(/store-(?:corrupt|unavailable)/);
  });
});

describe('the gate', () => {
  const checks = { made: { command: ['sh', '-c', 'echo NOT-MADE; exit 1'] } };

  it('V1: a failing check refuses the completion, run by a process that outlives the hook', async () => {
    const todoChecks = [{ title: 'Make*', checks: ['made'] }];
    writeFileSync(
      join(project, 'untildone.json'),
      JSON.stringify({ checks, todoChecks }),
    );
    acceptProject(state, project);
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Make it'));
    const { out } = await call(completedPayload('1', 'Make it'));
    expect(JSON.parse(out)).toEqual({
      decision: 'block',
      reason: expect.stringContaining('NOT-MADE'),
    });
  });

  it('without any check, and for a session that nobody knows, it is open', async () => {
    expect(await call(completedPayload('1', 'Make it'))).toEqual(silent);
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Make it'));
    expect(await call(completedPayload('1', 'Make it'))).toEqual(silent);
    expect(existsSync(join(state, 'hook.log'))).toBe(false);
  });
});

describe('V10, P40: what a project’s file asks for', () => {
  const file = () => join(project, 'untildone.json');
  const mark = () => join(home, 'ran');
  const hostile = () => ({ checks: { x: { command: `touch ${mark()}` } }, goal: ['x'] });
  const write = (config: object) => writeFileSync(file(), JSON.stringify(config));
  const second = { prompt_id: 'prompt-2' };
  const told = ({ out }: Said): string => JSON.parse(out).systemMessage ?? '';
  const stopAfterEdit = async (callId: string, promptId = 'prompt-1') => {
    await call(toolPayload('Edit', callId, {}, {}, { prompt_id: promptId }));
    return call(stopPayload({ prompt_id: promptId }));
  };

  it('V10: a cloned repository’s command is not run, and the human is told at the prompt and at the stop', async () => {
    write(hostile());
    const prompt = await call(promptPayload('Tidy up', { prompt_id: 'prompt-1' }));
    expect(told(prompt)).toMatch(
      /untildone\.json .*checks\.x.*They are ignored until you do.*untildone trust/,
    );
    const stop = await stopAfterEdit('w1');
    expect(told(stop)).toContain('They are ignored until you do');
    expect(existsSync(mark())).toBe(false);
  });

  it('V10: one that the agent writes is not run after the human’s next message either', async () => {
    await call(promptPayload('Tidy up', { prompt_id: 'prompt-1' }));
    write(hostile());
    expect(told(await stopAfterEdit('w1'))).toContain('They are ignored until you do');
    expect(told(await call(promptPayload('Thanks, now fix a typo', second)))).toContain(
      'untildone trust',
    );
    await stopAfterEdit('w2', 'prompt-2');
    expect(existsSync(mark())).toBe(false);
  });

  it.each([
    ['switches us off', () => write({ mode: 'off' })],
    ['takes the goal away', () => write({ checks: { never: { command: ['false'] } } })],
    ['is garbage', () => writeFileSync(file(), '{{{')],
    ['is gone', () => rmSync(file())],
  ])(
    'V10: a file that %s weakens nothing: what was accepted stays in force',
    async (_what, damage) => {
      write({ checks: { never: { command: ['false'] } }, goal: ['never'] });
      acceptProject(state, project);
      expect(told(await call(promptPayload('Do it', { prompt_id: 'prompt-1' })))).toBe(
        '',
      );
      damage();
      expect(told(await call(promptPayload('And now?', second)))).toContain(
        'untildone.json',
      );
      const { out } = await stopAfterEdit('w1', 'prompt-2');
      expect(JSON.parse(out).hookSpecificOutput.additionalContext).toContain(
        '“never” of the whole work failed',
      );
    },
    30_000,
  );

  it('an accepted set is not asked about again for another order, other spaces or a harmless setting', async () => {
    write({
      goal: ['a', 'b'],
      checks: { a: { command: ['true'] }, b: { command: ['true'] } },
    });
    acceptProject(state, project);
    const moved = {
      checks: { b: { command: ['true'] }, a: { command: ['true'] } },
      goal: ['b', 'a'],
    };
    writeFileSync(file(), JSON.stringify({ liveView: false, ...moved }, null, 4));
    expect(await call(promptPayload('Do it', { prompt_id: 'prompt-1' }))).toEqual(silent);
  });

  it('a switch in the project’s own settings of the host is ignored, and told', async () => {
    mkdirSync(join(project, '.claude'));
    const env = { UNTILDONE_MODE: 'off', UNTILDONE_HOME: join(project, 'evil') };
    writeFileSync(join(project, '.claude/settings.json'), JSON.stringify({ env }));
    const send = (payload: object) =>
      start(JSON.stringify({ ...payload, cwd: project }), ['claude-code'], {
        ...env,
        XDG_STATE_HOME: home,
      }).said;
    expect(told(await send(promptPayload('Do it')))).toContain(
      'UNTILDONE_MODE, UNTILDONE_HOME: that is ignored',
    );
    await send(createPayload('1', 'Write a.txt'));
    expect(
      JSON.parse((await send(stopPayload())).out).hookSpecificOutput.additionalContext,
    ).toContain('Write a');
    expect(existsSync(join(project, 'evil'))).toBe(false);
    expect(existsSync(join(home, 'untildone/untildone.db'))).toBe(true);
  });

  it.each([
    ['padded beyond what is read', (text: string) => text + ' '.repeat(1_100_000)],
    ['no JSON to us', (text: string) => `${text}//`],
  ])(
    'V10: settings of the host that are %s may set any of our variables',
    (_what, damage) => {
      mkdirSync(join(project, '.claude'));
      const env = { UNTILDONE_MODE: 'off' };
      writeFileSync(
        join(project, '.claude/settings.json'),
        damage(JSON.stringify({ env })),
      );
      // As `init` wrote it: where our own program lies, we keep our things.
      cpSync(join(bundles, 'plugin/programs'), join(state, 'bin/here'), {
        recursive: true,
      });
      chmodSync(state, 0o700);
      const ours = { PATH: process.env['PATH'], UNTILDONE_HOME: state, ...env };
      const { stdout } = spawnSync(
        process.execPath,
        [join(state, 'bin/here/hook.js'), 'claude-code'],
        {
          env: ours,
          input: JSON.stringify({ ...promptPayload('Do it'), cwd: project }),
          encoding: 'utf8',
        },
      );
      expect(JSON.parse(stdout).systemMessage).toMatch(
        /cannot be read and may set any variable, such as PATH, UNTILDONE_MODE:/u,
      );
      expect(existsSync(join(state, 'untildone.db'))).toBe(true);
    },
  );

  it('C2: off means off: nobody is told either', async () => {
    write(hostile());
    const { said } = start(
      JSON.stringify({
        ...promptPayload('Do it', { prompt_id: 'prompt-1' }),
        cwd: project,
      }),
      ['claude-code'],
      {
        UNTILDONE_MODE: 'off',
      },
    );
    expect(await said).toEqual(silent);
  });
});

describe('G4: a message of the human from beneath an agent', () => {
  const shellOf = (id: string) => ({
    AI_AGENT: 'claude-code_2-1-325_agent',
    CLAUDE_CODE_SESSION_ID: id,
  });
  const hooks = {
    AI_AGENT: 'claude-code_2-1-325_harness',
    CLAUDE_CODE_SESSION_ID: sessionId,
  };
  const bare = () => `env -i HOME='${home}' UNTILDONE_HOME='${state}' "$0" "$@"`;

  /** The shell stays between: it has more to do after the hook. */
  async function saidBeneath(
    environment: object,
    script: string,
    isMarked = false,
  ): Promise<Said> {
    const words = [
      '/bin/sh',
      '-c',
      `${script}; exit 0`,
      process.execPath,
      file,
      'claude-code',
    ];
    const own = {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      UNTILDONE_HOME: state,
      ...environment,
    };
    const place = { directory: project, environment: own };
    const [program = '', ...rest] = isMarked ? markedCommand(words, place) : words;
    const input = JSON.stringify(
      promptPayload('go on', { prompt_id: 'forged', cwd: project }),
    );
    const { stdout, stderr, status } = spawnSync(program, rest, {
      env: own,
      input,
      encoding: 'utf8',
    });
    return { out: stdout, err: stderr, code: status };
  }

  const latchOf = () =>
    withStore(async (store) => (await store.state(sessionId))?.latch ?? null);

  async function stopped() {
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Make it'));
    await call(promptPayload('stop'));
    await call(stopPayload());
    expect(await latchOf()).not.toBeNull();
  }

  type Beneath = readonly [
    what: string,
    environment: object,
    script: () => string,
    isMarked: boolean,
  ];

  it.each<Beneath>([
    [
      'a command of the session’s own agent',
      shellOf(sessionId),
      () => '"$0" "$@"',
      false,
    ],
    ['the same with an empty environment', shellOf(sessionId), bare, false],
    [
      'the same in the name of the hooks',
      shellOf(sessionId),
      () => `AI_AGENT=${hooks.AI_AGENT} "$0" "$@"`,
      false,
    ],
    [
      'a command of an agent in another session',
      shellOf('other'),
      () => '"$0" "$@"',
      false,
    ],
    ['a session of ours', { UNTILDONE_SESSION: 's' }, () => '"$0" "$@"', false],
    [
      'a session of ours, with an empty environment and a fork',
      {},
      () => `setsid -w ${bare()}`,
      true,
    ],
  ])('is refused and told: %s', async (_what, environment, script, isMarked) => {
    await stopped();
    const { out, code } = await saidBeneath(environment, script(), isMarked);
    expect(JSON.parse(out).systemMessage).toContain("does not count as a human's");
    expect(code).toBe(0);
    expect(log()).toContain('not-human');
    await call(stopPayload({ prompt_id: 'forged' }));
    expect(await latchOf()).not.toBeNull();
  });

  it.each([
    ['as the host starts its hooks', hooks, () => '"$0" "$@"'],
    ['in a host that another agent started', shellOf('other'), bare],
  ])('is heard %s', async (_what, environment, script) => {
    await stopped();
    expect(await saidBeneath(environment, script())).toEqual(silent);
    await call(stopPayload({ prompt_id: 'forged' }));
    expect(await latchOf()).toBeNull();
  });
});

describe('a stop hook that failed open', () => {
  const notice = (promptId: string) =>
    promptPayload(notification('job'), { prompt_id: promptId });

  it('G4: is no interrupt to what follows, and a later one is still seen', async () => {
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Make it'));
    renameSync(state, `${state}-away`);
    mkdirSync(state);
    writeFileSync(
      join(state, 'untildone.db'),
      'This is no database, and long enough to be taken for one. '.repeat(90),
    );
    expect((await call(stopPayload())).out).toContain('could not decide');
    renameSync(join(state, 'hook.log'), join(`${state}-away`, 'hook.log'));
    rmSync(state, { recursive: true });
    renameSync(`${state}-away`, state);
    await call(notice('p2'));
    expect((await call(stopPayload({ prompt_id: 'p2' }))).out).toContain(
      'TODO CONTINUATION',
    );
    // The continuation was interrupted: nothing failed there.
    await call(notice('p3'));
    expect((await call(stopPayload({ prompt_id: 'p3' }))).out).not.toContain(
      'TODO CONTINUATION',
    );
  });
});

describe('a store that an unpublished version made', () => {
  const path = () => join(state, 'untildone.db');

  it.each([
    ['claude-code', 'UserPromptSubmit', 'Stop'],
    ['codex', 'UserPromptSubmit', 'Stop'],
    ['gemini-cli', 'BeforeAgent', 'AfterAgent'],
    ['qwen-code', 'UserPromptSubmit', 'Stop'],
    ['copilot-cli', 'UserPromptSubmit', 'Stop'],
  ])(
    'V7: %s shows at the human’s message and at a stop where it is, lets the agent stop, and changes nothing in it',
    async (host, prompt, stop) => {
      await makeOlderStore(path());
      const before = readFileSync(path());
      for (const [hook, result] of [
        [prompt, 'cannot follow this session, so the agent may stop whenever it likes.'],
        [stop, 'could not decide, so the agent may stop.'],
      ]) {
        const words = { prompt: 'Please do it', submitted_prompt: 'Please do it' };
        const payload = { ...stopPayload(words), cwd: project };
        const input = JSON.stringify({ ...payload, hook_event_name: hook });
        const { out, err, code } = await start(input, [host]).said;
        expect({ err, code }).toEqual({ err: '', code: 0 });
        const answers = out.trim().split('\n');
        const shown = Object.assign({}, ...answers.map((line) => JSON.parse(line)));
        expect(shown).not.toHaveProperty('decision');
        const { systemMessage = shown.message } = shown;
        expect(systemMessage).toContain(`untildone: ${result} The store was`);
        expect(systemMessage).toContain(olderStoreSentence(path()));
      }
      expect(readFileSync(path()).equals(before)).toBe(true);
    },
  );

  it('V7: other hooks say nothing to the human; the log does', async () => {
    await makeOlderStore(path());
    expect(await call(createPayload('1', 'Make it'))).toEqual(silent);
    expect(log()).toContain(olderStoreSentence(path()));
  });
});

describe('many hooks at once', () => {
  it('fifty parallel updates leave the exact state', async () => {
    const count = 50;
    const items = Array.from({ length: count }, (_, index) => {
      const hostKey = `task-${index + 1}`;
      return { id: todoIdOf(sessionId, hostKey), title: `Todo ${index + 1}`, hostKey };
    });
    const created: Event = {
      type: 'todos-created',
      id: 'plan',
      sessionId,
      at: 1,
      actor: 'human',
      items,
    };
    mkdirSync(state);
    await withStore((store) => store.append([created]));
    const wanted = (index: number) =>
      (['completed', 'in_progress', 'pending'] as const)[index % 3] ?? 'pending';
    const answers = await Promise.all(
      items.map((_, index) =>
        call(updatePayload(String(index + 1), wanted(index), `call-${index}`)),
      ),
    );
    expect(answers.filter(({ out }) => out !== '{}\n')).toEqual([]);
    await call(stopPayload());
    const statuses = await withStore((store) =>
      (async () =>
        (await store.todos({ planId: sessionId })).map(({ status }) => status))(),
    );
    expect(statuses).toEqual(items.map((_, index) => wanted(index)));
  }, 60_000);
});

describe('a stop hook that the host breaks off', () => {
  it('P19: SIGTERM before its deadline is a human who interrupted: latched, and answered with nothing', async () => {
    writeFileSync(
      join(project, 'untildone.json'),
      JSON.stringify({ checks: { slow: { command: ['sleep', '4'] } }, goal: ['slow'] }),
    );
    acceptProject(state, project);
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'A'));
    await call(updatePayload('1', 'completed', 'u1'));
    const { child, said } = start(JSON.stringify({ ...stopPayload(), cwd: project }));
    const decided = () =>
      withStore((store) =>
        (async () => (await store.decisions(sessionId, 1)).length > 0)(),
      );
    while (!(await decided())) await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill('SIGTERM');
    expect(await said).toEqual(silent);
    const session = await withStore((store) => store.state(sessionId));
    expect(session?.latch?.how).toBe('interrupted');
  }, 30_000);
});
