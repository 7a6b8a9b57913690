import { expect, it } from 'vitest';
import { workerTools } from './worker.ts';

it('M7: a worker gets no tool for plans or workers, whatever it is said to have', () => {
  const ofRun = [
    { name: 'create_todo', family: 'todo' },
    { name: 'delegate', family: 'delegation' },
    { name: 'read_file', family: 'workspace' },
    { name: 'shell', family: 'workspace' },
  ];
  const tools = ['create_todo', 'delegate', 'read_file', 'not_there'];
  expect(workerTools({ tools }, ofRun).map(({ name }) => name)).toEqual(['read_file']);
});
