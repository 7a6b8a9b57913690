import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptProject } from '../../../test/support/accept-project.ts';
import {
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';

process.env['TZ'] = 'UTC';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
});

afterEach(() => bench.close());

describe('config', () => {
  it('C1: shows each value with its origin, and the files that were read', async () => {
    writeFileSync(
      join(bench.project, 'untildone.json'),
      '{"maxStagnant":5,"agents":{"my agent":{"mode":"off"}}}',
    );
    acceptProject(bench.env['UNTILDONE_HOME'] ?? '', bench.project);
    bench.env['UNTILDONE_CEILING'] = '40';
    bench.env['UNTILDONE_CIELING'] = '1';
    const { code, out, err } = await bench.run('config', '--max-continuations=20');
    expect(code).toBe(0);
    expect(out).toContain(
      `Files:\n  project  ${join(bench.project, 'untildone.json')}\n`,
    );
    expect(out).toMatch(/^ {2}maxStagnant +5 {2}\(project file\)$/m);
    expect(out).toMatch(/^ {2}ceiling +40 {2}\(environment\)$/m);
    expect(out).toMatch(/^ {2}maxContinuations +20 {2}\(flag\)$/m);
    expect(out).toMatch(/^ {2}minIntervalSeconds +1 {2}\(default\)$/m);
    expect(out).toMatch(/^ {2}agents\["my agent"\]\.mode +"off" {2}\(project file\)$/m);
    expect(err).toBe(
      'untildone: warning: UNTILDONE_CIELING: is not a setting and is ignored; did you mean UNTILDONE_CEILING?\n',
    );
  });

  it('C1: a wrong file or flag is told with its path and exits 2; --json tells it too', async () => {
    const file = join(bench.project, 'untildone.json');
    writeFileSync(file, '{"mode":"loud","maxTodo":1}');
    const { code, out, err } = await bench.run('config', '--max-stagnant=x');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('The configuration is wrong in 3 places:\n');
    expect(err).toContain(`  ${file}: mode: must be one of`);
    expect(err).toContain(`  ${file}: maxTodo: `);
    expect(err).toContain('  --max-stagnant: must be a whole number');
    const json = await bench.run('config', '--json');
    expect(json.code).toBe(2);
    expect(JSON.parse(json.out)).toMatchObject({
      ok: false,
      problems: [{ path: 'mode' }, { path: 'maxTodo' }],
    });
  });

  it('C1: what only our own agent knows is looked at too: tools that are allowed, tools of workers', async () => {
    const folder = join(bench.env['HOME'] ?? '', '.config', 'untildone');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'untildone.json');
    writeFileSync(
      file,
      '{"permissions":{"allow":{"shel":["ls"]}},"workers":{"coder":{"tools":["sudo"]}}}',
    );
    const { code, out, err } = await bench.run('config');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('  permissions.allow.shel: there is no such tool');
    expect(err).toContain('  workers.coder.tools: there is no tool "sudo"');
    expect(JSON.parse((await bench.run('config', '--json')).out)).toMatchObject({
      ok: false,
    });
  });

  it('config init writes a file that holds; one that is there is only added to', async () => {
    const file = join(bench.project, 'untildone.json');
    const first = await bench.run('config', 'init');
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toContain('untildone config init --check "npm test"\n');
    const written = readFileSync(file, 'utf8');
    expect(JSON.parse(written)).toMatchObject({ mode: 'enforce', ceiling: 500 });
    expect((await bench.run('config')).code).toBe(0);
    expect(await bench.run('config', 'init')).toMatchObject({
      code: 1,
      err: `untildone: ${file} is there already and was left as it is.\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe(written);
    // First-use 9.
    expect(await bench.run('config', 'init', '--check', 'make test')).toMatchObject({
      code: 0,
      err: '',
    });
    expect(readFileSync(file, 'utf8').startsWith(written.replace(/\n\}\n$/, ',\n'))).toBe(
      true,
    );
    const { settings, pending } = JSON.parse((await bench.run('config', '--json')).out);
    expect({ goal: settings.goal, pending }).toEqual({
      goal: ['make-test'],
      pending: null,
    });
  });

  it('first-use 9: a new file below one with checks needs checks of its own, and says so', async () => {
    await bench.run('config', 'init', '--check', 'make test');
    const below = { cwd: join(bench.project, 'below') };
    mkdirSync(below.cwd);
    expect((await bench.runWith(below, 'config', 'init')).out).toContain(
      'No check is set up here',
    );
  });

  it('first-use 24: the file may have comments, and its $schema is one that editors find', async () => {
    const file = join(bench.project, 'untildone.json');
    mkdirSync(join(bench.project, 'node_modules/untildone/dist'), { recursive: true });
    writeFileSync(join(bench.project, 'node_modules/untildone/dist/schema.json'), '{}');
    await bench.run('config', 'init');
    expect(JSON.parse(readFileSync(file, 'utf8')).$schema).toBe(
      './node_modules/untildone/dist/schema.json',
    );
    writeFileSync(file, '{\n  // why\n  "mode": "enforce" /* as always */\n}\n');
    expect((await bench.run('config')).code).toBe(0);
  });

  it('V10: an agent that writes the file does not accept it', async () => {
    const beneath = { whyNoHuman: async () => 'Said beneath an agent.' };
    const { code, err } = await bench.runWith(
      beneath,
      'config',
      'init',
      '--check',
      'true',
    );
    expect(code).toBe(0);
    expect(err).toContain('They are ignored until you do: run `untildone trust`.');
    expect(JSON.parse((await bench.run('config', '--json')).out).settings.goal).toEqual(
      [],
    );
  });
});
