import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canEdit } from './agent-access.ts';

const agents = JSON.parse(
  readFileSync(new URL('./fixtures/agents.json', import.meta.url), 'utf8'),
) as readonly { name: string; permission: unknown }[];
const permissionOf = (name: string) => agents.find((agent) => agent.name === name)?.permission;

describe('who may write', () => {
  it("P26: of the host's own agents build and general may, plan and explore may not", () => {
    expect(canEdit(permissionOf('build'))).toBe('yes');
    expect(canEdit(permissionOf('general'))).toBe('yes');
    expect(canEdit(permissionOf('plan'))).toBe('no');
    expect(canEdit(permissionOf('explore'))).toBe('no');
  });

  it('P26: the last match wins, and a rule for single files makes no writer', () => {
    const deny = { permission: 'edit', pattern: '*', action: 'deny' };
    expect(canEdit([deny, { permission: '*', pattern: '*', action: 'allow' }])).toBe('yes');
    expect(canEdit([deny, { permission: 'edit', pattern: 'plans/*.md', action: 'allow' }])).toBe('no');
    expect(canEdit([{ permission: 'edit', pattern: '*', action: 'ask' }])).toBe('yes');
  });

  it('G4: what cannot be read is unknown', () => {
    for (const permission of [undefined, null, 'allow', {}, [], [7], [{ permission: 'edit' }]])
      expect(canEdit(permission)).toBe('unknown');
    expect(canEdit([{ permission: 'edit', pattern: '*', action: 'maybe' }])).toBe('unknown');
  });

  it('G4: a hostile pattern is neither matched nor paid for', () => {
    expect(canEdit([{ permission: '*'.repeat(5000), pattern: '*', action: 'allow' }])).toBe('unknown');
    expect(canEdit([{ permission: 'ed(it', pattern: '[*', action: 'allow' }])).toBe('unknown');
  });
});
