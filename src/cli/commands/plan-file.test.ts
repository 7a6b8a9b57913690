import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { storePath } from '../../store/state-directory.ts';

let bench: CommandBench;
let path: string;
beforeEach(() => {
  bench = createCommandBench();
  path = join(bench.project, 'PLAN.md');
});
afterEach(() => bench.close());

const document = [
  '---',
  'title: Release',
  'checks: [npm test]',
  '---',
  '- [ ] Write it !high',
  '  check: unit',
  '- [x] Test it',
  '',
];

describe('plan import', () => {
  it('V1: gives a file a session of its own, which a second import finds again', async () => {
    writeFileSync(path, document.join('\n'));
    const first = await bench.run('plan', 'import', 'PLAN.md');
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toMatch(
      /^Imported 2 todos of PLAN\.md into session plan-PLAN\.md-[0-9a-f]{8}: 2 added, 0 changed, 0 dropped\.\n/,
    );
    expect(first.out).toContain('its goal checks ($ npm test) apply to `run --plan`');
    expect(first.out).toMatch(/\nnext: untildone run --plan PLAN\.md\n$/u);
    writeFileSync(path, document.join('\n').replace('- [x] Test it', '- [ ] Test it'));
    const second = JSON.parse(
      (await bench.run('plan', 'import', './PLAN.md', '--json')).out,
    );
    expect(second).toMatchObject({
      title: 'Release',
      goalChecks: ['$ npm test'],
      todos: 2,
      created: 0,
      changed: 1,
      dropped: 0,
    });
    const shown = await bench.run('plan', 'show', second.session);
    expect(shown.out).toContain('1 [ ] Write it  (high');
    expect(shown.out).toContain('2 [ ] Test it');
    expect((await bench.run('plan', 'log', second.session)).out).toContain(
      'file (plan-file) completed “Test it”',
    );
  });

  it('V1: imports into a session that is named, and never writes the file', async () => {
    await addStagnantSession(bench);
    const text = '- [ ] Write it\r\n- [ ] Something new';
    writeFileSync(path, text);
    const { out, code } = await bench.run(
      'plan',
      'import',
      'PLAN.md',
      '--session',
      'alpha',
    );
    expect([code, out]).toEqual([
      0,
      'Imported 2 todos of PLAN.md into session alpha-0001 “Build the parser”: 1 added, 0 changed, 0 dropped.\nnext: untildone plan show alpha-0001\n',
    ]);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('V10: an import anew takes the checks of todos that are in the plan, but not beneath an agent', async () => {
    writeFileSync(path, '- [ ] Write it\n');
    await bench.run('plan', 'import', 'PLAN.md');
    writeFileSync(path, '- [ ] Write it\n  check: npm test\n');
    const above = { agentAbove: async () => 'Codex' };
    expect((await bench.runWith(above, 'plan', 'import', 'PLAN.md')).out).toContain(
      'unless `--plan`',
    );
    expect((await bench.run('plan', 'export', 'plan-')).out).not.toContain('check:');
    await bench.run('plan', 'import', 'PLAN.md');
    expect((await bench.run('plan', 'export', 'plan-')).out).toContain(
      'check: `npm test`',
    );
  });

  it('V3: beneath an agent it takes no checks from the file, and says so', async () => {
    writeFileSync(path, document.join('\n'));
    const { out } = await bench.runWith(
      { agentAbove: async () => 'Codex' },
      'plan',
      'import',
      'PLAN.md',
    );
    expect(out).toContain('note: line 5: a check that you did not allow was left out');
    expect((await bench.run('plan', 'export', 'plan-')).out).not.toContain('check:');
  });

  it('25: a file without todos makes no session, and says what a todo is', async () => {
    writeFileSync(path, '# Nothing yet\n');
    const empty = {
      code: 1,
      out: '',
      err: 'untildone: PLAN.md has no todos, so nothing was imported. A line such as `- [ ] Write the parser` is one.\n',
    };
    expect(await bench.run('plan', 'import', 'PLAN.md')).toEqual(empty);
    expect(existsSync(storePath(bench.env))).toBe(false);
    await addStagnantSession(bench);
    expect(await bench.run('plan', 'import', 'PLAN.md')).toEqual(empty);
    expect(await bench.run('plan', 'import', 'PLAN.md', '--session', 'alpha')).toEqual(
      empty,
    );
    expect((await bench.run('status', '--all')).out).not.toContain('plan-PLAN');
    // A list that was emptied is another thing: its todos are dropped.
    writeFileSync(path, '- [ ] One\n');
    await bench.run('plan', 'import', 'PLAN.md');
    writeFileSync(path, '# Nothing left\n');
    expect((await bench.run('plan', 'import', 'PLAN.md')).out).toContain(
      '0 added, 0 changed, 1 dropped.',
    );
  });

  it('25: an imported plan does not run, and is meant only where it is named', async () => {
    writeFileSync(path, '- [ ] Write it\n');
    await bench.run('plan', 'import', 'PLAN.md');
    const { out } = await bench.run('status');
    expect(out).toContain('  state  imported; nobody works on it\n');
    expect(
      JSON.parse((await bench.run('status', '--json')).out).sessions[0].state.name,
    ).toBe('idle');
    for (const command of [
      ['why'],
      ['plan', 'show'],
      ['plan', 'log'],
      ['transcript'],
      ['report'],
    ])
      expect(await bench.run(...command)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(
          /There is no session of this directory\. There is an imported plan, which you can name: [0-9a-f]{6}\./u,
        ),
      });
    expect((await bench.run('verify')).out).toContain('Nothing to verify');
    await addStagnantSession(bench);
    await bench.run('plan', 'import', 'PLAN.md');
    expect((await bench.run('plan', 'show')).out).toContain('alpha-0001');
  });

  it('T6: a wrong file is told with its lines and leaves no trace', async () => {
    writeFileSync(path, '- [ ] a\n  - check:\n');
    expect(await bench.run('plan', 'import', 'PLAN.md')).toEqual({
      code: 1,
      out: '',
      err: 'untildone: PLAN.md: line 2: this check is empty.\nuntildone: Nothing was imported.\n',
    });
    expect(await bench.run('plan', 'import', 'no.md')).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be opened (ENOENT)'),
    });
    expect(await bench.run('plan', 'import', '.')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not a regular file'),
    });
    writeFileSync(path, '- [ ] a\n');
    expect(await bench.run('plan', 'import', 'PLAN.md', '--session', 'x')).toMatchObject({
      code: 1,
    });
    expect(existsSync(storePath(bench.env))).toBe(false);
  });
});

describe('plan export', () => {
  it('T1: prints a task list that reads back as the same plan', async () => {
    await addStagnantSession(bench);
    const { out, code } = await bench.run('plan', 'export');
    expect(code).toBe(0);
    expect(out).toBe(
      '- [x] Write it\n- [x] Test it\n- [ ] Document it\n- [ ] Publish it\n  - blocked: needs a key\n',
    );
    expect(JSON.parse((await bench.run('plan', 'export', '--json')).out)).toEqual({
      session: 'alpha-0001',
      title: 'Build the parser',
      plan: 'alpha-0001',
      markdown: out,
    });
    writeFileSync(path, out);
    await bench.run('plan', 'import', 'PLAN.md');
    expect((await bench.run('plan', 'export', 'plan-')).out).toBe(out);
    const into = await bench.run('plan', 'import', 'PLAN.md', '--session', 'alpha');
    expect(into.out).toContain('0 added, 0 changed, 0 dropped');
  });

  it('V1: writes a new file, and in one that exists only the boxes', async () => {
    await addStagnantSession(bench);
    expect(await bench.run('plan', 'export', 'alpha', '--file', 'NEW.md')).toEqual({
      code: 0,
      out: 'Wrote 4 todos to NEW.md.\n',
      err: '',
    });
    expect(readFileSync(join(bench.project, 'NEW.md'), 'utf8')).toContain(
      '- [x] Write it\n',
    );
    mkdirSync(join(bench.project, 'docs'));
    const target = join(bench.project, 'docs', 'plan.md');
    writeFileSync(target, '# Mine\r\n* [ ] write IT\r\n* [x] Document it\r\n* [ ] Other');
    symlinkSync(target, path);
    const { out, code } = await bench.run('plan', 'export', 'alpha', '--file', 'PLAN.md');
    expect([code, out]).toEqual([
      0,
      'Wrote 1 box in PLAN.md; nothing else in it was touched. 2 todos of the plan have no line there.\n',
    ]);
    expect(readFileSync(target, 'utf8')).toBe(
      '# Mine\r\n* [x] write IT\r\n* [x] Document it\r\n* [ ] Other',
    );
  });

  it('T1: says what is wrong with the place, and writes nothing', async () => {
    expect(await bench.run('plan', 'export')).toMatchObject({
      code: 1,
      err: expect.stringContaining('There are no sessions yet'),
    });
    await addStagnantSession(bench);
    expect(await bench.run('plan', 'export', '--file', 'no/where.md')).toMatchObject({
      code: 1,
      err: expect.stringContaining('ENOENT'),
    });
    symlinkSync('nowhere.md', path);
    expect(await bench.run('plan', 'export', '--file', 'PLAN.md')).toMatchObject({
      code: 2,
      err: expect.stringContaining('ENOENT'),
    });
    expect(existsSync(join(bench.project, 'nowhere.md'))).toBe(false);
    writeFileSync(join(bench.project, 'bytes.md'), Buffer.from([0xff]));
    expect(await bench.run('plan', 'export', '--file', 'bytes.md')).toMatchObject({
      code: 1,
      err: expect.stringContaining('not text in UTF-8'),
    });
  });
});
