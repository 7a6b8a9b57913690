// Type-checked against the packed package, with nothing else installed and every declaration looked at.
// It is never run: the smoke test does that.
import type * as untildone from 'untildone';
import type * as model from 'untildone/scripted-model';
import type * as testing from 'untildone/testing';

type IsAny<T> = 0 extends 1 & T ? true : false;
type Exported<Entry> = Entry[keyof Entry];

/** An export whose declaration could not be resolved would quietly be `any`. */
export const lostTypes: [
  IsAny<Exported<typeof untildone>>,
  IsAny<Exported<typeof testing>>,
  IsAny<Exported<typeof model>>,
] = [false, false, false];
