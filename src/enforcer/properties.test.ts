// Random sequences of everything that a program can report, with time passing in between.
// They are tested against what must never happen.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createProgramStage,
  type ProgramStage,
  theSession,
} from '../../test/support/program-stage.ts';
import type { EnforcerEvent } from './translate.ts';

const sessionId = theSession;

/** What the program has told so far, kept apart from the enforcer: the oracle. */
interface Told {
  latched: boolean;
  readonly pending: Set<string>;
  /** Idles that follow some activity: the only reasons for a continuation. */
  stops: number;
  active: boolean;
}

type Action = (stage: ProgramStage, told: Told) => Promise<void>;

const actions: Readonly<Record<string, Action>> = {
  async idle(stage, told) {
    if (told.active) told.stops += 1;
    told.active = false;
    await stage.idles();
  },
  async speak(stage, told) {
    told.latched = false;
    told.active = true;
    told.pending.clear();
    await stage.says('continue');
  },
  async sayStop(stage, told) {
    told.latched = true;
    told.active = true;
    await stage.says('stop');
  },
  async abort(stage, told) {
    told.latched = true;
    await stage.emits({
      type: 'session.error',
      sessionId,
      error: { name: 'MessageAbortedError' },
    });
  },
  async answer(stage, told) {
    told.active = true;
    await stage.answers('Working.');
  },
  async work(stage, told) {
    told.active = true;
    await stage.works();
  },
  async ask(stage, told) {
    told.pending.add('request-1');
    await stage.emits({ type: 'question.asked', sessionId, requestId: 'request-1' });
  },
  async reply(stage, told) {
    told.pending.delete('request-1');
    await stage.emits({ type: 'question.answered', sessionId, requestId: 'request-1' });
  },
  async echo(stage) {
    const message = stage.messages.at(0);
    if (message !== undefined)
      await stage.emits({ type: 'message.updated', sessionId, message });
  },
  async fail(stage, told) {
    told.active = true;
    await stage.emits({
      type: 'session.error',
      sessionId,
      error: { status: 429, retryAfterMs: 1000 },
    });
  },
  recover: (stage) => stage.enforcer.markRecovering(sessionId),
  recovered: (stage) => stage.enforcer.markRecoveryComplete(sessionId),
  garbage: (stage) =>
    stage.emits({ type: 'tool.after', sessionId: 7 } as unknown as EnforcerEvent),
  async moment(stage) {
    await stage.clock.advance(300);
  },
  async while(stage) {
    await stage.clock.advance(2100);
  },
};

const name = fc.oneof(
  { weight: 6, arbitrary: fc.constant('idle') },
  { weight: 5, arbitrary: fc.constantFrom('while', 'while', 'moment') },
  { weight: 4, arbitrary: fc.constantFrom('work', 'answer', 'speak', 'speak') },
  { weight: 2, arbitrary: fc.constantFrom(...Object.keys(actions)) },
);
/** A bus may deliver the next event before the last one was dealt with. */
const step = fc.tuple(name, fc.boolean());

function isTime(action: string): boolean {
  return action === 'while' || action === 'moment';
}

describe('whatever a program tells', () => {
  it('E2 E4 G4 P9: one continuation per stop at most, none after a latch, none while a question is open', async () => {
    let continuations = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: 40 }),
        async (script) => {
          const told: Told = {
            latched: false,
            pending: new Set(),
            stops: 0,
            active: true,
          };
          const wrong: string[] = [];
          const stage = createProgramStage({
            settings: { maxStagnant: 100, maxContinuations: 100, countdownSeconds: 1 },
            async inject(_id, text, { key }) {
              stage.injected.push({
                sessionId,
                text,
                options: { agent: null, model: null, variant: null, key },
              });
              if (told.latched) wrong.push('sent after a latch');
              if (told.pending.size > 0) wrong.push('sent while a question is open');
              await stage.says(text, { key });
            },
          });
          await stage.says('Build it.');
          stage.todos = [{ content: 'write the parser' }, { content: 'write the tests' }];
          await stage.works('todo_write');
          const underWay: unknown[] = [];
          for (const [name, awaited] of script) {
            const happening = actions[name]?.(stage, told);
            if (awaited || isTime(name)) await happening;
            else underWay.push(happening);
          }
          await Promise.all(underWay);
          await stage.clock.advance(5000);
          const keys = new Set(stage.injected.map(({ options }) => options.key));
          expect(wrong).toEqual([]);
          expect(keys.size, 'no continuation is sent twice').toBe(stage.injected.length);
          expect(stage.injected.length).toBeLessThanOrEqual(told.stops);
          continuations += stage.injected.length;
          await stage.enforcer.dispose();
          expect(stage.clock.pending(), 'nothing keeps waiting').toBe(0);
        },
      ),
      { numRuns: 200, seed: 20260101 },
    );
    expect(continuations, 'the scripts are not all silence').toBeGreaterThan(200);
  });
});
