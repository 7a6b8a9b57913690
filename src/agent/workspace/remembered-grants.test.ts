import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../test/support/memory-store.ts';
import { addGrant, provenGrants, readGrants, removeGrants } from './remembered-grants.ts';

let stateDirectory: string;

beforeEach(() => {
  stateDirectory = mkdtempSync(join(tmpdir(), 'untildone-grants-'));
});

afterEach(() => rmSync(stateDirectory, { recursive: true, force: true }));

const grant = (pattern: string) => ({
  tool: 'shell',
  pattern,
  answerId: `answer ${pattern}`,
  at: 5,
});
const place = (directory: string) => ({ stateDirectory, directory });

describe('permissions for good', () => {
  it('S7: hold for their directory alone, once each, readable for the user only', () => {
    addGrant(place('/a'), grant('npm test **'));
    addGrant(place('/a'), grant('npm test **'));
    addGrant(place('/b'), grant('make all **'));
    expect(readGrants(place('/a'))).toEqual([grant('npm test **')]);
    expect(readGrants(place('/b'))).toEqual([grant('make all **')]);
    expect(readGrants(place('/c'))).toEqual([]);
    expect(readGrants(place('__proto__'))).toEqual([]);
    expect(statSync(join(stateDirectory, 'grants.json')).mode & 0o777).toBe(0o600);
  });

  it('S7: are taken back one by one', () => {
    addGrant(place('/a'), grant('x'));
    addGrant(place('/a'), grant('y'));
    expect(removeGrants(place('/a'), ({ pattern }) => pattern === 'x')).toBe(1);
    expect(readGrants(place('/a'))).toEqual([grant('y')]);
    expect(removeGrants(place('/a'), () => true)).toBe(1);
    expect(readFileSync(join(stateDirectory, 'grants.json'), 'utf8')).not.toContain('/a');
  });

  it('V4: grant nothing unless the answer that gave them is on record', async () => {
    const store = createMemoryStore();
    addGrant(place('/a'), grant('x'));
    addGrant(place('/a'), grant('y'));
    const wait = {
      kind: 'permission',
      requestId: 'r',
      granted: true,
      remembered: 'always',
    } as const;
    await store.append([
      { id: 'answer x', sessionId: 's', at: 5, type: 'wait-ended', wait },
    ]);
    expect(await provenGrants(store, place('/a'))).toEqual({
      grants: [grant('x')],
      unproven: 1,
    });
    // Another answer, or any other event, proves nothing.
    for (const [id, remembered] of [
      ['answer y', 'no'],
      ['answer z', 'session'],
    ] as const)
      await store.append([
        { id, sessionId: 's', at: 6, type: 'wait-ended', wait: { ...wait, remembered } },
      ]);
    await store.append([
      { id: 'answer v', sessionId: 's', at: 7, type: 'human-aborted', how: 'Ctrl-C' },
    ]);
    addGrant(place('/a'), grant('z'));
    addGrant(place('/a'), grant('v'));
    expect(await provenGrants(store, place('/a'))).toEqual({
      grants: [grant('x')],
      unproven: 3,
    });
  });

  it.each([
    '{',
    '[]',
    '{"directories":{"/a":[{"tool":"shell"}]}}',
    '{"directories":{"/a":{}}}',
  ])('S7: a damaged file is told and grants nothing: %s', (text) => {
    writeFileSync(join(stateDirectory, 'grants.json'), text);
    expect(() => readGrants(place('/a'))).toThrow(/is not a list of permissions/u);
  });
});
