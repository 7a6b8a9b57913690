import { describe, expect, it } from 'vitest';
import type { Event } from '../../core/events.ts';
import { createIdentifiers, systemClock } from '../../engine/system.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { hearHuman, humanWords } from './hear-human.ts';
import { openTranscript } from './transcript.ts';

const sessionId = 's';
const options = {
  sessionId,
  clock: systemClock,
  identifiers: createIdentifiers(),
  fingerprint: async () => null,
};

async function hear(...said: Parameters<typeof humanWords>[]) {
  const store = createMemoryStore();
  const place = { store, clock: systemClock, sessionId, turnId: () => null, maxMessages: 50 };
  await (await openTranscript(place)).append(said.map(([text, id]) => humanWords(text, id)));
  // Opened again, as a resumed run does it.
  const transcript = await openTranscript(place);
  const heard: Event[] = [];
  const engine = {
    async handle(event: Event) {
      heard.push(event);
      return {} as never;
    },
  };
  return { transcript, heard, listen: () => hearHuman(engine, transcript, options) };
}

describe('the words of the human after a crash', () => {
  it('V5: words that were written down and not heard are heard when the run is resumed, under the same id', async () => {
    const { heard, listen } = await hear(['first', 'm1'], ['second', 'm2']);
    await listen();
    await listen();
    expect(heard).toMatchObject([
      { type: 'human-spoke', text: 'second', messageId: 'm2' },
      { type: 'human-spoke', text: 'second', messageId: 'm2' },
    ]);
  });

  it('G6: words that the agent has answered, and words of the system, are not heard again', async () => {
    const { heard, listen, transcript } = await hear(['first', 'm1']);
    await transcript.append([{ kind: 'agent', message: { role: 'assistant', content: 'yes' } }]);
    await listen();
    await transcript.append([{ kind: 'note', message: { role: 'user', content: 'go on' } }]);
    await listen();
    expect(heard).toEqual([]);
  });
});
