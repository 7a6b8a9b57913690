import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';

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
    expect((await bench.run('gc')).out).toMatch(/^1 session untouched since 2027-01-16 .* was archived\.$/m);
    expect((await bench.run('status', '--all')).out).not.toContain('old-0001');
    expect((await bench.run('gc')).out).toContain('0 sessions untouched');
    expect((await bench.run('gc', '--older-than', '0m')).out).toContain('1 session untouched');
  });
});
