// Type-checked against the packed package, with nothing else installed and every declaration looked at.
// It is never run: the smoke test does that.
import type * as untildone from 'untildone';
import type * as enforcer from 'untildone/enforcer';
import type * as mastra from 'untildone/mastra';
import type * as opencode from 'untildone/opencode';
import type * as model from 'untildone/scripted-model';
import type * as server from 'untildone/server';
import type * as testing from 'untildone/testing';
import type * as tools from 'untildone/tools';

type IsAny<T> = 0 extends 1 & T ? true : false;
type Exported<Entry> = Entry[keyof Entry];

/** An export whose declaration could not be resolved would quietly be `any`. */
export const lostTypes: [
  IsAny<Exported<typeof untildone>>,
  IsAny<Exported<typeof testing>>,
  IsAny<Exported<typeof model>>,
  IsAny<Exported<typeof enforcer>>,
  IsAny<Exported<typeof opencode>>,
  IsAny<Exported<typeof server>>,
  IsAny<Exported<typeof mastra>>,
  IsAny<Exported<typeof tools>>,
] = [false, false, false, false, false, false, false, false];
