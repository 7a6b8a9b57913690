// The list of ways to break the product that the tests must notice: one entry per rule,
// counter and reset, and more. It refuses to be clever: `find` must occur exactly once in
// `file`, or the run of that mutation is an error.
import { agentMutations } from './mutations/agent-mutations.ts';
import { bulkMutations } from './mutations/bulk-mutations.ts';
import { countersMutations } from './mutations/counters-mutations.ts';
import { deliveryMutations } from './mutations/delivery-mutations.ts';
import { engineMutations } from './mutations/engine-mutations.ts';
import { evidenceMutations } from './mutations/evidence-mutations.ts';
import { humanMutations } from './mutations/human-mutations.ts';
import { limitsMutations } from './mutations/limits-mutations.ts';
import type { Mutation } from './mutations/mutation.ts';
import { planMutations } from './mutations/plan-mutations.ts';
import { rulesMutations } from './mutations/rules-mutations.ts';
import { sessionMutations } from './mutations/session-mutations.ts';
import { textsMutations } from './mutations/texts-mutations.ts';
import { trustMutations } from './mutations/trust-mutations.ts';
import { workMutations } from './mutations/work-mutations.ts';

export type { Mutation };

export const mutations: readonly Mutation[] = [
  ...rulesMutations,
  ...limitsMutations,
  ...countersMutations,
  ...humanMutations,
  ...workMutations,
  ...deliveryMutations,
  ...evidenceMutations,
  ...planMutations,
  ...bulkMutations,
  ...trustMutations,
  ...textsMutations,
  ...engineMutations,
  ...agentMutations,
  ...sessionMutations,
];
