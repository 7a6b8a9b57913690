// Does a command fit a pattern of the human's allow-list? The whole command is compared, word by word: "*" and
// "?" stand for characters of one word, a word "**" for any number of words. So "npm run *" allows
// "npm run build" and not "npm run build --force"; "npm test **" allows both.
// A command by which the shell could run something else as well never fits, unless it equals the pattern.
import { compileNames, matchesNames } from '../../core/glob/glob-pattern.ts';

// Joins and chains commands, substitutes, redirects, escapes, ends a line: more than one program's words.
const shellSyntax = /[;&|`$()<>\n\r\\\0]/u;

export function matchesCommand(pattern: string, command: string): boolean {
  if (pattern === command) return true;
  const words = plainWords(command);
  return words !== null && matchesNames(compileNames(splitWords(pattern) ?? []), words);
}

/** The words of a command that is one program with its arguments; null: it is more than that, or nothing. */
export function plainWords(command: string): readonly string[] | null {
  if (shellSyntax.test(command)) return null;
  // Outside quotes the shell makes other words of these, from the names of files that the agent may have written.
  if (/[*?[~{#!]/u.test(command.replace(/'[^']*'|"[^"]*"/gu, ''))) return null;
  const words = splitWords(command);
  if (words === null || words.length === 0) return null;
  // NAME=value before a command can change which program runs (PATH, LD_PRELOAD).
  return /^[A-Za-z_]\w*=/u.test(words[0] ?? '') ? null : words;
}

/** Words as the shell splits them where nothing is substituted; null if a quote is not closed. */
function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (const character of text) {
    if (quote !== null) {
      if (character === quote) quote = null;
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (character === ' ' || character === '\t') {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? '') + character;
    }
  }
  if (quote !== null) return null;
  return word === null ? words : [...words, word];
}
