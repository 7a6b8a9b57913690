import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import type { EvidenceRow } from '../../engine/host.ts';

process.env['TZ'] = 'UTC';

let bench: CommandBench;
beforeEach(() => {
  bench = createCommandBench();
});
afterEach(() => bench.close());

const sessionId = 'own-0001';

/** A session of our own agent: two files, two todos, each worked on in turn. */
async function addRun(names: { path?: string; title?: string; goal?: string } = {}) {
  const {
    path = 'src/parser.ts',
    title = 'Write the parser',
    goal = 'Build the parser',
  } = names;
  const host = await bench.host({ sessionId, descriptor: { host: 'untildone' } });
  await host.open();
  await host.says(goal);
  const store = await bench.store();
  const show = (fields: object) =>
    store.record({
      shown: [
        {
          sessionId,
          body: JSON.stringify({ at: bench.clock.now(), sessionId, ...fields }),
        },
      ],
    });
  const change = (file: string) =>
    show({
      type: 'file-changed',
      callId: 'c',
      tool: 'write_file',
      path: file,
      isNew: true,
      added: 3,
      removed: 1,
      diff: '',
    });
  const see = (
    check: string,
    result: 'passed' | 'failed',
    todoId: string | null = null,
    milliseconds = 5,
  ) => {
    const row = {
      sessionId,
      todoId,
      check,
      result,
      at: bench.clock.now(),
      flaky: false,
      fingerprint: null,
    };
    const seen = {
      sentence: `${check} exited with 1.`,
      tail: '',
      milliseconds,
      exitCode: 1,
      timedOut: false,
    };
    return store.record({ evidence: [{ ...row, ...seen } as EvidenceRow] });
  };
  const [first = '', second = ''] = await host.plans(title, 'Document it');
  await host.works();
  await change(path);
  await bench.clock.advance(1000);
  await host.completes(first, 'works');
  await bench.clock.advance(1000);
  return { host, show, change, see, first, second };
}

const rowOf = (out: string, start: string) =>
  out.split('\n').find((line) => line.startsWith(start));

describe('report', () => {
  it('door 8: names each changed file with the checks that passed after it, and the todo that claims it', async () => {
    const { host, change, see, second } = await addRun();
    await see('lint', 'passed');
    await bench.clock.advance(1000);
    await host.works();
    await change('README.md');
    await bench.clock.advance(1000);
    await host.completes(second, 'done');
    await see('npm test | tee log', 'passed');
    const { code, out } = await bench.run('report', '--md');
    expect(code).toBe(0);
    const test = '`npm test \\| tee log`';
    expect(rowOf(out, '| `src/parser.ts`')).toBe(
      `| \`src/parser.ts\` | +3 −1 (new) | ${test}; \`lint\` passed before later changes | Write the parser |`,
    );
    expect(rowOf(out, '| `README.md`')).toBe(
      `| \`README.md\` | +3 −1 (new) | ${test} | Document it |`,
    );
    const json = JSON.parse((await bench.run('report', '--json')).out);
    expect(
      json.checks.map(({ check, onFinalState }: Record<string, unknown>) => [
        check,
        onFinalState,
      ]),
    ).toEqual([
      ['npm test | tee log', true],
      ['lint', false],
    ]);
    expect(out).toContain(
      '| `npm test \\| tee log` | the goal | passed on the final state, after the change of `README.md` |',
    );
    expect(out).toContain(
      '| `lint` | the goal | passed, but files were written since, after the change of `src/parser.ts` |',
    );
  });

  it('V2: a check that began before the last write and ended after it did not pass on the final state', async () => {
    const { see } = await addRun();
    await see('npm test', 'passed', null, 60_000);
    const { checks } = JSON.parse((await bench.run('report', '--json')).out);
    expect(checks).toMatchObject([
      { check: 'npm test', result: 'passed', onFinalState: false },
    ]);
  });

  it('door 8: what the human gave as a check on the goal proves every file, once it passed on the final state', async () => {
    const { see } = await addRun();
    await see('npm test', 'failed');
    expect(rowOf((await bench.run('report')).out, '| `src/parser.ts`')).toContain(
      '| **nothing** |',
    );
    await bench.clock.advance(1000);
    await see('npm test', 'passed');
    const { out } = await bench.run('report');
    expect(rowOf(out, '| `src/parser.ts`')).toBe(
      '| `src/parser.ts` | +3 −1 (new) | `npm test` | Write the parser |',
    );
    expect(out).toContain('| `npm test` | the goal | passed on the final state');
  });

  it('door 8: tells claimed from checked, counts what was refused, and says what it took', async () => {
    await addStagnantSession(bench);
    const { out } = await bench.run('report');
    expect(out.split('\n').slice(0, 9)).toEqual([
      '## stagnant: Build the parser',
      '',
      'No progress after 3 continuations.',
      '',
      '- **Goal**: Build the parser',
      '- **Plan**: 4 todos: 2 claimed, not checked · 1 blocked · 1 open',
      '- **Refused**: said done 4 times too early; sent back to work 4 times',
      '- **Took**: 25 s',
      '- **By**: scripted, scripted/model; session `alpha-0001`, ended 2027-01-15 08:00:25',
    ]);
    expect(out).toContain(
      '### Changed files\n\nNot recorded: `git status` shows them.\n',
    );
    expect(out).toContain('- [x] Write it → claimed, not checked: works\n');
    expect(out).toContain('- [ ] Publish it → blocked: needs a key\n');
    const json = JSON.parse((await bench.run('report', 'alpha', '--json')).out);
    expect(json).toMatchObject({
      session: 'alpha-0001',
      outcome: 'stagnant',
      filesKnown: false,
      milliseconds: 25_000,
      refusals: { total: 4, saidDone: 4 },
    });
    expect(json.todos[0]).toMatchObject({ title: 'Write it', standing: 'claimed' });
  });

  it('door 8: quotes what was said before it was sent back', async () => {
    const { host, show } = await addRun();
    await show({ type: 'text-held-back', text: 'All done! It works.' });
    await host.stops();
    await show({
      type: 'continuation',
      textKind: 'standard',
      level: 1,
      sentence: '',
      text: '',
      number: 1,
    });
    expect((await bench.run('report')).out).toMatch(
      /### Sent back to work\n\n- [\d :-]+: “All done! It works\.”, todos open\n/u,
    );
  });

  it('door 8: hostile names stay text: no mark-up, link, mention, table cell or escape sequence of their own', async () => {
    const title =
      '\u001b[31m[x](https://evil) | <img src=x> @ada closes #1 **bold** `code`\n# head';
    await addRun({ path: 'a`b|c\n\u001b[2J.ts', title, goal: '- [x] done @team' });
    const { out } = await bench.run('report');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/u);
    expect(out).toContain('- **Goal**: \\- \\[x\\] done @\u200bteam\n');
    expect(out).toContain(
      '\\[x\\](https\\://evil) \\| \\<img src=x\\> @\u200bada closes #\u200b1 \\*\\*bold\\*\\* \\`code\\` # head',
    );
    expect(rowOf(out, '| ``a`b')).toMatch(/^\| ``a`b\\\|c \.ts`` \|/u);
    for (const line of out.split('\n').filter((each) => each.startsWith('|')))
      expect(line.replaceAll('\\|', '').split('|'), line).toHaveLength(
        line.includes('check') ? 5 : 6,
      );
    expect(JSON.parse((await bench.run('report', '--json')).out).goal).toBe(
      '- [x] done @team',
    );
  });

  it('wrong usage is a sentence', async () => {
    expect(await bench.run('report', '--md', '--json')).toMatchObject({
      code: 2,
      out: '',
    });
  });
});
