import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCommandCheck } from '../core/check-specs/read-check.ts';
import type { CheckFinished, Event } from '../core/events.ts';
import { systemClock } from '../engine/system.ts';
import { aSession } from '../testing/builders.ts';
import { createSequentialIdentifiers } from '../testing/simulated-clock.ts';
import { type CheckerOptions, createChecker } from './checker.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'untildone-checker-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const shell = (id: string, line: string) => createCommandCheck(id, { shell: line });

async function finished(
  checks: readonly { todoId: string | null; check: string }[],
  options: Partial<CheckerOptions>,
): Promise<CheckFinished[]> {
  const events: Event[] = [];
  const checker = createChecker({
    checks: {},
    checksOfTodo: async () => [],
    directory,
    environment: { PATH: process.env['PATH'] },
    clock: systemClock,
    identifiers: createSequentialIdentifiers(),
    signal: () => new AbortController().signal,
    ...options,
  });
  await checker.run(aSession(), checks, true, async (event) => void events.push(event));
  return events.filter((event) => event.type === 'check-finished');
}

describe('the checker', () => {
  it('V1: a check that passes is reported with the fingerprint of the workspace', async () => {
    writeFileSync(join(directory, 'a.txt'), 'a');
    const [result] = await finished([{ todoId: null, check: 'ok' }], { checks: { ok: shell('ok', 'true') } });
    expect(result).toMatchObject({ result: 'passed', flaky: false, check: 'ok', todoId: null });
    expect(result?.fingerprint).not.toBeNull();
  });

  it('P31: a check that fails twice is reported with the end of what it printed', async () => {
    const checks = { bad: shell('bad', 'echo expected 4, got 5; exit 1') };
    const [result] = await finished([{ todoId: 'todo-1', check: 'bad' }], {
      checks,
      checksOfTodo: async () => ['bad'],
    });
    expect(result).toMatchObject({ result: 'failed', todoId: 'todo-1' });
    expect(result?.tail).toContain('expected 4, got 5');
  });

  it('V1: a check that fails first and then passes is flaky', async () => {
    const line = 'if [ -e seen ]; then exit 0; else touch seen; exit 1; fi';
    const [result] = await finished([{ todoId: null, check: 'odd' }], {
      checks: { odd: shell('odd', line) },
    });
    expect(result).toMatchObject({ result: 'passed', flaky: true });
  });

  it('V1: a todo with several checks passes only when all of them do', async () => {
    const checks = { good: shell('good', 'true'), bad: shell('bad', 'exit 3') };
    const [result] = await finished([{ todoId: 'todo-1', check: 'good' }], {
      checks,
      checksOfTodo: async () => ['good', 'bad'],
    });
    expect(result?.result).toBe('failed');
  });

  it('V3: a check that no policy knows proves nothing', async () => {
    const [result] = await finished([{ todoId: null, check: 'nobody' }], {});
    expect(result).toMatchObject({
      result: 'failed',
      tail: expect.stringContaining('no check with the name'),
    });
  });

  it('V2: conditions of the system itself count like checks', async () => {
    const ownChecks = {
      'protected paths': async () => ({ result: 'failed' as const, sentence: 'Changed.', tail: 'test/a.ts' }),
    };
    const [result] = await finished([{ todoId: null, check: 'protected paths' }], { ownChecks });
    expect(result).toMatchObject({ result: 'failed', tail: 'Changed.\ntest/a.ts' });
  });
});
