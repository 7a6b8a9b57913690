// Todos hold the ids of checks, whichever name a check was given (V1).
import { expect, it } from 'vitest';
import { anEvent, aSession, aTodo, builtAt } from '../../test/support/builders.ts';
import { createCommandCheck } from './check-specs.ts';
import { decide } from './decide.ts';
import { addChecks, type Policy } from './policy.ts';
import { defaultSettings } from './settings.ts';

const named = { tests: createCommandCheck('tests', ['npm', 'test']) };
const typed = { '$ npm test': createCommandCheck('$ npm test', { shell: 'npm test' }) };
const settings = {
  ...defaultSettings,
  todoChecks: [{ title: '*parser*', checks: ['tests'] }],
};
const own: Policy = addChecks(
  { settings, goalChecks: [] },
  { goalChecks: ['tests'], checks: named },
);
const both = addChecks(own, { goalChecks: ['$ npm test'], checks: typed });

it('V3: a todo has a check once, even if its title and a proposal name it differently', () => {
  const item = { id: 'a', title: 'Write the parser', checks: ['tests', '$ npm test'] };
  const event = anEvent.todosCreated({ items: [item], actor: 'agent' });
  expect(decide(aSession(), event, both).state.plan).toMatchObject([
    { checks: ['$ npm test'] },
  ]);
  expect(
    decide(aSession(), { ...event, items: [{ ...item, checks: [] }] }, own).state.plan,
  ).toMatchObject([{ checks: ['tests'] }]);
});

it('V1 V4: under a new policy what is known of a check moves to its new id, and the ledger says so', () => {
  const proof = { check: 'tests', fingerprint: 'tree', flaky: false };
  const done = { status: 'completed', checks: ['tests'] } as const;
  const plan = [
    aTodo({ ...done, verification: 'passed', evidence: [proof] }),
    aTodo({ ...done, verification: 'claimed' }),
    aTodo(),
  ];
  const before = aSession({
    plan,
    policyHash: 'old',
    baseline: { fingerprint: 'tree', writes: 0, checks: { tests: 'failed' } },
  });
  const event = anEvent.humanResumed({ policyHash: 'new', at: builtAt });
  const { state, ledger } = decide(before, event, both);
  expect(state.plan).toMatchObject([
    {
      checks: ['$ npm test'],
      verification: 'passed',
      evidence: [{ ...proof, check: '$ npm test' }],
    },
    { checks: ['$ npm test'], verification: 'claimed', evidence: [] },
    { checks: [] },
  ]);
  expect(state.baseline?.checks).toEqual({ '$ npm test': 'failed' });
  expect(ledger).toMatchObject([
    { change: 'edited', actor: 'system', todoId: plan[0]?.id },
    { change: 'edited', actor: 'system', todoId: plan[1]?.id },
  ]);
  expect(decide(before, event, own).ledger, 'no entry if no id changes').toEqual([]);
});
