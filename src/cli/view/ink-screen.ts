// The thin layer over Ink: finished lines above, the living part below, keys in. It knows nothing of what it shows.
import { Box, type Key, Static, Text, useInput, usePaste } from 'ink';
import { createElement, Fragment, type ReactElement, useSyncExternalStore } from 'react';
import type { KeyPress } from './key-press.ts';

/** What is on the screen. */
export interface Screen {
  /** Finished lines, several in one text; only ever added to. */
  readonly finished: readonly string[];
  readonly frame: readonly string[];
}

export interface ScreenSource {
  subscribe(listener: () => void): () => void;
  screen(): Screen;
  onKey(key: KeyPress): void;
}

export function InkScreen({ source }: { readonly source: ScreenSource }): ReactElement {
  const { finished, frame } = useSyncExternalStore(source.subscribe, source.screen);
  useInput((input, key) => {
    for (const press of keyPresses(input, key)) source.onKey(press);
  });
  usePaste((text) => source.onKey({ name: 'text', text, isControl: false }));
  return createElement(
    Fragment,
    null,
    createElement(Static<string>, {
      items: finished as string[],
      children: (lines: string, index: number) => createElement(Text, { key: index }, lines),
    }),
    createElement(
      Box,
      { flexDirection: 'column' },
      // Lines have no identity but their place.
      frame.map((line, index) => createElement(Text, { key: `${index}`, wrap: 'truncate' }, line || ' ')),
    ),
  );
}

const named = [
  ['return', 'enter'],
  ['escape', 'escape'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
  ['tab', 'tab'],
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'page-up'],
  ['pageDown', 'page-down'],
  ['home', 'home'],
  ['end', 'end'],
] as const satisfies readonly (readonly [keyof Key, KeyPress['name']])[];

/** Letters that arrive at once are one text, and an Enter among them is an Enter. */
export function keyPresses(input: string, key: Key): KeyPress[] {
  if (key.eventType === 'release') return [];
  const name = named.find(([property]) => key[property] === true)?.[1];
  if (name !== undefined) return [{ name, text: '', isControl: false }];
  if (key.ctrl || key.meta) return [{ name: 'text', text: input, isControl: true }];
  return input.split(/([\r\n])/u).flatMap((part): KeyPress[] => {
    if (part === '') return [];
    const isEnter = part === '\r' || part === '\n';
    return [
      isEnter
        ? { name: 'enter', text: '', isControl: false }
        : { name: 'text', text: part, isControl: false },
    ];
  });
}
