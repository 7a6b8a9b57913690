// A human's regular expression for outputs, files and answers. ^ and $ stand for the ends of a line.
// It only compiles: a hopeless expression can run for years, so whoever matches does it in a thread with a limit.

import { type Refusal, refuse } from '../refusal.ts';

export function compileExpression(source: string): { ok: true; expression: RegExp } | Refusal {
  try {
    return { ok: true, expression: new RegExp(source, 'mu') };
  } catch {
    // Other engines are less strict about escapes such as \-: the lenient form gets a try before refusing.
  }
  try {
    return { ok: true, expression: new RegExp(source, 'm') };
  } catch {
    // Safe: the human is told, and a configuration with a problem applies in no part.
    return refuse('must be a regular expression as JavaScript knows them');
  }
}
