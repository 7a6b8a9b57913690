import { describe, expect, it } from 'vitest';
import { endsInQuestion } from './safe-text.ts';

describe('a text that ends in a question', () => {
  it.each([
    'Shall I go on?',
    'I did A. **Should I also do B?**',
    'Soll ich weitermachen? 🙂',
    '"Really?!"',
    '¿Continúo?',
    '要继续吗？',
    '要继续吗。',
    '続けますか。',
    'هل أتابع؟',
    'Which one (a or b?)\n\n',
  ])('G11: %s', (text) => {
    expect(endsInQuestion(text)).toBe(true);
  });

  it.each([
    '',
    'Done.',
    'Why did it fail? Because the path was wrong. I mended it.',
    'Look:\n```\nwhat?\n```',
    'とても静か',
    'a; b;',
    '?'.repeat(5000) + 'x'.repeat(600),
  ])('G11: but not %s', (text) => {
    expect(endsInQuestion(text)).toBe(false);
  });
});
