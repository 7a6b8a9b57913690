import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandCheck, contextFor, fileCheck } from '../../test/support/check-cases.ts';
import { createTemporaryFolder } from '../../test/support/temporary-repository.ts';
import { runCheck } from './run-check.ts';

describe('V1: a command as a check', () => {
  it('passes by its exit status and tells what was seen', async () => {
    const { root } = createTemporaryFolder();
    const result = await runCheck(commandCheck(['echo', 'all good']), contextFor(root));
    expect(result).toEqual({
      check: 'tests',
      result: 'passed',
      sentence: expect.stringMatching(/^echo all good exited with 0 after \d+\.\d s\.$/),
      exitCode: 0,
      milliseconds: expect.any(Number),
      tail: 'all good',
      timedOut: false,
      at: 1_700_000_000_000,
    });
  });

  it('fails by another exit status, and passes if a human expects that one', async () => {
    const { root } = createTemporaryFolder();
    const command = { shell: 'echo out; echo err >&2; exit 3' };
    const failed = await runCheck(commandCheck(command), contextFor(root));
    expect(failed).toMatchObject({ result: 'failed', exitCode: 3, tail: 'out\nerr' });
    expect(failed.sentence).toContain('exited with 3 instead of 0');
    const expected = await runCheck(
      commandCheck(command, { expectExit: 3 }),
      contextFor(root),
    );
    expect(expected.result).toBe('passed');
  });

  it.each([
    ['^ok: \\d+$', 'passed'],
    ['ok: 12', 'passed'],
    ['^12', 'failed'],
    ['first[\\s\\S]*ok', 'passed'],
  ])('its output must match %s: %s', async (expectOutput, result) => {
    const { root } = createTemporaryFolder();
    const check = commandCheck(['printf', 'first\nok: 12\n'], { expectOutput });
    expect(await runCheck(check, contextFor(root))).toMatchObject({
      result,
      exitCode: 0,
    });
  });

  it('a hopeless pattern fails in its time', async () => {
    const { root } = createTemporaryFolder();
    const check = commandCheck(['printf', 'a'.repeat(40)], { expectOutput: '^(a+)+b$' });
    const result = await runCheck(check, contextFor(root));
    expect(result.result).toBe('failed');
    expect(result.sentence).toContain('in time');
    expect(result.milliseconds).toBeLessThan(15_000);
  });

  it('has no shell: what looks like one is an argument', async () => {
    const { root } = createTemporaryFolder();
    const hostile =
      '; touch pwned $(touch pwned) `touch pwned` | touch pwned > pwned "\'';
    const result = await runCheck(
      commandCheck(['printf', '%s', hostile, '--', '-n']),
      contextFor(root),
    );
    expect(result.tail).toContain(hostile);
    expect(readdirSync(root)).toEqual([]);
  });

  it('runs in its folder, never outside the workspace', async () => {
    const { root, put } = createTemporaryFolder();
    const outside = createTemporaryFolder();
    put('inner/here.txt', '');
    symlinkSync(outside.root, join(root, 'way-out'));
    const inside = await runCheck(
      commandCheck(['ls'], { directory: 'inner' }),
      contextFor(root),
    );
    expect(inside).toMatchObject({ result: 'passed', tail: 'here.txt' });
    for (const directory of ['way-out', '../', '/', 'gone', 'inner/here.txt', 'a\0b']) {
      const result = await runCheck(
        commandCheck(['touch', join(root, 'ran')], { directory }),
        contextFor(root),
      );
      expect(result).toMatchObject({ result: 'failed', exitCode: 127 });
      expect(result.sentence).toContain('was not started');
    }
    expect(readdirSync(root).sort()).toEqual(['inner', 'way-out']);
  });

  it('gets a closed input, a short list of the environment and the mark of its session', async () => {
    const { root } = createTemporaryFolder();
    const environment = {
      PATH: process.env['PATH'],
      GITHUB_TOKEN: 'ghp_not_for_you',
      WANTED: 'yes',
      OTHER: 'no',
      NODE_OPTIONS: '--require evil',
    };
    const check = commandCheck({ shell: 'cat; env | sort' }, { environment: ['WANTED'] });
    const { tail } = await runCheck(
      check,
      contextFor(root, { environment, session: 's-1' }),
    );
    expect(tail).toContain('WANTED=yes');
    expect(tail).toContain('UNTILDONE_SESSION=s-1');
    expect(tail).not.toMatch(/GITHUB_TOKEN|OTHER|NODE_OPTIONS/);
  });

  it('that cannot be started has failed, in words', async () => {
    const { root } = createTemporaryFolder();
    for (const command of [
      ['no-such-program-anywhere'],
      [join(root, 'gone')],
      ['a\0b'],
      [],
    ]) {
      const result = await runCheck(commandCheck(command), contextFor(root));
      expect(result).toMatchObject({ result: 'failed', exitCode: 127 });
      expect(result.sentence).toContain('could not be started');
    }
  });

  it('keeps no terminal controls, neither in the tail nor in the sentence', async () => {
    const { root } = createTemporaryFolder();
    const check = commandCheck([
      'printf',
      '\\033[31mred\\033]0;title\\007\\r\\nnext\u202e',
    ]);
    const { tail, sentence } = await runCheck(check, contextFor(root));
    expect(tail).toBe('red\nnext');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: their absence is what is tested
    expect(sentence).not.toMatch(/[\u0000-\u001f\u202e]/u);
  });
});

describe('V1: a file as a check', () => {
  it.each([
    ['here.txt', 'exists', 'passed'],
    ['folder', 'exists', 'passed'],
    ['gone.txt', 'exists', 'failed'],
    ['gone/deep.txt', 'exists', 'failed'],
    ['gone.txt', 'absent', 'passed'],
    ['here.txt', 'absent', 'failed'],
    ['here.txt', { matches: '^second$' }, 'passed'],
    ['here.txt', { matches: '^sec$' }, 'failed'],
    ['gone.txt', { matches: 'x' }, 'failed'],
    ['folder', { matches: 'x' }, 'failed'],
    ['link.txt', { matches: 'first' }, 'passed'],
  ] as const)('%s, %j: %s', async (path, expected, result) => {
    const { root, put } = createTemporaryFolder();
    put('here.txt', 'first\nsecond\n');
    mkdirSync(join(root, 'folder'));
    symlinkSync('here.txt', join(root, 'link.txt'));
    expect(await runCheck(fileCheck(path, expected), contextFor(root))).toMatchObject({
      check: 'file',
      result,
    });
  });

  it('never leaves the workspace, whichever way', async () => {
    const { root } = createTemporaryFolder();
    symlinkSync('/etc', join(root, 'way-out'));
    symlinkSync('/etc/passwd', join(root, 'file-out'));
    for (const path of [
      'way-out/passwd',
      'file-out',
      '/etc/passwd',
      '../../../etc/passwd',
      'x/../../x',
      'a\0',
    ]) {
      for (const expected of ['exists', 'absent', { matches: 'root' }] as const) {
        const result = await runCheck(fileCheck(path, expected), contextFor(root));
        expect([path, result.result, result.tail]).toEqual([path, 'failed', '']);
      }
    }
  });

  it.runIf(process.platform !== 'win32')(
    'does not hang at a FIFO nor read a huge file',
    async () => {
      const { root, put } = createTemporaryFolder();
      execFileSync('mkfifo', [join(root, 'pipe')]);
      writeFileSync(put('huge.txt', ''), 'x'.repeat(9 * 1024 * 1024));
      const pipe = await runCheck(fileCheck('pipe', { matches: 'x' }), contextFor(root));
      expect(pipe).toMatchObject({
        result: 'failed',
        sentence: 'pipe is not a regular file.',
      });
      const huge = await runCheck(
        fileCheck('huge.txt', { matches: 'x' }),
        contextFor(root),
      );
      expect(huge).toMatchObject({
        result: 'failed',
        sentence: 'huge.txt is larger than 8 MB and was not read.',
      });
    },
  );

  it('shows the end of what did not match, masked', async () => {
    const { root, put } = createTemporaryFolder();
    put('log.txt', 'token s3cr3t-value\nend\n');
    const environment = { MY_TOKEN: 's3cr3t-value' };
    const result = await runCheck(
      fileCheck('log.txt', { matches: 'nope' }),
      contextFor(root, { environment }),
    );
    expect(result.tail).toBe('token [masked]\nend');
  });
});

describe('V1: a human as a check', () => {
  const check = {
    id: 'look',
    kind: 'human',
    files: [],
    timeoutMs: 1000,
    question: 'Looks\nright?',
  } as const;

  it('is never answered by a machine', async () => {
    const { root } = createTemporaryFolder();
    expect(await runCheck(check, contextFor(root))).toMatchObject({
      result: 'failed',
      sentence: 'Waits for a human to approve: Looks right?',
    });
  });
});
