// Must hold 6 for the live view: whatever stands in any field of any event, or is typed or pasted, acts on no terminal.
import { describe, expect, it } from 'vitest';
import { attacks, poison } from '../../../test/support/hostile-texts.ts';
import { sampleRun } from '../../../test/support/sample-run.ts';
import { createPage } from '../run-output/page.ts';
import { drawFrame } from './draw-frame.ts';
import { pressKey } from './key-press.ts';
import { reduceView } from './reduce-view.ts';
import { createScrollLines } from './scroll-lines.ts';
import { createViewState } from './view-state.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the claim is that none of these is left
const control = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours are escape sequences
const ours = /\u001b\[(?:1|2|22|31|32|33|39)m/gu;

describe('Must hold 6: a hostile run in the live view', () => {
  it.each(Object.entries(attacks))('%s in every field reaches no terminal', (_name, attack) => {
    for (const unicode of [true, false]) {
      const look = { columns: 60, color: true, unicode };
      const page = createPage(look);
      const scroll = createScrollLines(look);
      let state = { ...createViewState('run', 0), isExpanded: true };
      for (const event of sampleRun) {
        const hostile = poison(event, attack);
        scroll.take(hostile);
        state = reduceView(state, hostile);
        state = pressKey(state, { name: 'text', text: attack, isControl: false }, 0).state;
        const lines = [...scroll.finished(), scroll.open(), ...drawFrame(page, state, '')];
        for (const line of lines) {
          const rest = line.replace(ours, '');
          expect(control.exec(rest), rest).toBeNull();
          if (!unicode) expect(/[^\x20-\x7e]/.exec(rest), rest).toBeNull();
        }
      }
    }
  });

  it('a megabyte in every field is drawn in no time', () => {
    const began = performance.now();
    const megabyte = 'x'.repeat(1_000_000);
    const page = createPage({ columns: 80, color: true, unicode: true });
    let state = { ...createViewState('run', 0), isExpanded: true };
    for (const event of sampleRun) {
      state = reduceView(state, poison(event, megabyte));
      expect(drawFrame(page, state, '').join('\n').length).toBeLessThan(10_000);
    }
    // Generous, for a busy machine: what it guards against takes minutes.
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
