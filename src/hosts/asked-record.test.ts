// A call of our own tools meets a plan that the host's tools made a moment ago: the plan
// must be in the record before the receipt of the call is bound.
import { expect, it } from 'vitest';
import { createHookCase } from '../../test/support/hook-case.ts';
import {
  createPayload,
  promptPayload,
  startPayload,
  toolPayload,
} from '../../test/support/payload-cases.ts';
import { findReceipt } from './asked-call.ts';

const receipt = `udr_${'0f'.repeat(16)}`;

it('M7: what waits in the inbox is in the plan before a call of our own tools is bound', async () => {
  const hooks = createHookCase();
  await hooks.send(startPayload('startup'));
  await hooks.send(promptPayload('Please do it'));
  await hooks.send(createPayload('1', 'A'));
  expect(await hooks.todos(), 'a hook only puts it into the inbox').toEqual([]);
  const response = [{ type: 'text', text: `{}\nreceipt: ${receipt}` }];
  await hooks.send(toolPayload('mcp__untildone__create_todo', 'c2', {}, response));
  expect(hooks.bound).toEqual([receipt]);
  expect(await hooks.todos()).toMatchObject([{ title: 'A' }]);
});

it.each([
  ['the last line', `{"created":[]}\nreceipt: ${receipt}`, receipt],
  ['the last line before a line end', `words\nreceipt: ${receipt}\n`, receipt],
  ['a todo that is named like one', `{"title":"receipt: ${receipt}"}`, null],
  ['a line of hostile words before the end', `receipt: ${receipt}\nmore`, null],
  ['words around it', `the receipt: ${receipt}`, null],
  ['too many digits', `receipt: ${receipt}0`, null],
  ['nothing', '', null],
])('V3: a receipt is found in %s or not at all', (_where, result, found) => {
  expect(findReceipt(result)).toBe(found);
});
