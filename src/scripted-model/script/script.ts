// A script: a named story in steps. Which script answers a request is chosen by a marker in what the human wrote, by
// the name of the model, or by default.
import type { ModelRequest } from '../model-request.ts';
import type { FamilyName } from '../todos/todo-family.ts';
import { always, inOrder } from './flow-steps.ts';
import { say } from './speech-steps.ts';
import type { Step } from './step.ts';

export interface ScriptOptions {
  /**
   * How the server knows where the story stands. `history` (default) reads it off the messages, which survives
   * restarts of client and server; `server` counts its own replies, which survives clients that rewrite the history.
   */
  readonly cursor?: 'history' | 'server';
  /** Takes this family of todo tools even if another one is offered as well. */
  readonly family?: FamilyName;
  /** What the model does for ever once the story is told. */
  readonly afterwards?: Step;
  /** What it answers when a host asks for a title or a summary, without offering tools. */
  readonly aside?: string;
}

export interface Script {
  readonly name: string;
  readonly steps: Step;
  readonly cursor: 'history' | 'server';
  readonly family?: FamilyName;
  readonly aside: string;
}

export function script(name: string, steps: readonly Step[], options: ScriptOptions = {}): Script {
  const { cursor = 'history', afterwards = say('That is all.'), aside = 'Scripted work', family } = options;
  return {
    name,
    steps: inOrder(...steps, always(afterwards)),
    cursor,
    aside,
    ...(family === undefined ? {} : { family }),
  };
}

export interface Chosen {
  readonly script: Script;
  /** The message with which this script began. */
  readonly from: number;
}

// A name ends in a letter or digit, so that the full stop of a sentence is none of it.
const MARKER = /(?:SCENARIO:|\[script:)\s*([\w.-]*\w)/;

/** The last script that a human message asked for by name; a message that repeats the name starts nothing anew. */
export function chooseScript(scripts: readonly Script[], request: ModelRequest): Chosen | undefined {
  const named = (name: string | undefined) => scripts.find((candidate) => candidate.name === name);
  let chosen: Chosen | undefined;
  request.messages.forEach((message, index) => {
    if (message.role !== 'user') return;
    const found = named(MARKER.exec(message.text)?.[1]);
    if (found && found !== chosen?.script) chosen = { script: found, from: index };
  });
  if (chosen) return chosen;
  const fallback = named(request.model) ?? scripts[0];
  return fallback && { script: fallback, from: 0 };
}
