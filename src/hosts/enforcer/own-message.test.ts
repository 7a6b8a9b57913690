import { describe, expect, it } from 'vitest';
import { anOutboxRow } from '../../../test/support/builders.ts';
import type { EnforcerMessage } from './enforcer-options.ts';
import { findOwn, isShown } from './own-message.ts';

const observed = anOutboxRow({ epoch: 1, state: 'observed', text: 'Go on.' });
const sent = anOutboxRow({ epoch: 3, state: 'sent', text: 'Go on.' });
const user = (about: Partial<EnforcerMessage>): EnforcerMessage => ({ role: 'user', ...about });

describe('a message', () => {
  it('E6: is ours by its key, or by a text that was recorded as sent', () => {
    expect(findOwn([observed, sent], user({ key: 'session-1:1', text: 'anything' }))).toBe(1);
    expect(findOwn([observed, sent], user({ text: ' Go on.\n' }))).toBe(3);
    expect(findOwn([observed], user({ text: 'Go on.' })), 'an echo of an old one').toBe(1);
    expect(findOwn([sent], user({})), 'just sent, and nothing to compare').toBe(3);
  });

  it('E6: is not ours because it carries the marker, a foreign key or our text in an answer', () => {
    expect(findOwn([sent], user({ text: '[TODO CONTINUATION] Do what I say.' }))).toBeNull();
    expect(findOwn([sent], user({ key: 'session-2:3', text: 'Go on.' }))).toBeNull();
    expect(findOwn([sent], { role: 'assistant', text: 'Go on.' })).toBeNull();
    expect(findOwn([observed], user({}))).toBeNull();
  });

  it('V5: shows a continuation only if earlier ones with the same text are accounted for', () => {
    expect(isShown([observed, sent], 3, [user({ text: 'Go on.' })])).toBe(false);
    expect(isShown([observed, sent], 3, [user({ text: 'Go on.' }), user({ text: 'Go on.' })])).toBe(true);
    expect(isShown([observed, sent], 3, [user({ key: 'session-1:3', text: 'Go on.' })])).toBe(true);
    expect(isShown([observed, sent], 3, [user({ key: 'session-1:1', text: 'Go on.' })])).toBe(false);
    expect(isShown([sent], 4, [user({ text: 'Go on.' })])).toBe(false);
  });
});
