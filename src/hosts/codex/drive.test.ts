// What the lines of Codex that begin and end a step mean to its driver.
import { expect, it } from 'vitest';
import { codexDriver } from './drive.ts';

const line = (type: string, item: object) => JSON.stringify({ type, item });
const command = { id: 'item_1', type: 'command_execution', command: 'ls' };
const message = { id: 'item_2', type: 'agent_message', text: 'Done.' };
const list = { id: 'item_0', type: 'todo_list', items: [] };

function createTypesReader() {
  const readLine = codexDriver.createReader();
  return (type: string, item: object) =>
    readLine(line(type, item), 'output').map((fact) => fact.type);
}

it('the first item after a finished one starts a step; its list of todos does not', () => {
  const read = createTypesReader();
  expect(read('item.started', list)).toEqual(['todos']);
  expect(read('item.started', command)).toEqual(['step', 'tool-started']);
  expect(read('item.updated', list)).toEqual(['todos']);
  expect(read('item.completed', command)).toEqual(['tool-ended']);
  expect(read('item.completed', message)).toEqual(['step', 'text']);
});

it('two starts at once do not mix: an item of one begins no step of the other', () => {
  const one = createTypesReader();
  const other = createTypesReader();
  expect(one('item.started', command)).toEqual(['step', 'tool-started']);
  expect(other('item.started', command)).toEqual(['step', 'tool-started']);
  expect(one('item.completed', command)).toEqual(['tool-ended']);
  expect(other('item.completed', command)).toEqual(['tool-ended']);
});
