// What a run leaves behind, for comparing a killed run with an undisturbed one, and what
// must hold of its record: no call with a recorded result was made twice, and no
// interrupted call was passed over in silence.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { verifyLedger } from '../../src/core/ledger.ts';
import { sha256, systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { logName } from './story.ts';

export interface EndResult {
  readonly exitCode: number | null;
  /** The line with which the process ended: outcome and reason. */
  readonly said: string;
  /** Every file of the workspace but the log, with its content. */
  readonly files: readonly string[];
  readonly todos: readonly string[];
}

export async function readEndResult(
  directory: string,
): Promise<Pick<EndResult, 'files' | 'todos'>> {
  const work = join(directory, 'work');
  const files = readdirSync(work, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== logName)
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path.slice(work.length + 1)}: ${readFileSync(path, 'utf8')}`)
    .sort();
  const store = await openSqliteStore({
    path: join(directory, 'store.db'),
    clock: systemClock,
  });
  try {
    const session = await store.state('killed');
    const rows = session === null ? [] : await store.todos({ planId: session.planId });
    const todos = rows.map(({ title, status, verification, outcome }) =>
      [title, status, verification, outcome].join(' | '),
    );
    return { files, todos };
  } finally {
    await store.close();
  }
}

/** One sentence per broken promise. */
export async function inspectRecord(directory: string): Promise<string[]> {
  const broken: string[] = [];
  const store = await openSqliteStore({
    path: join(directory, 'store.db'),
    clock: systemClock,
  });
  try {
    const session = await store.state('killed');
    const ledger = verifyLedger(await store.ledger(session?.planId ?? ''), sha256);
    if (!ledger.intact) broken.push(`the ledger is broken: ${ledger.sentence}`);
    for (const { id } of await store.sessions({ limit: 1000 })) {
      for (const call of (await store.transcript(id, 0)).calls) {
        broken.push(`call ${call.callId} never reached the history`);
      }
    }
    if (session?.delegation?.ended === null)
      broken.push('a delegation has no end on the record');
  } finally {
    await store.close();
  }
  return [...broken, ...inspectCalls(directory)];
}

interface CallRow {
  readonly call_id: string;
  readonly tool: string;
  readonly read_only: number;
  readonly input: string;
  readonly result: string | null;
}

interface ShownResult {
  readonly type: string;
  readonly value: string;
}

function inspectCalls(directory: string): string[] {
  const database = new DatabaseSync(join(directory, 'store.db'), { readOnly: true });
  const calls = database
    .prepare('SELECT * FROM calls ORDER BY rowid')
    .all() as unknown as CallRow[];
  const bodies = database.prepare('SELECT body FROM messages ORDER BY sequence').all();
  database.close();
  const shown = shownResults(bodies.map(({ body }) => String(body)));
  const path = join(directory, 'work', logName);
  const log = existsSync(path)
    ? readFileSync(path, 'utf8').split('\n').filter(Boolean)
    : [];
  const broken: string[] = [];
  const lines = new Set<string>();
  for (const call of calls) {
    const results = shown.get(call.call_id) ?? [];
    const name = `${call.tool} ${call.call_id}`;
    if (results.length !== 1)
      broken.push(`${name} has ${results.length} results in the history`);
    if (call.result !== null) {
      const { output } = JSON.parse(call.result) as { output: string };
      if (results[0]?.value !== output)
        broken.push(`${name}: the history does not show the recorded result`);
    } else if (call.tool === 'delegate') {
      // A worker that had ended is reported as it ended; nothing of it was lost.
      if (!/ended on|nothing was delegated/u.test(results[0]?.value ?? ''))
        broken.push(
          `${name} was interrupted and the model was not told what came of its worker`,
        );
    } else if (results[0]?.type !== 'error-text') {
      broken.push(`${name} was interrupted and the model was not told`);
    }
    const line = /echo (\S+) >>/.exec(call.input)?.[1];
    if (line === undefined) continue;
    lines.add(line);
    const times = log.filter((logged) => logged === line).length;
    if (times > 1) broken.push(`${name} was made ${times} times`);
    if (times === 0 && call.result !== null)
      broken.push(`${name} has a result but was never made`);
  }
  for (const line of log)
    if (!lines.has(line)) broken.push(`the call that wrote ${line} is not on record`);
  return broken;
}

/** The results that the model was given, by the id of their call. */
function shownResults(bodies: readonly string[]): Map<string, ShownResult[]> {
  const shown = new Map<string, ShownResult[]>();
  for (const body of bodies) {
    const { message } = JSON.parse(body) as {
      message: { role: string; content: unknown };
    };
    if (message.role !== 'tool') continue;
    for (const part of message.content as readonly {
      toolCallId: string;
      output: ShownResult;
    }[]) {
      shown.set(part.toolCallId, [...(shown.get(part.toolCallId) ?? []), part.output]);
    }
  }
  return shown;
}
