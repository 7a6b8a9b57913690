import { describe, expect, it } from 'vitest';
import { quoteProvider, signatureText } from './provider-words.ts';

describe('a provider’s words', () => {
  it.each([
    'Incorrect API key provided: sk-abcdef0123456789.',
    'Incorrect API key provided: sk-proj-****************3456.',
    'token hf_abcdefghijk refused',
    'authorization: Bearer abcdefg',
    'key=AIzaSyD-1234567890_abcdef',
    'opaque dGhpcyBpcyBhIHNlY3JldCB0b2tlbiAxMjM= refused',
  ])('are quoted without what may be a key: %s', (text) => {
    expect(quoteProvider(text)).toContain('…');
    expect(quoteProvider(text)).not.toMatch(/sk-\w|hf_|abcdefg|AIza|dGhpcy/);
  });

  it('keep the names of models and ordinary words', () => {
    const text = 'The model claude-sonnet-4-5-20250929 is not available in your organisation';
    expect(quoteProvider(text)).toBe(text);
  });

  it.each([
    ['Request req_011CSHoEeqs failed after 31 s', 'Request req_9zzz failed after 2 s'],
    ['limit 30,000, used 29,999', 'limit 40,000, used 1'],
    ['see https://a.example/x/1', 'see https://b.example/y/2'],
    ['id 6f9619ff-8b86-d011-b42d-00cf4fc964ff', 'id 7f9619ff-8b86-d011-b42d-00cf4fc964fe'],
    ['trace 4bf92f3577b34da6', 'trace 00f067aa0ba902b7'],
  ])('give one signature for one cause: %s', (one, other) => {
    expect(signatureText(one)).toBe(signatureText(other));
  });
});
