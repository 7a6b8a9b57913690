import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedOutput, maskSecrets, quoteMasked, secretValues } from './output.ts';

describe('V1: which values are secret', () => {
  it('those of variables that sound like it, and passwords inside addresses', () => {
    const key =
      '-----BEGIN PRIVATE KEY-----\r\nMIIEvQIBADANBgkq\r\nab\r\n-----END PRIVATE KEY-----\r\n';
    const values = secretValues({
      ANTHROPIC_API_KEY: 'sk-ant-1234',
      GITHUB_TOKEN: 'ghp_abcdef',
      aws_secret_access_key: 'wJalrXUtnFEMI',
      DB_PASSWORD: 'hunter22',
      MY_PASS: 'letmein',
      GOOGLE_CREDENTIALS: '{"a": 1}',
      DATABASE_URL: 'postgres://me:p4ssw0rd@host/db',
      SSH_PRIVATE_KEY: key,
      SHORT_TOKEN: 'abcde',
      PATH: '/usr/bin:/bin',
      PWD: '/home/me/project',
      HOME: '/home/me',
      UNSET_TOKEN: undefined,
    });
    expect([...values].sort()).toEqual(
      [
        'sk-ant-1234',
        'ghp_abcdef',
        'wJalrXUtnFEMI',
        'hunter22',
        'letmein',
        '{"a": 1}',
        'p4ssw0rd',
        '-----BEGIN PRIVATE KEY-----',
        'MIIEvQIBADANBgkq',
        '-----END PRIVATE KEY-----',
        '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nab\n-----END PRIVATE KEY-----',
      ].sort(),
    );
  });
});

describe('V1: masking', () => {
  it('covers overlapping secrets as one, and leaves the rest as it is', () => {
    expect(maskSecrets('xabcdefgx', ['abcdef', 'cdefg'])).toBe('x[masked]x');
    expect(maskSecrets('aaaaaaa', ['aaaaaa'])).toBe('[masked]');
    expect(maskSecrets('nothing here', ['abcdef'])).toBe('nothing here');
    expect(maskSecrets('abcdef', [])).toBe('abcdef');
  });

  it('leaves out at a cut what could be a part of a secret', () => {
    expect(maskSecrets('def rest', ['abcdef'], { atStart: true })).toBe('est');
    expect(maskSecrets('dabcdef rest', ['abcdef'], { atStart: true })).toBe(
      '[masked] rest',
    );
    expect(maskSecrets('begin abc', ['abcdef'], { atEnd: true })).toBe('begi');
    expect(maskSecrets('begin abcdef', ['abcdef'], { atEnd: true })).toBe(
      'begin [masked]',
    );
  });

  it('comes before shortening: no part of a secret stays at the end of a sentence', () => {
    const secret = 'a'.repeat(50) + 'b'.repeat(50);
    expect(quoteMasked('x'.repeat(150) + secret, [secret])).toBe(
      `${'x'.repeat(150)}[masked]`,
    );
  });

  it('finds every secret in any output, however it is cut into pieces and however much is dropped', () => {
    const secret = fc.string({
      minLength: 6,
      maxLength: 12,
      unit: fc.constantFrom('a', 'b', 'Z'),
    });
    const piece = fc.oneof(
      fc.constant('<secret>'),
      fc.string({
        maxLength: 8,
        unit: fc.constantFrom('.', '\n', '\u001b[0m', '-', '\u0007'),
      }),
    );
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 3 }),
        fc.array(piece, { maxLength: 60 }),
        fc.array(fc.nat(30), { minLength: 1 }),
        (secrets, pieces, cuts) => {
          let which = 0;
          const whole = pieces
            .map((part) =>
              part === '<secret>' ? (secrets[which++ % secrets.length] as string) : part,
            )
            .join('');
          const output = new BoundedOutput(32, secrets);
          for (let at = 0, turn = 0; at < whole.length; turn += 1) {
            const length = 1 + (cuts[turn % cuts.length] as number);
            output.append(whole.slice(at, at + length));
            at += length;
          }
          // Letters stand in secrets alone: what is left of them must be no more than our
          // own word.
          expect(output.end().replaceAll('[masked]', '')).not.toMatch(/[abZ]/u);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
