import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { ownSession } from '../../engine/session-owner.ts';

process.env['TZ'] = 'UTC';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
});

afterEach(() => bench.close());

describe('gc', () => {
  it('archives what is old, counts first with --dry-run, and leaves the rest', async () => {
    await addStagnantSession(bench, 'old-0001');
    await bench.clock.advance(31 * 86_400_000);
    await addStagnantSession(bench, 'new-0001');
    const dry = await bench.run('gc', '--dry-run', '--json');
    expect(JSON.parse(dry.out)).toMatchObject({ sessions: 1, dryRun: true });
    expect((await bench.run('status', '--all')).out).toContain('old-0001');
    expect((await bench.run('gc')).out).toMatch(
      /^1 session untouched since 2027-01-16 .* was archived\.$/m,
    );
    expect((await bench.run('status', '--all')).out).not.toContain('old-0001');
    expect((await bench.run('gc')).out).toBe(
      'Nothing to archive: no sessions untouched since 2027-01-16 08:01:00.\n',
    );
    expect((await bench.run('gc', '--older-than', '0m')).out).toContain(
      '1 session untouched',
    );
  });
});

describe('gc --forget', () => {
  const secret = 'Fix the account of Ada Lovelace';

  async function addSecretSession(): Promise<void> {
    const host = await bench.host({ sessionId: 'secret-0001' });
    await host.open();
    await host.says(secret);
    await host.plans('Look at it');
    await host.works();
    await host.stops();
    await host.happens({ type: 'human-aborted', how: 'told to stop' });
  }

  /** Bytes of everything in the state directory. */
  const keptText = (): string =>
    readdirSync(bench.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .join('\n');

  it('door 8: says what it removes, removes it to the last byte, and leaves the others', async () => {
    await addStagnantSession(bench, 'other-0001');
    await addSecretSession();
    expect(keptText()).toContain(secret);
    const { code, out, err } = await bench.run('gc', '--forget', 'secret', '--yes');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(
      /^Session secret-0001 “Fix the account of Ada Lovelace” \(scripted, .*\):\n {2}\d+ events, 1 decision, 1 todo, 1 plan change, /u,
    );
    expect(out).toContain(
      'This cannot be undone. Files of your project are not touched.\nRemoved.\n',
    );
    expect(keptText()).not.toContain('Ada Lovelace');
    expect(existsSync(join(bench.home, 'untildone.db-marks', 'secret-0001'))).toBe(false);
    expect((await bench.run('status', '--all')).out).toMatch(/^other-0001/u);
    expect((await bench.run('ledger', 'verify', '--all')).code).toBe(0);
    expect(await bench.run('gc', '--forget', 'secret')).toMatchObject({
      code: 1,
      out: '',
    });
  });

  it('door 8: --dry-run and --json say the same and remove nothing', async () => {
    await addSecretSession();
    const dry = await bench.run('gc', '--forget', 'secret', '--dry-run');
    expect(dry.out).toContain('Nothing was removed: this was a dry run.');
    const json = JSON.parse(
      (await bench.run('gc', '--forget', 'secret', '--dry-run', '--json')).out,
    );
    expect(json).toMatchObject({
      session: 'secret-0001',
      title: secret,
      forgotten: false,
      removed: { todos: 1 },
    });
    expect((await bench.run('status')).out).toContain('secret-0001');
    const gone = JSON.parse(
      (await bench.run('gc', '--forget', 'secret', '--yes', '--json')).out,
    );
    expect(gone).toEqual({ ...json, forgotten: true });
  });

  it('door 8: refused beneath an agent even with --yes, and without a terminal where nobody said --yes', async () => {
    await addSecretSession();
    const beneath = { agentAbove: async () => 'Claude Code' };
    expect(
      await bench.runWith(beneath, 'gc', '--forget', 'secret', '--yes'),
    ).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining(
        'Only a human may have a session forgotten, and Claude Code called this.',
      ),
    });
    const nobody = { whyNoHuman: async () => 'There is no terminal here.' };
    const asked = await bench.runWith(nobody, 'gc', '--forget', 'secret');
    expect(asked).toMatchObject({
      code: 2,
      err: expect.stringContaining('--yes says it without being asked.'),
    });
    expect((await bench.run('status')).out).toContain('secret-0001');
  });

  it('door 8: refused while the session is at work; stopped, it goes', async () => {
    const host = await bench.host({ sessionId: 'busy-0001' });
    await host.open();
    await host.says('Work');
    const refused = await bench.run('gc', '--forget', 'busy', '--yes');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      'is at work in scripted (running: turn 1). Stop it first: `untildone stop busy-0001`.',
    );
    await bench.run('stop', 'busy');
    expect((await bench.run('gc', '--forget', 'busy', '--yes')).code).toBe(0);
    const own = await bench.host({
      sessionId: 'own-0001',
      descriptor: { host: 'untildone' },
    });
    await own.open();
    const owned = await ownSession(
      { store: await bench.store(), clock: bench.clock },
      'own-0001',
    );
    const running = await bench.run('gc', '--forget', 'own', '--yes');
    expect(running.err).toContain(
      `runs in process ${process.pid}: \`untildone stop own-0001\` ends it.`,
    );
    if (owned.ok) await owned.release();
    expect((await bench.run('gc', '--forget', 'own', '--yes')).code).toBe(0);
  });

  it('door 8: takes the workers of a run with it, and finds what is archived', async () => {
    for (const [sessionId, parentId] of [
      ['run-0001', null],
      ['worker-0001', 'run-0001'],
      ['worker-of-worker', 'worker-0001'],
    ] as const) {
      const host = await bench.host({
        sessionId,
        descriptor: { host: 'untildone', parentId },
      });
      await host.open();
    }
    await bench.clock.advance(31 * 86_400_000);
    await bench.run('gc');
    const { out } = await bench.run('gc', '--forget', 'run-0001', '--yes');
    expect(out).toContain(') and 2 workers:\n');
    const { removed } = JSON.parse(
      (await bench.run('gc', '--forget', 'run-0001', '--dry-run', '--json')).out || '{}',
    );
    expect(removed).toBeUndefined();
    for (const id of ['worker-0001', 'worker-of-worker'])
      expect((await bench.run('gc', '--forget', id, '--yes')).code).toBe(1);
  });

  it('door 8: a plan file whose session was forgotten is imported anew, whole', async () => {
    writeFileSync(join(bench.project, 'PLAN.md'), '- [ ] One\n- [x] Two\n');
    const first = await bench.run('plan', 'import', 'PLAN.md');
    const id = /plan-PLAN\.md-[0-9a-f]{8}/u.exec(first.out)?.[0] ?? '';
    expect((await bench.run('gc', '--forget', id, '--yes')).code).toBe(0);
    expect((await bench.run('plan', 'import', 'PLAN.md')).out).toContain(
      ': 2 added, 0 changed, 0 dropped.',
    );
    expect((await bench.run('plan', 'show', id)).out).toContain('[x] Two');
  });
});
