// What a program printed, as text that acts on no terminal.
import { stripTerminalControls } from '../../core/safe-text.ts';

/** A carriage return becomes a line end, so that nothing printed before it is hidden. */
export function plainText(text: string): string {
  const unbroken = text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return stripTerminalControls(unbroken.replace(/\r\n?/gu, '\n'));
}
