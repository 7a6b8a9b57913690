// A call of our own tools meets a plan that the host's tools made a moment ago: it must be in sight before the two are
// brought together.
import { expect, it } from 'vitest';
import { createHookCase } from '../../test/support/hook-case.ts';
import { createPayload, promptPayload, startPayload, toolPayload } from '../../test/support/payload-cases.ts';

it('M7: what waits in the inbox is in the plan before a call of our own tools is bound', async () => {
  const hooks = createHookCase();
  const receipt = `udr_${'0f'.repeat(16)}`;
  await hooks.send(startPayload('startup'));
  await hooks.send(promptPayload('Please do it'));
  await hooks.send(createPayload('1', 'A'));
  expect(await hooks.todos(), 'a hook only puts it into the inbox').toEqual([]);
  const response = [{ type: 'text', text: `{}\nreceipt: ${receipt}` }];
  await hooks.send(toolPayload('mcp__untildone__create_todo', 'c2', {}, response));
  expect(hooks.bound).toEqual([receipt]);
  expect(await hooks.todos()).toMatchObject([{ title: 'A' }]);
});
