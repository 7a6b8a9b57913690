import { describe, expect, it } from 'vitest';
import { aTodo } from '../../../test/support/builders.ts';
import { mergeSettings } from '../../core/config.ts';
import { workerBrief, workerPrompt } from './delegation.ts';
import { workerTypes } from './worker-types.ts';

const root = '/home/me/project';

function coder(changes: { prompt?: string; isProjectPrompt?: boolean } = {}) {
  const types = workerTypes(mergeSettings({}).settings, {});
  const found = types.ok ? types.workers.find(({ name }) => name === 'coder') : undefined;
  if (found === undefined) throw new Error('there is no coder');
  return { ...found, ...changes };
}

describe('what a worker is told', () => {
  it('S1 M7: nothing of a plan or of todos', () => {
    expect(workerPrompt(coder(), root)).not.toMatch(/todo|\bplan\b/i);
  });

  it('the human’s own words stand as they are, a project’s are quoted', () => {
    const prompt = 'Use <b>tabs</b>.';
    expect(workerPrompt(coder({ prompt }), root)).toContain('Use <b>tabs</b>.');
    expect(workerPrompt(coder({ prompt, isProjectPrompt: true }), root)).toContain(
      'The project says about this kind of work: “Use ‹b›tabs‹/b›.”',
    );
  });

  it('S4: its todo, what proves it, its context and the instructions of whoever sent it', () => {
    const todo = aTodo({
      title: 'Write\nit',
      completionCriteria: 'tests pass',
      context: 'vitest',
    });
    expect(workerBrief(todo, 'In src.\nNot in lib.')).toBe(
      [
        'The work: “Write it”',
        'It is done when: “tests pass”',
        'Context: “vitest”',
        'Instructions:',
        'In src.',
        'Not in lib.',
      ].join('\n'),
    );
  });

  it('S6: that somebody was there before, if so', () => {
    expect(workerBrief(aTodo({ startedAt: 5 }), '')).toContain(
      'look first at what is there already',
    );
    expect(workerBrief(aTodo(), '')).not.toContain('before');
  });
});
