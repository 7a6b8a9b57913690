// V10: a human's yes to what a project's file asks for, at the command line.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';

let bench: CommandBench;
beforeEach(() => {
  bench = createCommandBench();
});
afterEach(() => bench.close());

const write = (config: object) =>
  writeFileSync(join(bench.project, 'untildone.json'), JSON.stringify(config));
const kept = () => join(bench.home, 'trust.json');
const inForce = async (setting: string) =>
  JSON.parse((await bench.run('config', '--json')).out).settings[setting];

describe('untildone trust', () => {
  it('V10: shows every entry in full, with control characters written out, and accepts them', async () => {
    const command = `echo ${'long '.repeat(200)}\u202e`;
    write({ checks: { x: { command } }, goal: ['x'], maxStagnant: 7 });
    expect(await inForce('maxStagnant')).toBe(3);
    const { code, out } = await bench.run('trust', '--yes');
    expect(code).toBe(0);
    expect(out).toContain(`+ checks.x: {"command":"echo ${'long '.repeat(200)}\\u202e"}`);
    expect(out).toContain('+ goal: "x"\n');
    expect(out).toContain('+ maxStagnant: 7\n');
    expect(await inForce('maxStagnant')).toBe(7);
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
    expect((await bench.run('trust')).out).toContain('is accepted:');
  });

  it('V10: shows what changed; what was accepted stays in force until then', async () => {
    write({ maxStagnant: 7, protect: ['a', 'b'] });
    await bench.run('trust', '--yes');
    write({ maxStagnant: 1, protect: ['b'] });
    const { code, out } = await bench.run('trust', '--json');
    expect(code).toBe(3);
    expect(JSON.parse(out).pending).toMatchObject({
      added: [{ path: 'maxStagnant', value: 1 }],
      removed: [
        { path: 'maxStagnant', value: 7 },
        { path: 'protect', value: 'a' },
      ],
    });
    expect(await inForce('maxStagnant')).toBe(7);
    expect(await inForce('protect')).toEqual(['a', 'b']);
  });

  it('V10: names what is never taken from a project, before and after it is accepted', async () => {
    const x = { command: 'true', environment: ['ANTHROPIC_API_KEY'] };
    write({ checks: { x }, permissions: { mode: 'auto' } });
    for (const words of [['trust', '--yes'], ['trust']]) {
      const { out } = await bench.run(...words);
      expect(out).toContain('! checks.x.environment: ANTHROPIC_API_KEY: is ignored');
      expect(out).toContain('! permissions.mode: is ignored');
    }
  });

  it('V10: is refused beneath an agent and without a terminal, and then nothing is kept', async () => {
    write({ mode: 'off' });
    const beneath = { whyNoHuman: async () => 'Only a human may do this.' };
    expect(await bench.runWith(beneath, 'trust', '--yes')).toMatchObject({
      code: 1,
      err: 'untildone: Only a human may do this.\n',
    });
    expect((await bench.runWith(beneath, 'trust', 'revoke')).code).toBe(1);
    expect(existsSync(kept())).toBe(false);
    expect(
      (
        await bench.runWith(
          { agentAbove: async () => 'Claude Code' },
          'run',
          'x',
          '--trust',
        )
      ).code,
    ).toBe(2);
    expect(existsSync(kept())).toBe(false);
  });

  it('V10: a file that cannot be read is told and cannot be accepted; garbage as a record accepts nothing', async () => {
    writeFileSync(join(bench.project, 'untildone.json'), '{"mode": "loud"}');
    const { code, out } = await bench.run('trust', '--yes');
    expect(code).toBe(1);
    expect(out).toContain('mode: must be one of');
    write({ maxStagnant: 7 });
    await bench.run('trust', '--yes');
    writeFileSync(kept(), '[{"key":');
    expect(await inForce('maxStagnant')).toBe(3);
  });

  it('list shows every project; revoke takes this one back', async () => {
    expect((await bench.run('trust', 'list')).out).toBe(
      'No project’s file is trusted.\n',
    );
    write({ maxStagnant: 7 });
    await bench.run('trust', '--yes');
    expect((await bench.run('trust', 'list')).out).toMatch(
      /project {2}\(1 entry, .*\)\n {2}maxStagnant: 7\n$/,
    );
    expect((await bench.run('trust', 'revoke')).code).toBe(0);
    expect(await inForce('maxStagnant')).toBe(3);
    expect((await bench.run('trust', 'revoke')).code).toBe(1);
    expect((await bench.run('trust', 'lst')).code).toBe(2);
  });

  it('V10: what was accepted and left the file stays in force, and both commands say so', async () => {
    write({ maxStagnant: 7 });
    await bench.run('trust', '--yes');
    rmSync(join(bench.project, 'untildone.json'));
    const stays =
      'no longer has what you accepted (maxStagnant). It stays in force until you accept that too';
    expect((await bench.run('config')).err).toContain(stays);
    const { out } = await bench.run('trust');
    expect(out).toContain(
      'untildone.json no longer asks for what you accepted:\n- maxStagnant: 7',
    );
    expect(out).toContain('What has a - stays in force until you accept the change.');
    expect(out).not.toContain('+');
    expect(await inForce('maxStagnant')).toBe(7);
  });

  it('what `config init` wrote at a human’s word is accepted; without a human it is not, which is said', async () => {
    const whyNoHuman = async () => 'Only a human may do this.';
    const { err } = await bench.runWith({ whyNoHuman }, 'config', 'init');
    expect(err).toContain('They are ignored until you do: run `untildone trust`.');
    expect(existsSync(kept())).toBe(false);
    rmSync(join(bench.project, 'untildone.json'));
    await bench.run('config', 'init');
    expect((await bench.run('trust')).code).toBe(0);
    expect(JSON.parse(readFileSync(kept(), 'utf8'))).toHaveLength(1);
  });
});
