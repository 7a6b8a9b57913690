import { describe, expect, it } from 'vitest';
import { createTemporaryWorkspace } from '../../../test/support/temporary-workspace.ts';
import type { ToolContext, WorkspaceTool } from '../workspace/tool.ts';
import { defaultLimits } from '../workspace/tool.ts';
import { workspaceTools } from '../workspace/workspace-tools.ts';
import { fromWorkspaceTool } from './tool-calls.ts';

/** A tool that breaks its promise as often as `failures` says, and then works. */
function brokenTool(access: WorkspaceTool['access'], failures: number, isLate = false) {
  let calls = 0;
  const tool: WorkspaceTool = {
    name: 'odd',
    description: 'odd',
    inputSchema: {
      type: 'object',
      properties: {},
      required: [],
      additionalProperties: false,
    },
    access,
    waits: () => false,
    async call() {
      calls += 1;
      if (calls <= failures && isLate)
        return { ok: false, error: 'it took too long', timedOut: true };
      if (calls <= failures) throw new Error('it broke');
      return 'fine';
    },
  };
  const context = { limits: defaultLimits } as Omit<ToolContext, 'signal'>;
  const adapted = fromWorkspaceTool(tool, context, { mode: 'auto', shellAllow: [] });
  return {
    call: () => adapted.call({}, new AbortController().signal, 'call-1'),
    calls: () => calls,
  };
}

describe('a workspace tool that ran out of time', () => {
  it('S6: is called once more by itself if it only reads, and then its answer is a failure', async () => {
    const once = brokenTool('read', 1, true);
    expect(await once.call()).toMatchObject({ ok: true, output: 'fine' });
    expect(once.calls()).toBe(2);
    const always = brokenTool('read', 9, true);
    expect(await always.call()).toEqual({ ok: false, output: 'it took too long' });
    expect(always.calls()).toBe(2);
    const writes = brokenTool('execute', 9, true);
    expect(await writes.call()).toEqual({ ok: false, output: 'it took too long' });
    expect(writes.calls()).toBe(1);
  });

  it('S6: a hopeless search is a failure with what was found, and a non-zero exit is a result', async () => {
    const { put, context } = createTemporaryWorkspace({ grepMs: 300 });
    put('1.txt', 'aaab\n');
    put('2.txt', `${'a'.repeat(60)}!\n`);
    const call = (name: string, input: unknown) => {
      const tool = workspaceTools.find(
        (candidate) => candidate.name === name,
      ) as WorkspaceTool;
      const adapted = fromWorkspaceTool(tool, context, { mode: 'auto', shellAllow: [] });
      return adapted.call(input, new AbortController().signal, 'call-1');
    };
    const late = await call('grep', { pattern: '^(a+)+b$' });
    expect(late).toMatchObject({
      ok: false,
      output: expect.stringContaining('1.txt:1: aaab'),
    });
    expect(await call('shell', { command: 'exit 3' })).toMatchObject({ ok: true });
  });
});

describe('a workspace tool that throws', () => {
  it('S6: is called once more by itself if it only reads', async () => {
    const once = brokenTool('read', 1);
    expect(await once.call()).toMatchObject({ ok: true, output: 'fine' });
    expect(once.calls()).toBe(2);
    const always = brokenTool('read', 9);
    expect(await always.call()).toMatchObject({
      ok: false,
      output: 'odd failed unexpectedly: it broke',
    });
    expect(always.calls()).toBe(2);
  });

  it.each(['write', 'execute'] as const)(
    'S6: is never called again if it can %s',
    async (access) => {
      const tool = brokenTool(access, 1);
      expect(await tool.call()).toMatchObject({
        ok: false,
        output: 'odd failed unexpectedly: it broke',
      });
      expect(tool.calls()).toBe(1);
    },
  );
});
