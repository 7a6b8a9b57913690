// What counts as a change of a host's list.
import { describe, expect, it } from 'vitest';
import { listDifferences } from './list-differences.ts';

const listed = (key: string, title: string, status: string) => ({ key, title, status, context: null });
const differences = (known: Parameters<typeof listDifferences>[0], ...list: ReturnType<typeof listed>[]) =>
  listDifferences(known, list, (key) => `session/${key}`);

describe('a list that is read again', () => {
  it('has no differences when nothing moved', () => {
    expect(differences({ 1: { title: 'A', status: 'pending' } }, listed('1', 'A', 'pending'))).toEqual([]);
  });

  it('tells a new todo, a new status and new words', () => {
    const known = { 1: { title: 'A', status: 'pending' }, 2: { title: 'B', status: 'pending' } };
    expect(
      differences(
        known,
        listed('1', 'A', 'completed'),
        listed('2', 'B!', 'pending'),
        listed('3', 'C', 'done'),
      ),
    ).toEqual([
      { type: 'changed', key: '1', changes: { status: 'completed' } },
      { type: 'changed', key: '2', changes: { title: 'B!' } },
      { type: 'created', item: { id: 'session/3', title: 'C', hostKey: '3', status: 'completed' } },
    ]);
  });

  it('T2: an open todo that is gone was deleted; one that was finished or gone before was not', () => {
    const known = {
      1: { title: 'A', status: 'in_progress' },
      2: { title: 'B', status: 'completed' },
      3: { title: 'C', status: 'gone' },
    };
    expect(differences(known)).toEqual([{ type: 'changed', key: '1', changes: { status: 'cancelled' } }]);
  });

  it('a todo that comes back is open again', () => {
    const known = { 1: { title: 'A', status: 'gone' } };
    expect(differences(known, listed('1', 'A', 'pending'))).toEqual([
      { type: 'changed', key: '1', changes: { status: 'pending' } },
    ]);
  });

  it('a status that nobody knows changes nothing', () => {
    expect(differences({}, listed('1', 'A', 'resting'))).toEqual([]);
    expect(differences({ 1: { title: 'A', status: 'pending' } }, listed('1', 'A', 'resting'))).toEqual([]);
  });
});
