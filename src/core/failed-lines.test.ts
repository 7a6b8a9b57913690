// The outputs are those of real programs, shortened only in lines that are not picked.
import { describe, expect, it } from 'vitest';
import { findSameOutput, outputKey, pickFailedLines } from './failed-lines.ts';

const nodeSpec = `
> sum@1.0.0 test
> node --test

✔ is a function that throws no Error (0.452985ms)
✖ adds (0.541487ms)
✖ throws (0.094ms)
ℹ tests 3
ℹ pass 1
ℹ fail 2
ℹ duration_ms 64.409902

✖ failing tests:

test at sum.test.js:3:1
✖ adds (0.541487ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
  
  0 !== 4
  
      at TestContext.<anonymous> (/tmp/sum.test.js:3:29)
      at Test.run (node:internal/test_runner/test:1402:25) {
    generatedMessage: true,
    code: 'ERR_ASSERTION',
    actual: 0,
    expected: 4,
    operator: 'strictEqual',
    diff: 'simple'
  }

test at sum.test.js:5:1
✖ throws (0.094ms)
  TypeError: Cannot read properties of null (reading 'x')
      at TestContext.<anonymous> (/tmp/sum.test.js:5:29)
`;

const nodeTap = `TAP version 13
# Subtest: is a function that throws no Error
ok 1 - is a function that throws no Error
  ---
  duration_ms: 0.517662
  ...
# Subtest: adds
not ok 2 - adds
  ---
  duration_ms: 0.579624
  failureType: 'testCodeFailure'
  error: |-
    Expected values to be strictly equal:
    
    0 !== 4
    
  code: 'ERR_ASSERTION'
  name: 'AssertionError'
  expected: 4
  actual: 0
  operator: 'strictEqual'
  stack: |-
    TestContext.<anonymous> (/tmp/sum.test.js:3:29)
  ...
1..2
# tests 2
# fail 1
`;

const vitest = `
 RUN  v5.1.0 /tmp/project

 ❯ sum.test.ts (3 tests | 1 failed) 7ms
   ✓ passes 1ms
   × adds 4ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  sum.test.ts > adds
AssertionError: expected +0 to be 4 // Object.is equality

- Expected
+ Received

- 4
+ 0

 ❯ sum.test.ts:3:32

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed (2)
   Duration  136ms
`;

const jest = `FAIL ./sum.test.js
  ✓ is a function (2 ms)
  ✕ adds (3 ms)

  ● adds

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 0

      3 | test('adds', () => {
    > 4 |   expect(sum(2, 2)).toBe(4);
        |                     ^

      at Object.toBe (sum.test.js:4:21)

Tests:       1 failed, 1 passed, 2 total
Time:        0.31 s
`;

const pytest = `.F                                                                       [100%]
=================================== FAILURES ===================================
__________________________________ test_adds ___________________________________

    def test_adds():
>       assert add(2, 2) == 4
E       assert 0 == 4
E        +  where 0 = add(2, 2)

test_sum.py:8: AssertionError
=========================== short test summary info ============================
FAILED test_sum.py::test_adds - assert 0 == 4
1 failed, 1 passed in 0.46s
`;

const unittest = `F.
======================================================================
FAIL: test_adds (__main__.T.test_adds)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/tmp/t.py", line 4, in test_adds
    def test_adds(self): self.assertEqual(0, 4)
                         ^^^^^^^^^^^^^^^^^^^^^^
AssertionError: 0 != 4

----------------------------------------------------------------------
Ran 2 tests in 0.000s

FAILED (failures=1)
`;

const goTest = `=== RUN   TestOk
--- PASS: TestOk (0.00s)
=== RUN   TestAdd
--- FAIL: TestAdd (0.00s)
    sum_test.go:11: got 0, want 4
FAIL
FAIL\texample.com/sum\t0.002s
`;

const cargo = `running 2 tests
test tests::ok ... ok
test tests::adds ... FAILED

failures:

---- tests::adds stdout ----

thread 'tests::adds' (31604) panicked at src/lib.rs:6:17:
assertion \`left == right\` failed
  left: 0
 right: 4
stack backtrace:
   0: __rustc::rust_begin_unwind

test result: FAILED. 1 passed; 1 failed; 0 ignored
`;

const tsc = `a.ts(1,5): error TS2322: Type 'string' is not assignable to type 'number'.\n`;
const eslint = `
/tmp/a.js
  3:5  error  'x' is assigned a value but never used  no-unused-vars

✖ 1 problem (1 error, 0 warnings)
`;
const shell = 'step one\nstep two\ngrep: /nope: No such file or directory\n';

const picked: [string, string, string[]][] = [
  [
    'node --test',
    nodeSpec,
    [
      'test at sum.test.js:3:1',
      '✖ adds (0.541487ms)',
      '  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:',
      '  0 !== 4',
      '    actual: 0,',
      '    expected: 4,',
      'test at sum.test.js:5:1',
      '✖ throws (0.094ms)',
    ],
  ],
  [
    'node --test with TAP',
    nodeTap,
    [
      'not ok 2 - adds',
      '  error: |-',
      '    Expected values to be strictly equal:',
      '    0 !== 4',
      '  expected: 4',
      '  actual: 0',
    ],
  ],
  [
    'vitest',
    vitest,
    [
      ' FAIL  sum.test.ts > adds',
      'AssertionError: expected +0 to be 4 // Object.is equality',
    ],
  ],
  [
    'jest',
    jest,
    [
      'FAIL ./sum.test.js',
      '  ● adds',
      '    expect(received).toBe(expected) // Object.is equality',
      '    Expected: 4',
      '    Received: 0',
    ],
  ],
  [
    'pytest',
    pytest,
    [
      '>       assert add(2, 2) == 4',
      'E       assert 0 == 4',
      'E        +  where 0 = add(2, 2)',
      'test_sum.py:8: AssertionError',
      'FAILED test_sum.py::test_adds - assert 0 == 4',
    ],
  ],
  [
    'unittest',
    unittest,
    [
      'FAIL: test_adds (__main__.T.test_adds)',
      'AssertionError: 0 != 4',
      'FAILED (failures=1)',
    ],
  ],
  [
    'go test',
    goTest,
    [
      '--- FAIL: TestAdd (0.00s)',
      '    sum_test.go:11: got 0, want 4',
      'FAIL',
      'FAIL    example.com/sum    0.002s',
    ],
  ],
  [
    'cargo test',
    cargo,
    [
      'test tests::adds ... FAILED',
      "thread 'tests::adds' (31604) panicked at src/lib.rs:6:17:",
      'assertion `left == right` failed',
      '  left: 0',
      ' right: 4',
      'test result: FAILED. 1 passed; 1 failed; 0 ignored',
    ],
  ],
  ['tsc', tsc, [tsc.trim()]],
  [
    'eslint',
    eslint,
    [
      '/tmp/a.js',
      "  3:5  error  'x' is assigned a value but never used  no-unused-vars",
      '✖ 1 problem (1 error, 0 warnings)',
    ],
  ],
  [
    'a shell script, which marks nothing',
    shell,
    ['step one', 'step two', 'grep: /nope: No such file or directory'],
  ],
];

describe('the lines that say what failed', () => {
  it.each(picked)(
    'first-use 13: are picked from what %s prints',
    (_program, output, lines) => {
      expect(pickFailedLines(output, 8)).toEqual(lines);
    },
  );

  it('V1: come from anywhere in the output, each with the line before it', () => {
    const output = `${'fine\n'.repeat(500)}in sum.js\nError: no sum\n${'fine\n'.repeat(500)}`;
    expect(pickFailedLines(output, 8)).toEqual(['in sum.js', 'Error: no sum']);
  });

  it('V1: are the last lines if no line has a mark, without empty ones', () => {
    expect(pickFailedLines('one\n\ntwo\r\nthree\n\n', 2)).toEqual(['two', 'three']);
    expect(pickFailedLines(' \n', 2)).toEqual([]);
  });

  it.each([
    '✓ throws an Error (1 ms)',
    'ok 3 - an Error is thrown',
    'test a ... ok',
    '0 errors, 0 failed',
  ])('V1: %j is no failure', (line) => {
    expect(pickFailedLines(`${line}\nthe end\n`, 1)).toEqual(['the end']);
  });

  it('V1: are found despite colours, which are removed', () => {
    const red = '\u001b[31mFAIL\u001b[39m sum\n\u001b[2Jmore';
    expect(pickFailedLines(red, 8)).toEqual(['FAIL sum']);
  });

  it('V1: are picked from a hostile output within two seconds', () => {
    const hostile = [
      'x'.repeat(3_000_000),
      `✖ ${' '.repeat(60_000)}x`,
      '✖ a\n'.repeat(30_000),
      'Error:\n'.repeat(20_000),
      'a:'.repeat(60_000),
      '\u001b['.repeat(60_000),
    ];
    const began = performance.now();
    for (const output of hostile)
      expect(pickFailedLines(output, 8).length).toBeLessThanOrEqual(8);
    expect(performance.now() - began).toBeLessThan(2000);
  });
});

describe('the same output', () => {
  it('V1: has the same key, however long the run took', () => {
    const later = nodeSpec.replaceAll('0.541487ms', '7.1ms').replace('64.409902', '99.5');
    expect(outputKey(later)).toBe(outputKey(nodeSpec));
    expect(outputKey(vitest.replace('136ms', '2.5s'))).toBe(outputKey(vitest));
    expect(outputKey(nodeSpec.replaceAll('0 !== 4', '1 !== 4'))).not.toBe(
      outputKey(nodeSpec),
    );
  });

  it('V1: names the first check that printed it; two checks that printed nothing are not the same', () => {
    const failures = [
      { name: 'a', tail: 'a exited with 1.\nnot ok 1' },
      { name: 'b', tail: 'b exited with 1.' },
      { name: 'c', tail: 'c exited with 2.\nnot ok 1' },
      { name: 'd', tail: 'd exited with 1.' },
      { name: 'e', tail: null },
    ];
    expect(findSameOutput(failures)).toEqual([null, null, 'a', null, null]);
  });
});
