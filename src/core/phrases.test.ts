import { describe, expect, it } from 'vitest';
import { validateConfig } from './config.ts';
import { isPhrase } from './human.ts';
import { defaultSettings } from './settings.ts';

const { stopWords: defaultStopWords, goOnPhrases: defaultGoOnPhrases } = defaultSettings;

describe('G4: a message that is exactly a stop word', () => {
  it.each([
    'stop',
    'STOP',
    ' Stop! ',
    'stop…',
    'Please stop.',
    'stop   it',
    '停',
    '停！',
    '止めて。',
    '¡Para!',
    'ARRÊTE',
  ])('is recognised: %j', (message) =>
    expect(isPhrase(message, defaultStopWords)).toBe(true),
  );

  it('is recognised however its accents were typed', () => {
    expect(isPhrase('arre\u0302te', defaultStopWords)).toBe(true);
  });

  it.each([
    '',
    '   ',
    '!',
    'stop the server and fix it',
    "don't stop",
    'stopping',
    'stop, then go on',
    'no stop',
  ])('is not found inside another message: %j', (message) =>
    expect(isPhrase(message, defaultStopWords)).toBe(false),
  );
});

describe('T3: a go-on phrase', () => {
  it.each([
    'continue',
    'Go on.',
    'Mach weiter!',
    '继续',
    '続けて',
    'CONTINÚA',
    'continue, por favor'.replace(',', ''),
  ])('is recognised: %j', (message) =>
    expect(isPhrase(message, defaultGoOnPhrases)).toBe(true),
  );

  it('is not found inside another message', () => {
    expect(isPhrase('continue with the second file', defaultGoOnPhrases)).toBe(false);
  });
});

describe('G4, T3: phrases', () => {
  it('never mean both by default', () => {
    expect(defaultStopWords.filter((word) => isPhrase(word, defaultGoOnPhrases))).toEqual(
      [],
    );
  });

  it('that come by default are valid and each stands there once', () => {
    expect(
      validateConfig({ stopWords: defaultStopWords, goOnPhrases: defaultGoOnPhrases }).ok,
    ).toBe(true);
    for (const list of [defaultStopWords, defaultGoOnPhrases]) {
      expect(
        list.filter((phrase, index) => isPhrase(phrase, list.slice(index + 1))),
      ).toEqual([]);
    }
  });

  it('of mere punctuation match themselves and nothing else', () => {
    expect(isPhrase('!!!', ['!!!'])).toBe(true);
    expect(isPhrase('...', ['!!!'])).toBe(false);
    expect(isPhrase('', ['!!!'])).toBe(false);
  });

  it('are not looked for in a message of a million characters', () => {
    const started = performance.now();
    expect(isPhrase(`stop${'!'.repeat(1_000_000)}x`, defaultStopWords)).toBe(false);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
