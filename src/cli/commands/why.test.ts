import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { stopRules } from '../../core/rules.ts';
import { appendFailure } from '../../hosts/shared.ts';

process.env['TZ'] = 'UTC';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
});

afterEach(() => bench.close());

function linesOf(text: string): string[] {
  return text.split('\n');
}

describe('why', () => {
  it('17: five lines: what happened, the rule, its numbers, which check failed, what was sent', async () => {
    await addStagnantSession(bench);
    expect(linesOf((await bench.run('why')).out).slice(6)).toEqual([
      'alpha-0001 “Build the parser”, 5 s ago: may stop: stagnant. No progress after 3 continuations.',
      '  rule     stagnant, 36 of 39: Was there no progress for too many continuations?',
      '  numbers  without progress 3, limit 3, unverified 0',
      '  check    none failed',
      '  sent     nothing',
      '',
    ]);
    const refused = linesOf((await bench.run('why', '--decision', '4')).out);
    expect(refused).toHaveLength(6);
    expect(refused[0]).toMatch(
      /^alpha-0001 “Build the parser”, \d+ s ago, decision 4 of 6: sent back to work\. Todos are still open: the agent is told to go on /u,
    );
    expect(refused[1]).toBe('  rule     none of 39 lets the agent stop, so it goes on');
    expect(refused[2]).toContain(
      'open 1, total 3, continuations 2, stagnant 2, next Document it',
    );
    expect(refused[4]).toMatch(
      /^ {2}sent {5}“\[TODO CONTINUATION\] 2\/4 completed, 1 remaining, 1 blocked\. /u,
    );
  });

  it('V6: it lists the refusals of the turn first, one line each: when, why and what was sent', async () => {
    await addStagnantSession(bench);
    const { out } = await bench.run('why');
    const lines = linesOf(out);
    expect(lines.slice(0, 7)).toEqual([
      'alpha-0001 “Build the parser” was sent back to work 4 times in this turn:',
      expect.stringMatching(
        /^ {2}08:00:00 {2}Todos are still open: the agent is told to go on \(reminder 1 of 3\)\. Sent: “1\/4 completed, 3 remaining\. Go on /u,
      ),
      expect.stringMatching(/^ {2}08:00:05 {2}.*Sent: “2\/4 completed, 2 remaining/u),
      expect.stringMatching(/^ {2}08:00:10 {2}.*reminder 2 of 3/u),
      expect.stringMatching(/^ {2}08:00:15 {2}.*reminder 3 of 3/u),
      '',
      expect.stringMatching(/^alpha-0001 .*may stop: stagnant\./u),
    ]);
    const { refusals } = JSON.parse((await bench.run('why', '--json')).out);
    expect(refusals).toHaveLength(4);
    expect(refusals[0]).toMatchObject({
      sequence: 1,
      textKind: 'standard',
      level: 1,
      text: expect.stringContaining('[TODO CONTINUATION] 1/4 completed'),
    });
    const one = await bench.run('why', '--decision', '6');
    expect(one.out, 'one decision by its number has no list').not.toContain(
      'sent back to work 4 times',
    );
  });

  it('V6: the list has the refusals of the explained turn alone', async () => {
    const host = await bench.host({ sessionId: 'alpha-0001' });
    await host.open();
    await host.says('Work');
    const [first = ''] = await host.plans('Write it');
    await host.works();
    await host.stops();
    await bench.clock.advance(1000);
    await host.completes(first, 'written');
    await host.stops();
    await bench.clock.advance(1000);
    await host.says('More');
    const [second = ''] = await host.plans('Try it');
    await host.works();
    await host.stops();
    await bench.clock.advance(1000);
    await host.completes(second, 'tried');
    await host.works();
    await host.stops();
    expect(linesOf((await bench.run('why')).out)[0]).toBe(
      'alpha-0001 “Work” was sent back to work once in this turn:',
    );
    await bench.clock.advance(1000);
    await host.says('And now?');
    // `why` still explains the turn before.
    expect(linesOf((await bench.run('why')).out)[0]).toBe(
      'alpha-0001 “Work” was sent back to work once in this turn:',
    );
  });

  it('C4: a later stop that a broken hook let through is told too', async () => {
    await addStagnantSession(bench);
    const place = { host: 'codex', hook: 'Stop', sessionId: 'alpha-0001', stopOf: null };
    const at = bench.clock.now() - 1000;
    appendFailure(bench.env, new Error('The store is locked.'), { ...place, at: 1 });
    expect((await bench.run('why')).out, 'an earlier one is over').not.toContain(
      'could not decide',
    );
    appendFailure(bench.env, new Error('The store is locked.'), { ...place, at });
    const told =
      'Since then, 1 s ago: may stop. untildone could not decide: The store is locked.';
    expect(linesOf((await bench.run('why')).out).at(-2)).toBe(told);
    expect(JSON.parse((await bench.run('why', '--json')).out).undecided).toMatchObject({
      at,
    });
    expect((await bench.run('why', '--decision', '4')).out).not.toContain(
      'could not decide',
    );
  });

  it('17: names the check that failed, and what it printed', async () => {
    const host = await bench.host({ sessionId: 'alpha-0001' });
    await host.open();
    await host.says('Work');
    await host.plans('Write it');
    const row = {
      sessionId: 'alpha-0001',
      todoId: null,
      check: 'npm test',
      flaky: false,
      fingerprint: null,
      timedOut: false,
    };
    const seen = {
      sentence: 'npm test exited with 1 instead of 0 after 0.2 s.',
      milliseconds: 200,
      exitCode: 1,
    };
    const at = bench.clock.now();
    const evidence = {
      ...row,
      ...seen,
      at,
      result: 'failed',
      tail: 'ok 1\n\u001b[31mnot ok 2 - parses\n',
    } as const;
    await (await bench.store()).record({ evidence: [evidence] });
    await host.works();
    await host.stops();
    const { out } = await bench.run('why');
    expect(out).toContain(
      '  check    check "npm test" failed: it exited with 1 instead of 0. It printed “not ok 2 - parses”.\n',
    );
    const json = JSON.parse((await bench.run('why', '--json')).out);
    expect(json.failedChecks).toMatchObject([{ check: 'npm test' }]);
    expect(json.text).toContain('] 0/1 completed');
  });

  it('V1: it names a check that failed for the goal and for a todo once', async () => {
    const host = await bench.host({ sessionId: 'alpha-0001' });
    await host.open();
    await host.says('Work');
    await host.plans('Write it');
    const seen = {
      flaky: false,
      fingerprint: null,
      timedOut: false,
      milliseconds: 200,
      exitCode: 1,
    };
    const said = {
      sentence: 'npm test exited with 1 instead of 0 after 0.2 s.',
      tail: '',
    };
    const row = {
      ...seen,
      ...said,
      sessionId: 'alpha-0001',
      check: '$ npm test',
      result: 'failed',
    } as const;
    const at = bench.clock.now();
    const evidence = [null, 'todo-1'].map((todoId) => ({ ...row, todoId, at }));
    await (await bench.store()).record({ evidence });
    await host.works();
    await host.stops();
    expect((await bench.run('why')).out.split('check "npm test" failed')).toHaveLength(2);
  });

  it('V6: --rules prints them in order, the one that answered, and those that were not asked', async () => {
    await addStagnantSession(bench);
    const { out } = await bench.run('why', '--rules');
    expect(out).toMatch(
      /^Decision 6 of 6, 2027-01-15 08:00:25, settings [0-9a-f]{32}$/mu,
    );
    const names = [...out.matchAll(/^ +\d+ {2}(\S+) +(silent|ANSWERED|not asked)/gm)].map(
      (match) => [match[1], match[2]],
    );
    const answered = stopRules.findIndex(({ name }) => name === 'stagnant');
    expect(names).toEqual([
      ...stopRules.slice(0, answered).map(({ name }) => [name, 'silent']),
      ['stagnant', 'ANSWERED'],
      ...stopRules.slice(answered + 1).map(({ name }) => [name, 'not asked']),
    ]);
  });

  it('V6: for a continuation all rules were silent, and the text is named and shown whole', async () => {
    await addStagnantSession(bench);
    const { out } = await bench.run('why', 'alpha', '--decision', '4', '--rules');
    expect(out).toContain('Decision 4 of 6');
    expect(out).not.toMatch(/ANSWERED/);
    expect(out).toContain(
      'No rule answered, so the agent goes on. The text that it got (firmness 3 of 3):',
    );
    expect(out).toMatch(/standard +CHOSEN/);
    expect(out).toContain('  │ [TODO CONTINUATION] 2/4 completed');
    const none = await bench.run('why', 'alpha', '--decision', '7');
    expect(none).toMatchObject({
      code: 2,
      err: expect.stringContaining('has 6 decisions; there is no decision 7'),
    });
  });

  it('--json carries the decision and a mark for every rule', async () => {
    await addStagnantSession(bench);
    const answer = JSON.parse((await bench.run('why', '--json')).out);
    expect(answer).toMatchObject({
      sequence: 6,
      latest: 6,
      decision: { reason: 'stagnant', outcome: 'stagnant' },
    });
    expect(answer.rules).toHaveLength(stopRules.length);
    expect(
      answer.rules.filter(({ mark }: { mark: string }) => mark === 'answered'),
    ).toHaveLength(1);
  });

  it('G9: a continuation that no host took is answered by a rule of the list, too', async () => {
    const host = await bench.host({
      sessionId: 'told-0001',
      mode: 'told',
      takes: () => false,
      settings: { sendAttempts: 1 },
    });
    await host.runtime.attach();
    await host.open();
    await host.says('Clean up');
    await host.plans('Remove dead code');
    await host.stops();
    await bench.clock.advance(2000);
    const { out } = await bench.run('why', '--rules');
    expect(out).toMatch(/38 +delivery-failed +ANSWERED/u);
    expect(out).toContain('the scripted host refused');
    await host.runtime.detach();
  });
});
