import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { editStore, type StoreEditor } from '../../test/evidence/edit-store.ts';
import { type LedgerEntry, linkEntry } from '../core/ledger.ts';
import { defaultSettings } from '../core/settings.ts';
import { createScriptedHost } from '../simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../simulated/simulated-clock.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Checker } from './host.ts';
import { sha256 } from './system.ts';

/**
 * Every check passes, and whatever `meanwhile` does happens just before the turn is
 * settled.
 */
async function finishedWork(meanwhile: Edit, goalChecks: readonly string[] = ['unit']) {
  const clock = createSimulatedClock();
  const directory = mkdtempSync(join(tmpdir(), 'untildone-damage-'));
  const path = join(directory, 'store.db');
  const store = await openSqliteStore({ path });
  onTestFinished(async () => {
    await store.close();
    rmSync(directory, { recursive: true });
  });
  const edit = (planId: string): void => {
    const editor = editStore(path);
    meanwhile(editor, planId);
    editor.close();
  };
  const checker: Checker = {
    async run(session, { checks, stop }, report) {
      const base = (name: string) => ({
        id: `${name} ${stop}`,
        sessionId: session.id,
        at: clock.now(),
      });
      for (const { todoId, check } of checks) {
        const seen = {
          result: 'passed',
          flaky: false,
          tail: null,
          fingerprint: 'tree',
        } as const;
        const asked = { todoId, check, final: stop !== null, writes: null };
        await report({
          ...base(`${todoId} ${check}`),
          type: 'check-finished',
          ...asked,
          ...seen,
        });
      }
      if (stop === null) return;
      edit(session.planId);
      await report({ ...base('end'), type: 'final-run-ended', stop, edited: [] });
    },
  };
  const host = createScriptedHost({
    mode: 'asked',
    store,
    clock,
    identifiers: createSequentialIdentifiers(),
    hash: sha256,
    policy: () => ({ settings: defaultSettings, goalChecks }),
    checker,
  });
  await host.open();
  await host.says('work');
  const [first = ''] = await host.plans('parse', 'test');
  await host.works();
  for (const { id } of await store.todos({ planId: host.sessionId }))
    await host.completes(id);
  if (goalChecks.length === 0) edit(host.sessionId);
  const handled = await host.stops();
  const last = (await handled.checks) ?? handled;
  return {
    outcome: last.state.settled?.outcome,
    sentence: last.decision?.sentence,
    first,
  };
}

type Edit = (editor: StoreEditor, planId: string) => void;

const change =
  (changes: (todo: Record<string, unknown>) => Record<string, unknown>): Edit =>
  (editor) => {
    let isFirst = true;
    const first = () => {
      const fits = isFirst;
      isFirst = false;
      return fits;
    };
    editor.change('todos', first, changes);
  };

const forgeTodo: Edit = (editor) =>
  editor.run(
    `INSERT INTO todos (id, plan_id, session_id, turn_id, position, status, body)
      SELECT 'forged', plan_id, session_id, turn_id, 99, status, replace(body, id, 'forged') FROM todos LIMIT 1`,
  );

function lastEntry(editor: StoreEditor): LedgerEntry {
  const [row] = editor.all('SELECT body FROM ledger ORDER BY sequence DESC LIMIT 1');
  return JSON.parse(String(row?.['body'])) as LedgerEntry;
}

const addEntry = (editor: StoreEditor, entry: LedgerEntry): void =>
  editor.run(
    'INSERT INTO ledger (plan_id, sequence, body) VALUES (?, ?, ?)',
    ...[entry.planId, entry.sequence, JSON.stringify(entry)],
  );

describe('V4: a plan that was changed behind its ledger', () => {
  it('is done as long as nobody touches it', async () => {
    expect((await finishedWork(() => {})).outcome).toBe('done');
  });

  it.each<[string, Edit, string]>([
    [
      'a status',
      change((todo) => ({ ...todo, status: 'cancelled', reason: 'no' })),
      'is not as its ledger says',
    ],
    [
      'a verification',
      change((todo) => ({ ...todo, verification: 'passed' })),
      'is not as its ledger says',
    ],
    [
      'the checks of a todo',
      change((todo) => ({ ...todo, checks: ['easy'] })),
      'is not as its ledger says',
    ],
    [
      'a row that moved away',
      change((todo) => ({ ...todo, planId: 'elsewhere' })),
      'its ledger knows 2 todos, and there are 1',
    ],
    ['a row that nobody made', forgeTodo, 'its ledger knows 2 todos, and there are 3'],
    [
      'a row that nobody made, with an entry that fits the chain',
      (editor, planId) => {
        forgeTodo(editor, planId);
        const last = lastEntry(editor);
        const detail = { state: last.detail['state'] ?? null };
        const draft = { ...last, change: 'created', todoId: 'forged', detail } as const;
        addEntry(editor, linkEntry(draft, last, sha256));
      },
      'its session is not as it was saved',
    ],
    [
      'the session itself',
      (editor) =>
        editor.change(
          'sessions',
          () => true,
          (body) => ({ ...body, epoch: Number(body['epoch']) + 1 }),
        ),
      'its session is not as it was saved',
    ],
    [
      'an entry of the ledger',
      (editor) => {
        const last = lastEntry(editor);
        addEntry(editor, {
          ...last,
          sequence: last.sequence + 1,
          previousHash: last.hash,
        });
      },
      'was changed after it was written',
    ],
  ])('%s: is never done, and the reason is told', async (_what, edit, sentence) => {
    const ended = await finishedWork(edit);
    expect(ended.outcome).toBe('claimed');
    expect(ended.sentence).toContain('The record of the plan was changed from outside');
    expect(ended.sentence).toContain(sentence);
  });

  it('one that was forged and then proved is found before it is claimed too', async () => {
    const ended = await finishedWork(forgeTodo, []);
    expect(ended.outcome).toBe('claimed');
    expect(ended.sentence).toContain('The record of the plan was changed from outside');
  });
});
