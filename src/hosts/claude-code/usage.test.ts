// The tokens in Claude Code's transcript (G8), and what a stop makes of them. The fixture
// is a transcript of 2.1.325 against the scripted model, shortened to whole lines.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { continuationOf, createHookCase } from '../../../test/support/hook-case.ts';
import {
  createPayload,
  promptPayload,
  stopPayload,
  toolPayload,
} from '../../../test/support/payload-cases.ts';
import { defaultSettings, type Settings } from '../../core/settings.ts';
import { readUsage } from './host.ts';

const recorded = fileURLToPath(new URL('fixtures/transcript.jsonl', import.meta.url));

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'untildone-usage-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function written(...lines: readonly unknown[]): string {
  const path = join(folder(), 'session.jsonl');
  writeFileSync(
    path,
    lines
      .map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
      .join(''),
  );
  return path;
}

const answer = (id: unknown, usage: unknown, at = 1000) => ({
  type: 'assistant',
  timestamp: new Date(at).toISOString(),
  message: { id, usage },
});

describe('the transcript', () => {
  it('G8: each answer counts once, with what was read from and written to a cache', () => {
    expect(readUsage(recorded, 0)).toEqual([
      { key: 'msg_1ev0di2001', inputTokens: 9361, outputTokens: 32 },
      { key: 'msg_1ev0di2002', inputTokens: 132 + 9361, outputTokens: 35 },
      { key: 'msg_1ev0di2003', inputTokens: 154 + 9493, outputTokens: 17 },
      { key: 'msg_1ev0di2004', inputTokens: 79 + 9647, outputTokens: 3 },
    ]);
  });

  it('G8: what was answered before the human spoke is not counted', () => {
    const keys = readUsage(recorded, Date.parse('2026-11-16T11:46:07.009Z')).map(
      ({ key }) => key,
    );
    expect(keys).toEqual(['msg_1ev0di2003', 'msg_1ev0di2004']);
  });

  it('G8: of a long one only the end is read', () => {
    const path = written(
      answer('old', { output_tokens: 5 }),
      `"usage" ${'x'.repeat(8_388_608)}`,
    );
    appendFileSync(path, `${JSON.stringify(answer('new', { output_tokens: 7 }))}\n`);
    expect(readUsage(path, 0)).toEqual([{ key: 'new', inputTokens: 0, outputTokens: 7 }]);
  });

  it('G8: lines that are cut, foreign or hostile say nothing, and no number is out of bounds', () => {
    const path = written(
      '{"type":"assistant","message":{"id":"cut","usage":{"outp',
      'null "usage"',
      '["usage"]',
      { ...answer('human', { output_tokens: 1 }), type: 'user' },
      { ...answer('timeless', { output_tokens: 1 }), timestamp: { usage: 1 } },
      answer({ evil: true }, { output_tokens: 1 }),
      answer('', { output_tokens: 1 }),
      answer('odd', {
        input_tokens: -5,
        cache_read_input_tokens: '9',
        output_tokens: 1e300,
      }),
      '{"type":"assistant","timestamp":"2026-01-01T00:00:00Z","message":{"id":"p","usage":{"__proto__":{"output_tokens":3}}}}',
      answer('half', { input_tokens: 1.5, output_tokens: null }),
    );
    expect(readUsage(path, 0)).toEqual([
      { key: 'odd', inputTokens: 0, outputTokens: 100_000_000 },
      { key: 'p', inputTokens: 0, outputTokens: 0 },
      { key: 'half', inputTokens: 2, outputTokens: 0 },
    ]);
  });

  it('G8: what is no readable file, or waits for a writer, holds nobody up', () => {
    const directory = folder();
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [
      pipe,
      directory,
      join(directory, 'none'),
      'relative.jsonl',
      '\0',
      '',
    ])
      expect(readUsage(path, 0), path).toEqual([]);
  });
});

describe('a budget of tokens', () => {
  async function working(settings: Settings) {
    const hooks = createHookCase({ policy: { settings } });
    const path = join(folder(), 'session.jsonl');
    copyFileSync(recorded, path);
    const says = (text: string) =>
      hooks.send(promptPayload(text, { transcript_path: path }));
    const answers = (id: string, outputTokens: number) =>
      appendFileSync(
        path,
        `${JSON.stringify(answer(id, { output_tokens: outputTokens }, hooks.clock.now()))}\n`,
      );
    const stops = (text: string) =>
      hooks.send(stopPayload({ transcript_path: path, last_assistant_message: text }));
    // The recorded answers are much older than the stop.
    await hooks.clock.advance(Date.parse('2026-11-17T00:00:00Z') - hooks.clock.now());
    await says('Please do it');
    await hooks.send(createPayload('1', 'A'));
    await hooks.send(toolPayload('Write', 'work-1', {}, {}));
    return { ...hooks, says, answers, stops };
  }

  it('G8: ends the turn at the stop after which it is spent, each answer counted once', async () => {
    const { answers, stops, session, decisions } = await working({
      ...defaultSettings,
      maxTokens: 100,
    });
    answers('one', 40);
    expect(continuationOf(await stops('I am done.'))).not.toBeNull();
    expect((await session())?.usage.tokens).toBe(40);
    answers('two', 40);
    expect(continuationOf(await stops('I am done now.'))).not.toBeNull();
    expect((await session())?.usage.tokens).toBe(80);
    answers('three', 40);
    expect(await stops('Really done.')).toEqual({
      systemMessage: expect.stringContaining(
        '(exhausted). The budget of 100 tokens is spent.',
      ),
    });
    expect((await decisions()).at(-1)?.decision.reason).toBe('token-budget');
  });

  it('G8: begins anew when the human speaks, also with what the transcript tells late', async () => {
    const { answers, stops, says, session } = await working({
      ...defaultSettings,
      maxTokens: 100,
    });
    answers('one', 90);
    await stops('I am done.');
    answers('late', 90);
    await says('go on');
    answers('two', 30);
    expect(continuationOf(await stops('Done again.'))).not.toBeNull();
    expect((await session())?.usage.tokens).toBe(30);
  });

  it('G8 V2: is that of the human’s message: nobody lifts it in mid-turn', async () => {
    const settings = { ...defaultSettings, maxTokens: 30 as number | null };
    const { answers, stops } = await working(settings);
    settings.maxTokens = null;
    answers('one', 40);
    expect(continuationOf(await stops('I am done.'))).toBeNull();
  });

  it('G8: that is not set, or for another agent, leaves the transcript unread', async () => {
    const { answers, stops, session } = await working({
      ...defaultSettings,
      agents: { other: { maxTokens: 1 } },
    });
    answers('one', 40);
    expect(continuationOf(await stops('I am done.'))).not.toBeNull();
    expect((await session())?.usage.tokens).toBe(0);
  });
});
