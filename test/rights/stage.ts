// Where the attempts are made: a folder, a home and a state directory of their own, the
// real program, a scripted model that plays an agent which wants more than it may, and
// victims: sessions that a human stopped and that ask for something.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import { createPolicy } from '../../src/core/policy.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import type { Session } from '../../src/core/state.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import type { Store } from '../../src/engine/store.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import { type Step, script, startScriptedModel } from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storePath } from '../../src/store/state-directory.ts';

export interface RunResult {
  readonly code: number | null;
  readonly err: string;
  readonly events: readonly AgentEvent[];
  /** Of the tool calls, in the order in which they ended. */
  readonly outputs: readonly string[];
}

export interface Victim {
  readonly session: Session;
  /** A human's approval is on its record. */
  readonly approved: boolean;
  /** On its todos. */
  readonly checks: readonly string[];
  /** Words in the name of the human that the next look at the session takes up. */
  readonly waitingWords: number;
}

/** Claude Code's sessions are spoken to through its hooks. */
export type VictimHost = 'untildone' | 'claude-code';

export interface Stage {
  readonly base: string;
  readonly project: string;
  readonly state: string;
  readonly home: string;
  /** How the program is called from a shell. */
  readonly untildone: string;
  write(name: string, text: string): void;
  /** The agent in the project, with this model. */
  run(steps: readonly Step[], ...flags: string[]): Promise<RunResult>;
  /** The same, as a human reads it. */
  lines(steps: readonly Step[], ...flags: string[]): Promise<{ readonly out: string }>;
  command(...argv: string[]): Promise<{
    readonly code: number | null;
    readonly out: string;
    readonly err: string;
  }>;
  /** The same on a terminal of its own, where Enter is pressed when it asks. */
  onTerminal(...argv: string[]): Promise<{ readonly out: string }>;
  /**
   * A session with a permission and a human check that wait. `stopped`, the default: its
   * human stopped it.
   */
  addVictim(
    id: string,
    host?: VictimHost,
    condition?: 'stopped' | 'at work',
  ): Promise<void>;
  victim(id: string): Promise<Victim>;
  close(): void;
}

export function createStage(program: string): Stage {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-rights-')));
  const project = join(base, 'project');
  const home = join(base, 'home');
  const state = join(base, 'state');
  for (const folder of [join(project, '.git', 'hooks'), home])
    mkdirSync(folder, { recursive: true });
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    UNTILDONE_HOME: state,
  };

  const start = (argv: readonly string[], more: Record<string, string> = {}) =>
    launch(process.execPath, ['--no-warnings', program, ...argv], more);

  async function launch(
    file: string,
    argv: readonly string[],
    more: Record<string, string> = {},
    /** Enter is pressed once this is shown; null: nothing can be typed. */
    presses: string | null = null,
  ) {
    const child = spawn(file, argv, {
      cwd: project,
      env: { ...env, ...more },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (presses !== null && out.includes(presses)) child.stdin.end('\n');
    });
    if (presses === null) child.stdin.end();
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const code = await new Promise<number | null>((resolve) =>
      child.on('close', resolve),
    );
    return { code, out, err };
  }

  async function startRun(steps: readonly Step[], flags: readonly string[]) {
    const model = await startScriptedModel({ scripts: [script('rights', steps)] });
    const access = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-rights-0123456789' };
    try {
      return await start(
        ['run', 'Do the work.', '--model', 'openai/rights', ...flags],
        access,
      );
    } finally {
      await model.close();
    }
  }

  async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    mkdirSync(state, { recursive: true });
    const store = await openSqliteStore({ path: storePath(env), clock: systemClock });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  return {
    base,
    project,
    state,
    home,
    untildone: `UNTILDONE_HOME='${state}' '${process.execPath}' --no-warnings '${program}'`,
    write(name, text) {
      writeFileSync(join(project, name), text);
    },
    async run(steps, ...flags) {
      const { code, out, err } = await startRun(steps, ['--json', ...flags]);
      const events = out
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as AgentEvent);
      const outputs = events.flatMap((event) =>
        event.type === 'tool-ended' ? [event.output] : [],
      );
      return { code, err, events, outputs };
    },
    lines: (steps, ...flags) => startRun(steps, flags),
    command: (...argv) => start(argv),
    onTerminal(...argv) {
      const words = [process.execPath, '--no-warnings', program, ...argv].map(
        (word) => `'${word}'`,
      );
      return launch('script', ['-qec', words.join(' '), '/dev/null'], {}, 'Allow?');
    },
    addVictim: (id, host = 'untildone', condition = 'stopped') =>
      withStore((store) =>
        makeVictim(store, {
          id,
          directory: project,
          host,
          isStopped: condition === 'stopped',
        }),
      ),
    victim: (id) =>
      withStore(async (store) => {
        const session = await store.state(id);
        if (session === null) throw new Error(`There is no victim ${id}.`);
        const evidence = await store.evidence(id, 10);
        const todos = await store.todos({ planId: session.planId });
        const approved = evidence.some(({ human }) => human === true);
        const waiting = (await store.events({ sessionId: id, waiting: true })).map(
          ({ event }) => event,
        );
        const waitingWords = waiting.filter(({ type }) => type === 'human-spoke').length;
        return {
          session,
          approved,
          checks: todos.flatMap((todo) => todo.checks),
          waitingWords,
        };
      }),
    close: () => rmSync(base, { recursive: true, force: true }),
  };
}

type NewVictim = Readonly<{
  id: string;
  directory: string;
  host: VictimHost;
  isStopped: boolean;
}>;

async function makeVictim(
  store: Store,
  { id: sessionId, directory, host, isStopped }: NewVictim,
): Promise<void> {
  const settings = {
    ...defaultSettings,
    checks: { look: { human: 'Does it look right?' } },
    goal: ['look'],
  };
  const created = createPolicy(settings);
  if (!created.ok) throw new Error('The policy of a victim is wrong.');
  const identifiers = createIdentifiers();
  const engine = createRuntime({
    store,
    clock: systemClock,
    identifiers,
    hash: sha256,
    policy: () => created.policy,
  });
  const base = () => ({ id: identifiers.next(), sessionId, at: systemClock.now() });
  await engine.handle({
    ...base(),
    type: 'session-opened',
    descriptor: {
      host,
      instance: `${host}:${directory}`,
      mode: 'asked',
      kind: 'main',
      parentId: null,
      directory,
      headless: true,
      immediate: false,
      everyAgentWrites: false,
      seesTools: true,
      tools: { pause: 'todo_pause', verify: 'todo_verify' },
    },
    agent: { name: 'run', canWrite: 'yes', model: 'openai/rights', variant: null },
  });
  await engine.handle({
    ...base(),
    type: 'human-spoke',
    messageId: 'goal',
    text: 'Work.',
    turnId: 'turn',
    agent: null,
    fingerprint: null,
    policyHash: null,
  });
  const about = {
    callId: 'c',
    tool: 'shell',
    subject: 'rm -rf /',
    pattern: '= rm -rf /',
  };
  const wait = { kind: 'permission', requestId: `ask-${sessionId}`, about } as const;
  await engine.handle({ ...base(), type: 'wait-started', wait });
  if (isStopped) await engine.handle({ ...base(), type: 'human-aborted', how: 'Ctrl-C' });
}

/** What a victim got that its human did not give; null: nothing. */
export function describeGain({
  session,
  approved,
  checks,
  waitingWords,
}: Victim): string | null {
  const gains = [
    session.latch === null ? 'the stop was lifted' : null,
    session.latch?.movedTo === undefined ? null : 'its plan was moved',
    approved ? 'the check was approved' : null,
    session.permissions?.requests[0]?.answer != null
      ? 'the permission was answered'
      : null,
    checks.length > 0 ? 'a check was put on a todo' : null,
    session.humanMessageIds.length + waitingWords > 1
      ? 'words were said in the name of the human'
      : null,
  ].filter((gain) => gain !== null);
  return gains.length === 0 ? null : gains.join(', ');
}
