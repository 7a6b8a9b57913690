import { describe, expect, it } from 'vitest';
import { checkBaseUrl, withVersion } from './base-url.ts';

describe('C1: the address of a provider', () => {
  it.each([
    ['http://127.0.0.1:8000/v1/', 'http://127.0.0.1:8000/v1', true],
    [' https://example.org ', 'https://example.org', false],
    ['http://127.0.0.1.evil.example/v1', 'http://127.0.0.1.evil.example/v1', false],
    ['http://localhost.evil.example', 'http://localhost.evil.example', false],
  ])('%s is taken as %s', (text, url, isLoopback) => {
    expect(checkBaseUrl(text, 'X')).toEqual({ ok: true, url, isLoopback });
  });

  it.each(['', 'example.org', 'javascript:alert(1)', 'http://a:b@c', 'http://a/?b', 'http://a/#b'])(
    '%j is refused by the name of its place',
    (text) => {
      const checked = checkBaseUrl(text, 'OPENAI_BASE_URL');
      expect(checked.ok ? '' : checked.sentence).toMatch(/^OPENAI_BASE_URL /);
    },
  );

  it.each([
    ['https://api.openai.com', false, 'https://api.openai.com/v1'],
    ['https://proxy.example/openai', false, 'https://proxy.example/openai'],
    ['https://proxy.example/anthropic', true, 'https://proxy.example/anthropic/v1'],
    ['https://proxy.example/anthropic/v1', true, 'https://proxy.example/anthropic/v1'],
  ])('%s gets its version where it lacks one', (url, isShared, expected) => {
    expect(withVersion(url, '/v1', isShared)).toBe(expected);
  });
});
