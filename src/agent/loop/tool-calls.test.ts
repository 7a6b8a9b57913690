import { describe, expect, it } from 'vitest';
import type { ToolContext, WorkspaceTool } from '../workspace/tool.ts';
import { defaultLimits } from '../workspace/tool.ts';
import { fromWorkspaceTool } from './tool-calls.ts';

/** A tool that breaks its promise as often as `failures` says, and then works. */
function brokenTool(access: WorkspaceTool['access'], failures: number) {
  let calls = 0;
  const tool: WorkspaceTool = {
    name: 'odd',
    description: 'odd',
    inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
    access,
    waits: () => false,
    async call() {
      calls += 1;
      if (calls <= failures) throw new Error('it broke');
      return 'fine';
    },
  };
  const context = { limits: defaultLimits } as Omit<ToolContext, 'signal'>;
  const adapted = fromWorkspaceTool(tool, context, { mode: 'auto', shellAllow: [] });
  return { call: () => adapted.call({}, new AbortController().signal, 'call-1'), calls: () => calls };
}

describe('a workspace tool that throws', () => {
  it('S6: is called once more by itself if it only reads', async () => {
    const once = brokenTool('read', 1);
    expect(await once.call()).toMatchObject({ ok: true, output: 'fine' });
    expect(once.calls()).toBe(2);
    const always = brokenTool('read', 9);
    expect(await always.call()).toMatchObject({ ok: false, output: 'odd failed unexpectedly: it broke' });
    expect(always.calls()).toBe(2);
  });

  it.each(['write', 'execute'] as const)('S6: is never called again if it can %s', async (access) => {
    const tool = brokenTool(access, 1);
    expect(await tool.call()).toMatchObject({ ok: false, output: 'odd failed unexpectedly: it broke' });
    expect(tool.calls()).toBe(1);
  });
});
