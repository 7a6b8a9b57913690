import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../test/support/memory-store.ts';
import { defaultSettings } from '../../core/settings.ts';
import { sha256 } from '../../engine/system.ts';
import { createScriptedHost } from '../../simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../../simulated/simulated-clock.ts';
import type { Io } from '../io.ts';
import { createNewerSessionLook, seenFromHere } from './attach.ts';

describe('a view that was opened a moment too early', () => {
  it('C3: is told once of the session that began after the one it shows', async () => {
    const clock = createSimulatedClock();
    const store = createMemoryStore();
    const identifiers = createSequentialIdentifiers();
    const begin = async (id: string) => {
      const session = createScriptedHost({
        mode: 'asked',
        store,
        clock,
        identifiers,
        hash: sha256,
        policy: () => ({ settings: defaultSettings, goalChecks: [] }),
        descriptor: { host: 'untildone', directory: '/project' },
        sessionId: id,
      });
      await session.open();
      return session;
    };
    const old = await begin('old');
    const io: Io = {
      cwd: '/project',
      clock,
      env: {},
      isTTY: false,
      stdout: { write: () => {} },
      stderr: { write: () => {} },
      whyNoHuman: async () => null,
      agentAbove: async () => null,
      agentSessions: async () => [],
    };
    const look = createNewerSessionLook(io, store, old.sessionId);
    expect(await look()).toEqual([]);
    await clock.advance(1000);
    const { sessionId } = await begin('new');
    expect(await look()).toMatchObject([
      { type: 'notice', sentence: expect.stringContaining(sessionId) },
    ]);
    expect(await look()).toEqual([]);
  });

  it('S7: an answer by a key of this view is not told as one from elsewhere', () => {
    const answered = {
      ...({
        type: 'permission-answered',
        at: 1,
        sessionId: 's',
        requestId: 'r1',
        granted: true,
      } as const),
      ...({ remembered: 'once', by: 'elsewhere' } as const),
    };
    expect(seenFromHere(answered, new Set(['r1']))).toMatchObject({ by: 'terminal' });
    expect(seenFromHere(answered, new Set(['r2']))).toMatchObject({ by: 'elsewhere' });
  });
});
