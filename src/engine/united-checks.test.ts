// Checks with the same content are one check in the policy, wherever a human named them
// (V1).
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aSession } from '../../test/support/builders.ts';
import { createPolicies, readPolicy, takenUpChecks, withShellChecks } from './policy.ts';
import { sha256 } from './system.ts';
import type { Accepted } from './trust.ts';

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'untildone-policy-'));
  mkdirSync(join(project, '.git'));
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

describe('V1: checks that ask for the same', () => {
  const goal = ['tests'];

  function policyOf(config: object, accepted: object = config) {
    writeFileSync(join(project, 'untildone.json'), JSON.stringify(config));
    const kept = [
      {
        key: realpathSync(join(project, '.git')),
        folder: realpathSync(project),
        at: 1,
        config: accepted,
      },
    ];
    const result = readPolicy({
      projectDirectory: project,
      userConfigDirectory: null,
      environment: {},
      accepted: kept as readonly Accepted[],
    });
    if (!result.ok) throw new Error('the configuration is wrong');
    return result.policy;
  }

  it('V1: --check and a named check are one on the goal, and the snapshot keeps both names', () => {
    const named = policyOf({
      checks: { tests: { command: ['npm', 'test'], timeoutSeconds: 900 } },
      goal,
    });
    const { goalChecks, checks } = withShellChecks(named, ['npm test']);
    expect(goalChecks).toEqual(['$ npm test']);
    expect(Object.keys(checks ?? {})).toEqual(['tests', '$ npm test']);
    expect(checks?.['tests']).toEqual(checks?.['$ npm test']);
    expect(checks?.['tests']).toMatchObject({ id: '$ npm test', timeoutMs: 900_000 });
  });

  it('V10: a check of the file that asks for more than was accepted gets no more rights by its name', () => {
    const tests = { command: 'npm test' };
    const wanted = { checks: { tests: { ...tests, environment: ['TOKEN'] } }, goal };
    const { goalChecks, checks } = withShellChecks(
      policyOf(wanted, { checks: { tests }, goal }),
      ['npm test'],
    );
    expect(goalChecks).toEqual(['$ npm test']);
    expect(Object.values(checks ?? {})).toMatchObject([
      { environment: [] },
      { environment: [] },
    ]);
  });

  it('V1: --resume --check with the words of a named check keeps one check on the goal', () => {
    const frozen = policyOf({ checks: { tests: { command: 'npm test' } }, goal });
    const present = withShellChecks(frozen, ['npm test']);
    expect(takenUpChecks(frozen, present, true).goalChecks).toEqual(['$ npm test']);
    expect(takenUpChecks(present, frozen, false).goalChecks).toEqual(['$ npm test']);
  });

  it('V7: a check that comes with a plan is one check with the same one of the taker', () => {
    const own = policyOf({ checks: { tests: { command: 'npm test' } }, goal });
    const { goalChecks, checks = {} } = withShellChecks(
      { ...own, goalChecks: [], checks: {} },
      ['npm test'],
    );
    const saved = new Map<string, string>();
    const key = createPolicies(() => own, sha256).snapshot(
      { ...aSession(), carried: { checks, goalChecks } },
      saved,
    );
    expect(JSON.parse(saved.get(key) ?? '')).toMatchObject({
      goalChecks: ['$ npm test'],
    });
  });
});
