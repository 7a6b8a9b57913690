import { describe, expect, it } from 'vitest';
import {
  all,
  type Patch,
  stopContext,
  withCounts,
  withGoal,
  withSession,
  withStop,
} from '../../test/properties/rule-context.ts';
import { pickText, type TextKind, texts } from './texts.ts';

const job = { id: 'job-1', kind: 'shell', description: 'npm run dev' } as const;

/** What makes each text the one to send, in the order in which they win. */
const causes: readonly (readonly [TextKind, string, Patch])[] = [
  ['output-limit', 'P13', withStop({ end: 'length' })],
  ['iteration-budget', 'S2', withStop({ end: 'iteration-budget' })],
  ['loop', 'P25', withSession({ loopAlarms: 1, loopTold: false })],
  ['tool-error', 'P12', withStop({ toolError: 'it broke' })],
  ['dropped-todos', 'P3', withCounts({ pending: 1, dropped: 1, unnamedDrops: 1 })],
  ['bulk-claim', 'P2', withCounts({ pending: 1, completed: 3, claims: 3 })],
  ['failed-check', 'P31', withCounts({ inProgress: 1, failed: 1 })],
  [
    'checks-running',
    'M8',
    all(withCounts({ completed: 1 }), withSession({ checksOverdue: true })),
  ],
  ['text-question', 'P8', withStop({ question: true })],
  [
    'empty-answer',
    'P14',
    all(withStop({ end: 'empty' }), withSession({ emptyAnswers: 1 })),
  ],
  ['background-job', 'P18', withSession({ jobs: [job] })],
  ['after-compaction', 'P23', withSession({ compacted: true })],
  ['standard', 'E6', (context) => context],
];

describe('the choice of the text', () => {
  it('G1: is one ordered list', () => {
    expect(texts.map(({ kind }) => kind)).toEqual(causes.map(([kind]) => kind));
  });

  for (const [kind, id, cause] of causes) {
    it(`${id}: ${kind} is chosen for its cause`, () => {
      expect(pickText(stopContext(cause)).kind).toBe(kind);
    });
  }

  it('G1: where two causes meet, the earlier one in the list is told', () => {
    let compared = 0;
    causes.forEach(([kind, , cause], index) => {
      for (const [, , later] of causes.slice(index + 1)) {
        const context = stopContext(later, cause);
        if (texts.filter(({ applies }) => applies(context)).length < 3) continue;
        compared += 1;
        expect(pickText(context).kind).toBe(kind);
      }
    });
    expect(compared).toBeGreaterThan(20);
  });

  it('each cause has an end: told once, named once, or gone', () => {
    const not: readonly (readonly [TextKind, Patch])[] = [
      ['loop', withSession({ loopAlarms: 1, loopTold: true })],
      [
        'tool-error',
        all(withCounts({ completed: 1 }), withStop({ toolError: 'it broke' })),
      ],
      ['dropped-todos', withCounts({ pending: 1, dropped: 1 })],
      [
        'bulk-claim',
        all(
          withCounts({ pending: 1, completed: 3, claims: 3 }),
          withSession({ challenged: { claims: true, ends: false } }),
        ),
      ],
      [
        'checks-running',
        all(withCounts({ pending: 1 }), withSession({ checksOverdue: true })),
      ],
      ['empty-answer', all(withStop({ end: 'empty' }), withSession({ emptyAnswers: 2 }))],
      ['background-job', withSession({ jobs: [job], namedJobs: [job.id] })],
      ['failed-check', all(withCounts({ pending: 1 }), withGoal('failed'))],
    ];
    for (const [kind, patch] of not)
      expect(pickText(stopContext(patch)).kind, kind).toBe('standard');
  });

  it('V1: a goal check that failed is told once nothing is open', () => {
    expect(
      pickText(stopContext(withCounts({ completed: 1 }), withGoal('failed'))).kind,
    ).toBe('failed-check');
  });
});
