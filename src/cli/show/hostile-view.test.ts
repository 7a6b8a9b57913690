// Must hold 6 for the live view: whatever stands in any field of any event, or is typed
// or pasted, acts on no terminal.
import { renderToString } from 'ink';
import { createElement, Fragment } from 'react';
import { describe, expect, it } from 'vitest';
import { attacks, poison } from '../../../test/support/hostile-texts.ts';
import { sampleRun } from '../../../test/support/sample-run.ts';
import { pressKey } from './keys.ts';
import { createLinePrinter } from './lines.ts';
import { renderMarkdown } from './markdown.ts';
import { createPage } from './page.ts';
import { createState, reduceView, type ViewState } from './state.ts';
import { drawLiving } from './view.ts';

function drawn(state: ViewState, speech: string, unicode = true): string {
  const page = createPage({ columns: 60, color: true, unicode }, 1);
  const living = drawLiving(page, { ...state, columns: 60 }, speech);
  return renderToString(createElement(Fragment, null, living), { columns: 60 });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the claim is that none of these is left
const control = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours are escape sequences
const ours = /\u001b\[(?:1|2|22|31|32|33|39)m/gu;

describe('Must hold 6: a hostile run in the live view', () => {
  it.each(Object.entries(attacks))(
    '%s in every field reaches no terminal',
    (_name, attack) => {
      for (const unicode of [true, false]) {
        let told = '';
        const write = (text: string): void => {
          told += text;
        };
        const look = {
          columns: 60,
          color: true,
          unicode,
          forView: true,
          render: renderMarkdown,
        };
        const printer = createLinePrinter({ look, ...look, write });
        let state = { ...createState('run', 0), isExpanded: true };
        for (const event of sampleRun) {
          const hostile = poison(event, attack);
          printer.print(hostile);
          state = reduceView(state, hostile);
          state = pressKey(
            state,
            { name: 'text', text: attack, isControl: false },
            0,
          ).state;
          const lines = `${told}\n${drawn(state, printer.speech(), unicode)}`.split('\n');
          told = '';
          for (const line of lines) {
            const rest = line.replace(ours, '');
            expect(control.exec(rest), rest).toBeNull();
            if (!unicode) expect(/[^\x20-\x7e]/.exec(rest), rest).toBeNull();
          }
        }
      }
    },
  );

  it('a megabyte in every field is drawn in no time', () => {
    const began = performance.now();
    const megabyte = 'x'.repeat(1_000_000);
    let state = { ...createState('run', 0), isExpanded: true };
    for (const event of sampleRun) {
      state = reduceView(state, poison(event, megabyte));
      expect(drawn(state, megabyte.slice(0, 3000)).length).toBeLessThan(10_000);
    }
    // Generous, for a busy machine: what it guards against takes minutes.
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
