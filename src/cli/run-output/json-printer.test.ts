import { describe, expect, it } from 'vitest';
import { event, sampleRun } from '../../../test/support/sample-run.ts';
import type { AgentEvent } from '../../agent/agent-event.ts';
import { createJsonPrinter } from './run-output.ts';

function written(events: readonly AgentEvent[]): string[] {
  const writes: string[] = [];
  const print = createJsonPrinter({ write: (text) => writes.push(text) });
  for (const each of events) print(each);
  return writes;
}

describe('a run as NDJSON', () => {
  it('has one line for every event, with its fields and the version', () => {
    const lines = written(sampleRun);
    expect(lines).toHaveLength(sampleRun.length);
    for (const [index, line] of lines.entries()) {
      expect(line).toMatch(/^\{[^\n]*\}\n$/);
      expect(JSON.parse(line)).toEqual({ v: 1, ...sampleRun[index] });
    }
  });

  it('starts every line with the same four fields', () => {
    const line = written([event(0, { type: 'notice', sentence: 'x' })]).join('');
    expect(line).toMatch(/^\{"v":1,"type":"notice","at":\d+,"sessionId":"0198c7e4","sentence":"x"\}\n$/);
  });

  it('keeps the field of a call without an input', () => {
    const call = event(0, { type: 'tool-started', callId: '1', tool: 'list_jobs', input: undefined });
    expect(JSON.parse(written([call]).join(''))).toHaveProperty('input', null);
  });
});
