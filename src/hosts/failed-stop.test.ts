import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { appendFailure, failedStops } from './shared.ts';

it('G4: a damaged line of the log hides no stop that failed', () => {
  const home = mkdtempSync(join(tmpdir(), 'untildone-failed-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const environment = { UNTILDONE_HOME: home };
  appendFileSync(join(home, 'hook.log'), '{"stopOf":"pro\n');
  const place = {
    at: 1,
    host: 'claude-code',
    hook: 'Stop',
    sessionId: 'session-1',
    stopOf: 'prompt-1',
  };
  appendFailure(environment, new Error('broken'), place);
  expect(failedStops(environment, 'session-1')).toEqual([
    { at: 1, stopOf: 'prompt-1', message: 'broken' },
  ]);
  expect(failedStops(environment, 'session-2')).toEqual([]);
});
