import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../test/support/memory-store.ts';
import { systemClock } from '../../engine/system.ts';
import { humanWords, openTranscript } from '../context/history.ts';
import { hearHuman } from './conduct.ts';
import type { Run } from './run.ts';

const sessionId = 's';

async function hear(...said: Parameters<typeof humanWords>[]) {
  const store = createMemoryStore();
  const parts = { store, clock: systemClock };
  const place = { sessionId, maxMessages: 50 };
  await (await openTranscript(parts, place)).append(
    said.map(([text, id]) => humanWords(text, id)),
  );
  // Opened again, as a resumed run does it.
  const transcript = await openTranscript(parts, place);
  const heard: (readonly [text: string | null, messageId: string])[] = [];
  const run = {
    hear: async (...words: (typeof heard)[number]) => void heard.push(words),
  } as unknown as Run;
  return { transcript, heard, listen: () => hearHuman(run, transcript) };
}

describe('the words of the human after a crash', () => {
  it('V5: words that were written down and not heard are heard when the run is resumed, under the same id', async () => {
    const { heard, listen } = await hear(['first', 'm1'], ['second', 'm2']);
    await listen();
    await listen();
    expect(heard).toEqual([
      ['second', 'm2'],
      ['second', 'm2'],
    ]);
  });

  it('G6: words that the agent has answered, and words of the system, are not heard again', async () => {
    const { heard, listen, transcript } = await hear(['first', 'm1']);
    await transcript.append([
      { kind: 'agent', message: { role: 'assistant', content: 'yes' } },
    ]);
    await listen();
    await transcript.append([
      { kind: 'note', message: { role: 'user', content: 'go on' } },
    ]);
    await listen();
    expect(heard).toEqual([]);
  });
});
