import { describe, expect, it } from 'vitest';
import { aTodo } from '../../test/support/builders.ts';
import { createState } from '../core/state.ts';
import { describeFailures } from './shared.ts';

const fresh = createState('session-1', 0);
const todo = (title: string, failureTail: string) =>
  aTodo({
    title,
    failureTail,
    checks: ['unit'],
    verification: 'failed',
    status: 'in_progress',
  });

describe('completions that are refused', () => {
  it('V1: quote what failed, and the same output once', () => {
    const said = describeFailures(fresh, [
      todo('Fix sum', 'unit exited with 1.\nnot ok 1 - adds\nmore'),
      todo('Write docs', 'unit exited with 1.\nnot ok 1 - adds\nmore'),
    ]);
    expect(said).toEqual([
      'The check of “Fix sum” failed, so it is not completed and stays open. Fix the cause, then complete it again.\nIt printed:\n| unit exited with 1.\n| not ok 1 - adds',
      'The check of “Write docs” failed, so it is not completed and stays open. Fix the cause, then complete it again.\nIt printed the same as the check of “Fix sum”.',
    ]);
  });

  it('P51: say that the check failed before the work began too', () => {
    const tools = { pause: 'mcp__todo_pause', verify: null };
    const baseline = {
      fingerprint: null,
      writes: 0,
      checks: { unit: 'failed' },
    } as const;
    const state = { ...fresh, baseline, descriptor: { ...fresh.descriptor, tools } };
    expect(describeFailures(state, [todo('Fix sum', 'unit exited with 1.')])).toEqual([
      'The check of “Fix sum” failed, so it is not completed and stays open. The check failed before the work began too. If mending that is part of your task, fix the cause; if it is not, call mcp__todo_pause with this as the reason.\nIt printed:\n| unit exited with 1.',
    ]);
  });
});
