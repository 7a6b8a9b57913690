import { describe, expect, it } from 'vitest';
import { exchange, human, says } from '../../../test/support/history-cases.ts';
import type { MessageKind } from '../../engine/host.ts';
import {
  isHuman,
  leftOutBy,
  markedHistory,
  syntheticKind,
  syntheticMessage,
  transcriptKind,
} from './history.ts';

describe('S3: what a human said and what we said', () => {
  it('are told apart by the mark, not by the words', () => {
    expect(isHuman(human('[TODO CONTINUATION] go on'))).toBe(true);
    expect(isHuman(syntheticMessage('continuation', 'please help me'))).toBe(false);
    expect(isHuman(says('hello'))).toBe(false);
  });

  it('are told apart after a round through the store', () => {
    const stored = JSON.parse(JSON.stringify(syntheticMessage('note', 'x', 7)));
    expect([syntheticKind(stored), leftOutBy(stored)]).toEqual(['note', 7]);
  });

  it('get their marks from the kinds of the transcript, and give them back', () => {
    const [call, result] = exchange(['x']);
    const rows = [
      { kind: 'human', message: human('a') },
      { kind: 'continuation', message: human('b') },
      { kind: 'summary', message: syntheticMessage('summary', 'c', 3) },
      { kind: 'agent', message: call ?? says('') },
      { kind: 'tools', message: result ?? says('') },
    ] as const satisfies readonly { kind: MessageKind; message: unknown }[];
    const history = markedHistory(rows);
    expect(history.map(transcriptKind)).toEqual(rows.map(({ kind }) => kind));
    expect(history.map(isHuman)).toEqual([true, false, false, false, false]);
    expect(rows[1].message).not.toHaveProperty('providerOptions');
  });

  it('takes a word of the system for no stand-in of lost messages', () => {
    const [note] = markedHistory([{ kind: 'note', message: human('the job ended') }]);
    expect(syntheticKind(note ?? human(''))).toBe('continuation');
  });

  it('are not confused by options of others', () => {
    expect(
      syntheticKind({
        ...human('x'),
        providerOptions: { untildone: { synthetic: 'root' } },
      }),
    ).toBeNull();
  });
});
