import { describe, expect, it } from 'vitest';
import { wantedLines } from './ask-at-terminal.ts';
import { createPage } from './show/page.ts';

function wanted(
  subject: string,
  { pattern = `= ${subject}`, unicode = true } = {},
): string {
  const page = createPage({ columns: null, color: false, unicode });
  return wantedLines(page, { tool: 'shell', subject, pattern }).join('\n');
}

describe('the lines of a permission', () => {
  it('S7: show what a terminal would hide, and say so', () => {
    const text = wanted('echo ok \u001b]0; touch b; echo \u0007\nrm \u202ex\u200b');
    expect(text).toContain('echo ok \\x1b]0; touch b; echo \\x07\n');
    expect(text).toContain('rm \\u202ex\\u200b\n');
    expect(text).toContain('It holds characters that a terminal does not show');
    expect(wanted('npm publish')).not.toContain('It holds characters');
  });

  it('S7: show all of it, however much longer it is with every character named', () => {
    const text = wanted(`echo ${'\u{e0041}'.repeat(900)}; touch b`);
    expect(text.match(/\\u\{e0041\}/gu)?.length).toBeGreaterThan(880);
    expect(text.replace(/\n\s*\S /gu, '')).toContain('; touch b');
    expect(text.slice(1)).not.toContain('…');
  });

  it('S7: in ASCII name every other letter instead of guessing one', () => {
    expect(wanted('rm résumé', { unicode: false })).toContain('rm r\\xe9sum\\xe9');
  });

  it('S7: do not say a long command twice', () => {
    const long = `echo one\n${'echo two\n'.repeat(8)}`;
    expect(wanted(long)).toContain('s or a would allow: exactly this command');
    expect(wanted('npm test', { pattern: 'npm test **' })).toContain(
      's or a would allow: npm test **',
    );
  });
});
