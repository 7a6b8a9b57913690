// For tests: specs and contexts in which only what a test is about has to be said.

import type { CheckContext } from '../../src/checks/observation.ts';
import {
  type CommandCheck,
  createCommandCheck,
  type FileCheck,
  type HttpCheck,
} from '../../src/core/check-specs.ts';

export function commandCheck(
  command: CommandCheck['command'],
  overrides: Partial<CommandCheck> = {},
): CommandCheck {
  return { ...createCommandCheck('tests', command), timeoutMs: 20_000, ...overrides };
}

export function fileCheck(path: string, expect: FileCheck['expect']): FileCheck {
  return { id: 'file', kind: 'file', files: [], timeoutMs: 5000, path, expect };
}

export function httpCheck(url: string, overrides: Partial<HttpCheck> = {}): HttpCheck {
  const expected = { expectStatus: 200, expectBody: null, anyHost: false };
  return {
    id: 'http',
    kind: 'http',
    files: [],
    timeoutMs: 5000,
    url,
    ...expected,
    ...overrides,
  };
}

export function contextFor(
  directory: string,
  overrides: Partial<CheckContext> = {},
): CheckContext {
  return {
    directory,
    signal: new AbortController().signal,
    environment: { PATH: process.env['PATH'] },
    now: () => 1_700_000_000_000,
    ...overrides,
  };
}
