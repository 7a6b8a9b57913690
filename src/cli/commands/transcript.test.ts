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

describe('transcript', () => {
  it('C3: of a session of a host it says who has the messages', async () => {
    await addStagnantSession(bench);
    expect((await bench.run('transcript')).out).toContain(
      'The conversation is not kept here: scripted has it, in its own session.',
    );
  });
});

describe('transcript of our own agent', () => {
  it('C3: a program that run drives is named, as who works and as who speaks', async () => {
    const driven = { host: 'codex', id: 'c-1', mode: 'edit', flags: [] } as const;
    const host = await bench.host({
      sessionId: 'own-0002',
      descriptor: { host: 'untildone', driven },
    });
    await host.open();
    const body = JSON.stringify({
      cut: false,
      message: { role: 'assistant', content: 'I looked.' },
    });
    const message = {
      sessionId: 'own-0002',
      turnId: null,
      at: bench.clock.now(),
      kind: 'agent',
      body,
    } as const;
    await (await bench.store()).record({ messages: [message] });
    const { out } = await bench.run('transcript');
    expect(out).toContain(': untildone run with Codex, ');
    expect(out).toMatch(/ {2}Codex\n {2}│ I looked\./u);
    expect(JSON.parse((await bench.run('transcript', '--json')).out).driven).toBe(
      'codex',
    );
    const { out: report } = await bench.run('report');
    expect(report).toContain(
      '- **By**: untildone run with Codex, scripted/model; session',
    );
    expect(report, 'its file tools are not ours').toContain(
      'Not recorded: `git status` shows them.',
    );
  });

  it('5: a command that failed is marked as failed, with its exit code', async () => {
    const host = await bench.host({
      sessionId: 'own-0001',
      descriptor: { host: 'untildone' },
    });
    await host.open();
    const result = {
      type: 'tool-result',
      toolName: 'shell',
      output: { type: 'text', value: 'Exit code 1.\nno' },
    };
    const body = JSON.stringify({
      cut: false,
      message: { role: 'tool', content: [result] },
    });
    const at = bench.clock.now();
    const messages = [
      { sessionId: 'own-0001', turnId: null, at, kind: 'tools', body } as const,
    ];
    await (await bench.store()).record({ messages });
    expect((await bench.run('transcript')).out).toContain(
      'tools\n  shell ✗ exit 1\n  │ Exit code 1.\n  │ no\n',
    );
    const json = JSON.parse((await bench.run('transcript', '--json')).out);
    expect(json.messages[0].results[0].ok).toBe(false);
  });
});
