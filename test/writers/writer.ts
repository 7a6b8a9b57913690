// One of many processes that write the same session at once.
// Usage: node writer.ts STORE NAME EVENTS

import type { Event } from '../../src/core/events.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';

const [path = '', name = '', events = '0'] = process.argv.slice(2);
const store = await openSqliteStore({ path, clock: systemClock });
const runtime = createRuntime({
  store,
  clock: systemClock,
  identifiers: createIdentifiers(),
  hash: sha256,
  policy: () => ({ settings: defaultSettings, goalChecks: [] }),
});
for (let index = 0; index < Number(events); index++) {
  const id = `${name}-${index}`;
  const base = { id, sessionId: 'shared', at: Date.now() };
  // Every fourth event changes the plan, so that the ledger is linked by many hands.
  const event: Event =
    index % 4 === 0
      ? {
          ...base,
          type: 'todos-created',
          actor: 'agent',
          items: [{ id: `todo-${id}`, title: `todo ${id}` }],
        }
      : { ...base, type: 'tool-ended', tool: 'write_file', access: 'write', error: null };
  await runtime.handle(event);
}
await store.close();
