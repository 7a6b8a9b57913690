// The one place that writes: whole lines, and at most one line that is still open. On a terminal an open line is seen
// as it grows; elsewhere only whole lines are written, so that a log never holds half a line of two programs.

/** Who opened a line: only they may add to it. */
export type LineOwner = object;

export interface LineWriter {
  /** Adds to the line of this owner; a line that somebody else left open is ended first. */
  add(owner: LineOwner, text: string): void;
  isOpenFor(owner: LineOwner): boolean;
  /** Ends the open line, if there is one. */
  endLine(): void;
  lines(lines: readonly string[]): void;
}

export function createLineWriter(write: (text: string) => unknown, isTTY: boolean): LineWriter {
  let openFor: LineOwner | null = null;
  let waiting: string[] = [];

  function send(text: string): void {
    if (isTTY) {
      write(text);
      return;
    }
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) {
      write(waiting.join('') + text.slice(0, end));
      waiting = [];
    }
    if (end < text.length) waiting.push(text.slice(end));
  }

  function endLine(): void {
    if (openFor === null) return;
    openFor = null;
    send('\n');
  }

  return {
    add(owner, text) {
      if (openFor !== owner) endLine();
      openFor = owner;
      send(text);
    },
    isOpenFor: (owner) => openFor === owner,
    endLine,
    lines(lines) {
      if (lines.length === 0) return;
      endLine();
      send(lines.map((line) => `${line}\n`).join(''));
    },
  };
}
