import { describe, expect, it } from 'vitest';
import {
  all,
  stopContext,
  withCounts,
  withSession,
  withSettings,
} from '../../test/properties/rule-context.ts';
import { aTodo } from '../../test/support/builders.ts';
import { parseEnvironment, parseFlags, validateConfig } from './config.ts';
import { ownToast, renderTemplate } from './own-words.ts';
import {
  checkedTexts,
  continuationText,
  type OwnTexts,
  type TextKind,
  texts,
} from './texts.ts';

const german = [
  '{marker} Stand: {progress}.',
  '{reason}',
  'Weiter mit {next}.',
  '{wayOut}',
];

function said(kind: TextKind, own: object, title = 'write the parser') {
  const plan = [aTodo({ title, droppedAt: 1 })];
  const context = stopContext(
    all(
      withCounts({ pending: 1, completed: 2, unnamedDrops: 1 }),
      withSession({ plan }),
      withSettings(own),
    ),
  );
  const text = texts.find((known) => known.kind === kind) ?? texts[0];
  return continuationText(text, { ...context, next: plan, level: 1 });
}

describe('a template', () => {
  it('E6: gives the text of its kind, else that for all, else ours', () => {
    const own = { texts: { default: german, loop: '{marker} Anders! {next} {wayOut}' } };
    expect(said('standard', own).text).toBe(
      '[TODO CONTINUATION] Stand: 2/3 completed, 1 remaining.\nWeiter mit “write the parser”.\n' +
        'If that is impossible, needs a human, or you were asked for a part only, call todo_pause with the reason.',
    );
    expect(said('loop', own).text).toMatch(
      /^\[TODO CONTINUATION\] Anders! “write the parser” If that/u,
    );
    expect(said('dropped-todos', own).text).toMatch(
      /\nThese todos were left out.*\n.*\nWeiter mit “write/u,
    );
    expect(said('checks-running', own).text).toMatch(
      /Stand: .*\n[^\n]*todo_verify[^\n]*$/u,
    );
    expect(said('loop', {}).text).toContain(
      'Go on with the next todo: “write the parser”.',
    );
  });

  it('V9: what stands in a part is never read as a template', () => {
    const title = '{wayOut} $& {marker} {next} {nobody} <system>"now"';
    const { text, next } = said('standard', { texts: { default: german } }, title);
    expect(next).toBe("“{wayOut} $& {marker} {next} {nobody} ‹system›'now'”");
    expect(text.split('\n')[1]).toBe(`Weiter mit ${next}.`);
    expect(text.match(/TODO CONTINUATION/gu)).toHaveLength(1);
  });

  it('E6: a line about nothing is left out, one with anything to say is not', () => {
    const parts = { one: '1', none: '', zero: 0 };
    expect(
      renderTemplate(
        ['a', 'b {none}', 'c {none}{one}', 'd {zero}', '{one} {none}'],
        parts,
      ),
    ).toBe('a\nc 1\nd 0\n1');
  });

  const all4 = '{marker} {reason} {next} {wayOut}';
  const refused: [object, string, RegExp][] = [
    [
      { texts: { default: '{reason} {next} {wayOut}' } },
      'texts.default',
      /^must contain \{marker\}: the words/,
    ],
    [
      { texts: { default: '{marker} {reason} {wayOut}' } },
      'texts.default',
      /^must contain \{next\}: the next todo/,
    ],
    [
      { texts: { loop: ['{marker}', '{next}'] } },
      'texts.loop',
      /^must contain \{wayOut\}: what the agent does/,
    ],
    [
      { texts: { default: '{marker} {next} {wayOut}' } },
      'texts.default',
      /^must contain \{reason\}/,
    ],
    [
      { texts: { 'failed-check': '{marker} {next} {wayOut}' } },
      'texts.failed-check',
      /^must contain \{reason\}/,
    ],
    [
      { texts: { 'dropped-todos': '{marker} {next} {wayOut}' } },
      'texts.dropped-todos',
      /\{reason\}/,
    ],
    [
      { texts: { 'checks-running': 'Wait.' } },
      'texts.checks-running',
      /^must contain \{marker\}/,
    ],
    [
      { texts: { loop: `${all4} {nxt}` } },
      'texts.loop',
      /^\{nxt\} is not one of its parts; did you mean "next"\?$/,
    ],
    [
      { texts: { loop: `${all4} {Marker}` } },
      'texts.loop',
      /^\{Marker\} is not .* did you mean "marker"\?$/,
    ],
    [
      { texts: { loop: `${all4} {constructor}` } },
      'texts.loop',
      /^\{constructor\} is not one of its parts$/,
    ],
    [{ texts: { loops: all4 } }, 'texts.loops', /did you mean "loop"\?$/],
    [
      { texts: { loop: `${all4}\u001b[2J` } },
      'texts.loop',
      /^must be a visible text on one line/,
    ],
    [
      { texts: { loop: [all4, 'a\nb'] } },
      'texts.loop[1]',
      /^must be a visible text on one line/,
    ],
    [
      { texts: { loop: 5 } },
      'texts.loop',
      /^must be a visible text on one line .* got 5$/,
    ],
    [{ texts: all4 }, 'texts', /^must be an object/],
    [
      { agents: { build: { texts: { loop: 'Go!' } } } },
      'agents.build.texts.loop',
      /^must contain \{marker\}/,
    ],
    [
      { toasts: { countdown: 'Soon' } },
      'toasts.countdown',
      /^must contain \{seconds\}: seconds until/,
    ],
    [{ toasts: { end: '{outcome}' } }, 'toasts.end', /^must contain \{reason\}/],
    [
      { toasts: { default: '{remaining}' } },
      'toasts.default',
      /^must contain \{reason\}/,
    ],
    [
      { toasts: { end: '{reason} {next}' } },
      'toasts.end',
      /^\{next\} is not one of its parts/,
    ],
  ];
  it.each(refused)(
    'E6 C1: %j is refused in one sentence with its path',
    (config, path, message) => {
      const result = validateConfig(config);
      const problems = result.ok ? [] : result.problems;
      expect(problems.map((problem) => problem.path)).toEqual([path]);
      expect(problems[0]?.message).toMatch(message);
    },
  );

  it('C1: counts from the environment and flags too, and is refused there', () => {
    expect(parseFlags(['--texts-failed-check', all4])).toMatchObject({
      config: { texts: { 'failed-check': all4 } },
    });
    expect(parseFlags(['--texts-loop', 'Go!'])).toMatchObject({
      problems: [{ path: '--texts-loop', message: expect.stringContaining('{marker}') }],
    });
    const environment = { UNTILDONE_TEXTS_FAILED_CHECK: JSON.stringify([all4, 'Los!']) };
    expect(parseEnvironment(environment)).toMatchObject({
      config: { texts: { 'failed-check': [all4, 'Los!'] } },
    });
  });

  it('E1: a toast has words of its own, those for all, or none', () => {
    const parts = { reason: 'Resuming in 2 s', seconds: 2, remaining: 3 };
    expect(ownToast({ countdown: 'Weiter in {seconds} s' }, 'countdown', parts)).toBe(
      'Weiter in 2 s',
    );
    expect(ownToast({ default: ['{reason}', '{outcome}'] }, 'countdown', parts)).toBe(
      'Resuming in 2 s',
    );
    expect(ownToast({ end: '{reason}' }, 'countdown', parts)).toBeNull();
  });
});

describe('a function', () => {
  const ask = (own: unknown, kind: TextKind = 'standard') => {
    const told: string[] = [];
    const checked = checkedTexts(own as OwnTexts, (sentence) => told.push(sentence));
    const given = said(kind, {});
    const answers = [checked(given), checked(given)];
    return { given, answers, told };
  };

  it('E6: gets the parts and the kind, and what it returns is sent', () => {
    const { answers, told, given } = ask(
      (parts: ReturnType<typeof said>) =>
        `${parts.kind}! ${parts.marker} ${parts.next} ${parts.wayOut}`,
    );
    expect(answers[0]).toBe(`standard! ${given.marker} ${given.next} ${given.wayOut}`);
    expect(told).toEqual([]);
  });

  const wrong: [string, unknown, TextKind, RegExp][] = [
    [
      'throws',
      () => {
        throw new Error('no \u001b[2Jwords');
      },
      'standard',
      /^texts: no words; our own/,
    ],
    [
      'is none',
      'a template',
      'standard',
      /^texts: .*is not a function; our own text was sent\.$/,
    ],
    ['returns nothing', () => undefined, 'standard', /must return a text, got nothing/],
    [
      'returns a promise',
      async () => {
        throw new Error('late');
      },
      'standard',
      /must return a text, got an object/,
    ],
    [
      'leaves the marker out',
      ({ next, wayOut }: never) => `${next} ${wayOut}`,
      'loop',
      /for loop lacks marker/,
    ],
    [
      'leaves the next todo out',
      ({ marker, wayOut }: never) => `${marker} ${wayOut}`,
      'loop',
      /lacks next/,
    ],
    [
      'leaves the way out out',
      ({ marker, next }: never) => `${marker} ${next}`,
      'loop',
      /lacks wayOut/,
    ],
    [
      'does not name what was dropped',
      ({ marker, next, wayOut }: never) => `${marker} ${next} ${wayOut}`,
      'dropped-todos',
      /for dropped-todos lacks reason/,
    ],
  ];
  it.each(wrong)(
    'E6: one that %s is told once, and our text is sent',
    (_what, own, kind, sentence) => {
      const { given, answers, told } = ask(own, kind);
      expect(answers).toEqual([given.text, given.text]);
      expect(told).toHaveLength(1);
      expect(told[0]).toMatch(sentence);
    },
  );
});
