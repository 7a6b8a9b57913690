// A sign that moves while something runs. It depends on the time alone, so that all of them move together.
import type { Page } from '../run-output/page.ts';

const unicodeFrames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const asciiFrames = ['|', '/', '-', '\\'];
/** Slow enough to cost nothing, quick enough to look alive. */
export const spinnerMs = 120;

export function spinnerAt({ unicode }: Page, now: number): string {
  const frames = unicode ? unicodeFrames : asciiFrames;
  return frames[Math.floor(now / spinnerMs) % frames.length] ?? '';
}
