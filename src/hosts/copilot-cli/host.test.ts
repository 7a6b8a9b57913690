// Copilot CLI's own list, read from a database as the host writes it; its transcript; and
// how our answers look to it.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  promptPayload,
  sessionId,
  sqlPayload,
  stopPayload,
  toolPayload,
} from '../../../test/support/copilot-payloads.ts';
import { createHookCase } from '../../../test/support/hook-case.ts';
import { claudeCode } from '../claude-code/host.ts';
import { copilotCli, readTodos, readUsage } from './host.ts';

/** A database as the host makes it. */
const schema = `CREATE TABLE todos (id TEXT PRIMARY KEY, title TEXT NOT NULL, description TEXT,
  status TEXT DEFAULT 'pending' CHECK(status IN ('pending', 'in_progress', 'done', 'blocked')),
  created_at TEXT DEFAULT (datetime('now')), updated_at TEXT DEFAULT (datetime('now')))`;

let home: string;
let folder: string;
const at = (name: string) => join(folder, name);

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'untildone-copilot-'));
  folder = join(home, '.copilot', 'session-state', sessionId);
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});

function write(...statements: readonly string[]): void {
  const database = new DatabaseSync(at('session.db'));
  for (const statement of statements) database.exec(statement);
  database.close();
}

describe('the list of Copilot CLI', () => {
  it('G5: is read from its table, in the order in which it was written, with keys that last', async () => {
    write(
      schema,
      `INSERT INTO todos (id, title, description, status) VALUES
      ('b', 'Second', 'Second', 'done'), ('a', 'First', 'with detail', 'in_progress'), ('o''dd id', 'Odd', NULL, 'blocked')`,
    );
    expect(await readTodos(at('session.db'))).toEqual([
      { key: 'todo-b', title: 'Second', status: 'done', context: null },
      { key: 'todo-a', title: 'First', status: 'in_progress', context: 'with detail' },
      {
        key: expect.stringMatching(/^todo-[0-9a-f]{32}$/),
        title: 'Odd',
        status: 'blocked',
        context: null,
      },
    ]);
  });

  it('is not there, or no table, or a query that may never end: null, which is not the same as empty', async () => {
    expect(await readTodos(at('session.db'))).toBeNull();
    write(
      'CREATE VIEW todos AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x AS id FROM n',
    );
    expect(await readTodos(at('session.db'))).toBeNull();
    write('DROP VIEW todos', schema);
    expect(await readTodos(at('session.db'))).toEqual([]);
    writeFileSync(at('broken.db'), 'this is no database '.repeat(100));
    expect(await readTodos(at('broken.db'))).toBeNull();
    execFileSync('mkfifo', [at('pipe.db')]);
    expect(await readTodos(at('pipe.db'))).toBeNull();
    expect(await readTodos(folder)).toBeNull();
  });

  it('while somebody writes it, is read as it was or not at all, and nobody is held up for long', async () => {
    write(schema, "INSERT INTO todos (id, title) VALUES ('a', 'First')");
    const database = new DatabaseSync(at('session.db'));
    database.exec(
      "BEGIN IMMEDIATE; INSERT INTO todos (id, title) VALUES ('b', 'Second')",
    );
    expect(await readTodos(at('session.db'))).toHaveLength(1);
    database.exec('COMMIT; PRAGMA journal_mode = WAL; BEGIN EXCLUSIVE');
    expect((await readTodos(at('session.db')))?.length ?? 2).toBe(2);
    database.close();
  });

  it.each([
    [
      'V4: is read after each SQL call, so that work between two completions is seen',
      true,
      3,
    ],
    ['V4: read only at the stop, all were completed at once', false, 1],
  ])('%s', async (_name, isTold, times) => {
    const hooks = createHookCase({ host: copilotCli, environment: { HOME: home } });
    const changes = async (statement: string) => {
      write(statement);
      if (isTold) await hooks.send(sqlPayload(statement));
    };
    await hooks.send(promptPayload('Do it.'));
    write(schema);
    await changes(
      "INSERT INTO todos (id, title) VALUES ('a', 'First'), ('b', 'Second'), ('c', 'Third')",
    );
    for (const id of ['a', 'b', 'c']) {
      await hooks.send(toolPayload('Write', { path: id }, 'Created file'));
      await changes(`UPDATE todos SET status = 'done' WHERE id = '${id}'`);
    }
    await hooks.send(stopPayload({ transcript_path: at('events.jsonl') }));
    const todos = await hooks.store.todos({ planId: sessionId });
    expect(new Set(todos.map(({ completedAt }) => completedAt)).size).toBe(times);
  });

  it('T2: a row that is gone has left the list, and one that comes and goes is each time another change', async () => {
    const hooks = createHookCase({ host: copilotCli, environment: { HOME: home } });
    const changes = async (statement: string) => {
      write(statement);
      await hooks.send(sqlPayload(statement));
    };
    await hooks.send(promptPayload('Do it.'));
    write(schema);
    await changes("INSERT INTO todos (id, title) VALUES ('a', 'First'), ('b', 'Second')");
    for (const status of ['done', 'pending', 'done'])
      await changes(`UPDATE todos SET status = '${status}' WHERE id = 'a'`);
    await changes("DELETE FROM todos WHERE id = 'b'");
    const answer = await hooks.send(stopPayload({ transcript_path: at('events.jsonl') }));
    expect(answer).toMatchObject({
      reason: expect.stringMatching(/Second.*(left|gone|missing|dropped)/su),
    });
    const [first] = await hooks.store.todos({ planId: sessionId });
    expect(first?.status).toBe('completed');
  });
});

describe('its cap', () => {
  it('V8: after eight continuations the record says exhausted, and the human what to type', async () => {
    const hooks = createHookCase({ host: copilotCli, environment: { HOME: home } });
    await hooks.send(promptPayload('Do it.'));
    write(schema);
    const answers: object[] = [];
    for (let index = 1; index <= 9; index += 1) {
      write(`INSERT INTO todos (id, title) VALUES ('t${index}', 'Todo ${index}')`);
      if (index > 1) write(`UPDATE todos SET status = 'done' WHERE id = 't${index - 1}'`);
      await hooks.send(sqlPayload('…'));
      await hooks.send(toolPayload('Write', { path: index }, 'Created file'));
      answers.push(
        await hooks.send(stopPayload({ transcript_path: at('events.jsonl') })),
      );
    }
    expect(answers.slice(0, 8).every((answer) => 'reason' in answer)).toBe(true);
    expect(answers[7]).toMatchObject({
      message: expect.stringContaining('once more. The host then ends'),
    });
    expect(answers[8]).toEqual({
      type: 'progress',
      message: expect.stringContaining(
        `1 todos are open. To go on: copilot --resume=${sessionId} -p "go on"`,
      ),
    });
    expect((await hooks.store.decisions(sessionId, 1))[0]?.decision).toMatchObject({
      reason: 'host-cap',
      outcome: 'exhausted',
      sentence: expect.stringContaining('untildone run --with copilot-cli'),
    });
    await hooks.send(promptPayload('go on'));
    expect(
      await hooks.send(stopPayload({ transcript_path: at('events.jsonl') })),
    ).toHaveProperty('reason');
  });
});

describe('its transcript', () => {
  const line = (type: string, data: object, id = type) =>
    appendFileSync(
      at('events.jsonl'),
      `${JSON.stringify({ type, data, id, timestamp: new Date(5000).toISOString() })}\n`,
    );

  it('P26: tells that the agent only plans, which the payload does not', () => {
    const canWrite = () => {
      const moment = { at: 1, environment: {}, toolPrefix: null };
      const read = copilotCli.translate(
        stopPayload({ transcript_path: at('events.jsonl') }),
        moment,
      );
      return read.ok ? read.call.agent.canWrite : null;
    };
    expect(canWrite()).toBe('yes');
    line('session.mode_changed', { previousMode: 'interactive', newMode: 'plan' });
    expect(canWrite()).toBe('no');
    line('session.mode_changed', { previousMode: 'plan', newMode: 'interactive' });
    expect(canWrite()).toBe('yes');
  });

  it('G8: tells what each call of the model used, since the human spoke', () => {
    line(
      'session.usage_record',
      { usage: { inputTokens: 8404, outputTokens: 46, cacheReadTokens: 0 } },
      'one',
    );
    line(
      'session.usage_record',
      { usage: { inputTokens: 8517, outputTokens: 21, cacheReadTokens: 8404 } },
      'two',
    );
    expect(readUsage(at('events.jsonl'), 5000)).toEqual([
      { key: 'one', inputTokens: 8404, outputTokens: 46 },
      { key: 'two', inputTokens: 8517, outputTokens: 21 },
    ]);
    expect(readUsage(at('events.jsonl'), 6000)).toEqual([]);
  });
});

describe('in the host’s words', () => {
  it('a continuation is a reason at the stop and context elsewhere; the human is told in a line before', () => {
    const reason = { decision: 'block', reason: 'Go on.' };
    const told = { type: 'progress', message: 'untildone: once more.' };
    expect(copilotCli.render({ text: 'Go on.', message: null }, 'Stop')).toEqual([
      reason,
    ]);
    expect(copilotCli.render({ text: 'Go on.', message: 'once more.' }, 'Stop')).toEqual([
      told,
      reason,
    ]);
    expect(copilotCli.render({ text: 'Your plan' }, 'SessionStart')).toEqual([
      { additionalContext: 'Your plan' },
    ]);
    expect(copilotCli.render({ message: 'once more.' }, 'Stop')).toEqual([told, {}]);
  });

  it('V9: commands of its agents are no human; hooks are not such commands', () => {
    const of = (variables: Record<string, string>) =>
      copilotCli.agentCommandOf((name) => variables[name]);
    expect(of({ COPILOT_CLI: '1', COPILOT_AGENT_SESSION_ID: sessionId })).toEqual({
      sessionId,
    });
    expect(
      of({ COPILOT_CLI: '1', COPILOT_HOOK_DIR: '/home/me/.copilot/hooks' }),
    ).toBeNull();
  });

  it('C4: the hooks of Claude Code, which it runs too, leave its sessions alone', () => {
    const moment = {
      at: 1,
      environment: { COPILOT_PROJECT_DIR: '/nowhere/project' },
      toolPrefix: null,
    };
    expect(claudeCode.translate(stopPayload(), moment)).toEqual({
      ok: false,
      sentence: null,
    });
  });
});
