// What is wrong with a configuration, as values: where, and one clear sentence.
// Problems are collected, never thrown: a host boundary must be able to go on without us.

import { quoted } from './excerpt.ts';

export interface Problem {
  /** `agents.build.maxContinuations`, `UNTILDONE_MODE`, `--mode`; empty: the configuration as a whole. */
  readonly path: string;
  readonly message: string;
}

/** A message that is costly to find is given as a function: it is not asked for once nobody would read it. */
export type Report = (path: string, message: string | (() => string)) => void;

/** A file can be wrong in a million places; nobody reads more than these. */
const mostProblems = 100;

/** Names are at most this long (settings.ts), so a path never cuts a name that was accepted. */
const longestKey = 100;

export function collectProblems(): { readonly report: Report; readonly problems: () => readonly Problem[] } {
  const kept: Problem[] = [];
  let more = 0;
  return {
    report: (path, message) => {
      if (kept.length >= mostProblems) more += 1;
      else kept.push({ path, message: typeof message === 'string' ? message : message() });
    },
    problems: () =>
      more === 0
        ? kept
        : [...kept, { path: '', message: `${more} more ${more === 1 ? 'problem' : 'problems'}` }],
  };
}

/** `agents` + `build` = `agents.build`; a key that is no plain word is quoted: `agents["my agent"]`. */
export function joinPath(path: string, key: string): string {
  if (!/^[\w$-]{1,100}$/.test(key)) return `${path}[${quoted(key, longestKey)}]`;
  return path === '' ? key : `${path}.${key}`;
}

export function problemSentence(problem: Problem): string {
  return problem.path === '' ? problem.message : `${problem.path}: ${problem.message}`;
}
