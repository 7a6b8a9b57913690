// The settings of checks: which there are, what each proves, which paths are protected, what an agent may propose.
// Part of the one table in settings.ts; what the fields mean together is read in ../check-specs.

import { boolean, either, integer, list, named, number, oneValueSection, section, text } from './kinds.ts';
import { shared } from './setting.ts';

/** One check as it stands in a file: exactly one of `command`, `file`, `http` and `human`, and what belongs to it. */
export interface CheckSetting {
  /** A list is a program and its arguments; a text is a line for the shell. */
  readonly command?: readonly string[] | string;
  readonly directory?: string;
  readonly expectExit?: number;
  readonly expectOutput?: string;
  readonly environment?: readonly string[];
  readonly file?: string;
  readonly exists?: boolean;
  readonly absent?: boolean;
  readonly matches?: string;
  readonly http?: string;
  readonly status?: number;
  readonly body?: string;
  readonly anyHost?: boolean;
  readonly human?: string;
  readonly timeoutSeconds?: number;
  readonly files?: readonly string[];
}

export interface TodoCheckSetting {
  readonly title?: string;
  readonly checks?: readonly string[];
}

export interface CheckSettings {
  /** Keys are names of checks in lower case. */
  readonly checks: { readonly [name: string]: CheckSetting };
  readonly goal: readonly string[];
  readonly todoChecks: readonly TodoCheckSetting[];
  readonly protect: readonly string[];
  readonly allowChecks: readonly (readonly string[] | string)[];
}

const name = text(100);
const pattern = text(1000);
const argv = list(text(4000), 200);

export const checkSettings = {
  checks: shared(
    named(
      oneValueSection({
        command: {
          kind: either(argv, text(4000)),
          summary: 'Program and arguments as a list, run without a shell; a text is a line for /bin/sh.',
        },
        directory: { kind: text(1000), summary: 'Folder of the workspace in which the command runs.' },
        expectExit: { kind: integer(0, 255), summary: 'Exit status of a pass; not given: 0.' },
        expectOutput: {
          kind: pattern,
          summary: 'Regular expression that the output of the command must match besides.',
        },
        environment: {
          kind: list(text(200), 100),
          summary: 'Environment variables that the command gets besides the harmless ones.',
        },
        file: { kind: text(1000), summary: 'Path of a file or folder, relative to the workspace.' },
        exists: { kind: boolean, summary: 'The file must be there; so it is if nothing else is said.' },
        absent: { kind: boolean, summary: 'There must be no such file or folder.' },
        matches: { kind: pattern, summary: 'Regular expression that the text of the file must match.' },
        http: { kind: text(2000), summary: 'Address that is asked with GET; redirects are not followed.' },
        status: { kind: integer(100, 599), summary: 'Status of the answer of a pass; not given: 200.' },
        body: { kind: pattern, summary: 'Regular expression that the body of the answer must match.' },
        anyHost: { kind: boolean, summary: 'Allows addresses of other machines than this one.' },
        human: { kind: text(1000), summary: 'Question that a human answers with untildone approve.' },
        timeoutSeconds: {
          kind: number(0.1, 86_400),
          summary: 'Seconds after which the check is ended and has failed.',
        },
        files: {
          kind: list(text(1000), 200),
          summary: 'Patterns of the files whose change makes a result stale; none: the whole workspace.',
        },
      }),
      200,
    ),
    {},
    'Checks by name: conditions that the system runs to see whether the work is done.',
  ),
  goal: shared(list(name, 200), [], 'Names of the checks that must pass before the work as a whole is done.'),
  todoChecks: shared(
    list(
      section({
        title: { kind: text(1000), summary: 'Pattern with * and ? for titles; letter case does not count.' },
        checks: { kind: list(name, 100), summary: 'Names of the checks that prove such a todo.' },
      }),
      500,
    ),
    [],
    'Checks for todos by the pattern of their title.',
  ),
  protect: shared(
    list(text(1000), 200),
    [],
    'Patterns of paths that the agent must leave as they are: a change voids the results of checks.',
  ),
  allowChecks: shared(
    list(either(argv, name), 200),
    [],
    'Names of checks, or programs with arguments as lists, that an agent may propose for a todo.',
  ),
} as const;
