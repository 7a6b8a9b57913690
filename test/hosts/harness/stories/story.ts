// A story that every real host is told, and what several of them share.
import { expect } from 'vitest';
import {
  complete,
  parallel,
  plan,
  type Script,
  say,
  script,
  untilAllDone,
  writeFile,
} from '../../../../src/scripted-model/index.ts';
import type { Bench, Played } from '../real-host-stage.ts';

/**
 * How the promise was kept, where that is less than the whole of it; in words for the
 * table in docs/hosts.
 */
export type Less = string;

export interface Story {
  /** Of the scenarios or requirements. */
  readonly id: string;
  /** A sentence, which follows the id. */
  readonly name: string;
  /** Also told in CI, where there is time for a few. */
  readonly isSample?: boolean;
  /** Throws when the promise is broken. */
  tell(bench: Bench): Promise<Less | undefined>;
}

export const titles: readonly string[] = ['alpha', 'beta', 'gamma'];

export const filesOf = (names: readonly string[]) =>
  names.map((name) => `${name}.txt`).sort();

/** Finishes one todo at a time and claims each time that everything is done. */
export function quitter(name: string, ...names: readonly string[]): Script {
  const perTodo = (title: string) => [
    parallel(writeFile(`${title}.txt`, title), complete(title)),
    say('Everything is done.'),
  ];
  return script(name, [plan(...names), untilAllDone(perTodo)]);
}

export const failure = 'EXPECTED-FILE-IS-MISSING';
const program = `if(!require('fs').existsSync('parser.txt')){console.log('${failure}');process.exit(1)}`;
/** Fails, with words to look for, until there is a file. */
export const parserCheck = { parser: { command: [process.execPath, '-e', program] } };

/** A check that looks at the files themselves. */
export function filesCheck(names: readonly string[]): object {
  const files = JSON.stringify(filesOf(names));
  const look = `process.exit(${files}.every((name)=>require('fs').existsSync(name))?0:1)`;
  return {
    checks: { files: { command: [process.execPath, '-e', look] } },
    goal: ['files'],
  };
}

/**
 * Where the human reads it: in the host, if that shows it headless, and else from our own
 * command.
 */
export const toldTo = ({ messages, status }: Played) => messages?.join('\n') ?? status;

/** The last word of a turn, once. */
export function expectTold(played: Played, outcome: string): void {
  expect(played.messages ?? [outcome]).toEqual([expect.stringContaining(outcome)]);
  expect(played.status).toContain(outcome);
}

/** Results of tools that the model was given as errors. */
export const refusedCalls = ({ requests }: Played) =>
  requests.flatMap(({ messages }) =>
    messages.flatMap(({ toolResults }) => toolResults.filter(({ isError }) => isError)),
  );
