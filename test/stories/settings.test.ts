// Settings in the real loop: per agent, switched off, observed, read-only; and every
// decision on the record (C1–C4).
import { describe, expect, it } from 'vitest';
import {
  callTool,
  complete,
  plan,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { play, setStage } from './play.ts';
import { printed } from './printed.ts';
import { oneProtocol as protocol } from './protocols.ts';
import { continuations, ending, eventsOf, shownText, statuses } from './seen.ts';

const alpha = [writeFile('alpha.txt', 'a'), complete('Write alpha'), say('Written.')];
const early = [plan('Write alpha'), say('Everything is done!'), ...alpha];
const readOnly = { mode: 'read-only', shellAllow: [] } as const;

describe('settings', () => {
  it('C1: what stands under agents.run holds for our own agent alone', async () => {
    const story = { protocol, steps: [plan('Write alpha')], afterwards: say('Done.') };
    const own = await play({
      ...story,
      settings: { agents: { run: { maxStagnant: 1 } } },
    });
    expect(continuations(own)).toHaveLength(1);
    const other = await play({
      ...story,
      settings: { agents: { build: { maxStagnant: 1 } } },
    });
    expect(continuations(other)).toHaveLength(3);
  });

  it('C1: sections under agents.run hold as well', async () => {
    const files = Array.from({ length: 6 }, (_, index) =>
      writeFile(`${index}.txt`, `${index}`),
    );
    const played = await play({
      protocol,
      settings: { agents: { run: { iterations: { base: 4, cap: 4 } } } },
      steps: [...files, say('Done.')],
    });
    expect(continuations(played)).toEqual(['iteration-budget']);
  });

  it.each([{ mode: 'off' as const }, { enabled: false }])(
    'C2: %j means that an agent ends when it says so, without a word from us',
    async (settings) => {
      const played = await play({ protocol, settings, steps: early });
      expect(continuations(played)).toEqual([]);
      expect(played.requests).toHaveLength(2);
      expect(shownText(played)).toBe('Everything is done!');
      // Honest all the same: the todo is open, so that this is no success.
      expect(ending(played)).toEqual({
        outcome: 'paused',
        reason: 'disabled',
        exitCode: 7,
      });
    },
  );

  it('C2: switched off, an agent is not cut by our budget of steps', async () => {
    const files = Array.from({ length: 14 }, (_, index) =>
      writeFile(`${index}.txt`, `${index}`),
    );
    const played = await play({
      protocol,
      settings: { mode: 'off' },
      steps: [...files, say('Done.')],
    });
    expect(shownText(played)).toBe('Done.');
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'disabled',
      exitCode: 3,
    });
  });

  it('C2: observed, a stop is decided on the record and nothing is changed', async () => {
    const played = await play({ protocol, settings: { mode: 'observe' }, steps: early });
    expect(continuations(played)).toEqual([]);
    expect(played.requests).toHaveLength(2);
    expect(played.decisions.at(-1)).toMatchObject({
      observed: true,
      answer: 'continue',
      textKind: 'standard',
    });
    expect(shownText(played)).toBe('Everything is done!');
    expect(ending(played)).toMatchObject({ outcome: 'paused', exitCode: 7 });
  });

  it('P26: a read-only agent is never continued and changes nothing', async () => {
    const played = await play({
      protocol,
      permissions: readOnly,
      steps: [...early.slice(0, 1), writeFile('a.txt', 'a'), say('I may not write.')],
    });
    expect(continuations(played)).toEqual([]);
    expect(eventsOf(played, 'tool-ended').at(-1)).toMatchObject({
      ok: false,
      output: expect.stringContaining('read-only'),
    });
    expect(ending(played)).toEqual({
      outcome: 'paused',
      reason: 'read-only-agent',
      exitCode: 7,
    });
  });

  it('P26, V1: a read-only agent that answers is let go, however much it had to read', async () => {
    const reads = Array.from({ length: 14 }, (_, index) =>
      callTool('list_directory', { path: '.', depth: index + 1 }),
    );
    const played = await play({
      protocol,
      permissions: readOnly,
      steps: [...reads, say('It is empty.')],
    });
    expect(shownText(played)).toBe('It is empty.');
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'read-only-agent',
      exitCode: 3,
    });
  });
});

describe('the record', () => {
  it('C4: every continue, wait and let-go is there with its reason and a sentence', async () => {
    const played = await play({ protocol, steps: early });
    expect(played.decisions.map(({ answer, reason }) => `${answer} ${reason}`)).toEqual([
      'continue continue',
      'let-go nothing-open',
    ]);
    for (const { sentence } of played.decisions) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  it('T3, P36: what an earlier message left open stays held: a new one joins its plan', async () => {
    const stage = await setStage({
      protocol,
      steps: [
        plan('Write alpha'),
        say('Done.'),
        say('Done!'),
        say('Done!!'),
        say('Done!!!'),
        say('Hello.'),
      ],
    });
    const first = await stage.run();
    expect(ending(first)).toMatchObject({ outcome: 'stagnant' });
    const second = await stage.run({ goal: 'Just say hello.' });
    expect(ending(second)).toMatchObject({ outcome: 'stagnant' });
    expect(second.ended.leftOver).toEqual([]);
    expect(statuses(second)).toEqual({ 'Write alpha': 'pending' });
    expect(continuations(second)).not.toEqual([]);
  });

  it('S8: a turn that ends with open todos lists them to the human, says why, and how to go on', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha', 'Write beta')],
      afterwards: say('Done.'),
    });
    const summary = printed(played.events, false).split('outcome: ')[1] ?? '';
    expect(summary).toContain('stagnant\n');
    expect(summary).toContain('No progress after 3 continuations.');
    expect(summary).toMatch(/\[ \] Write alpha[\s\S]*\[ \] Write beta/);
    expect(summary).toContain(
      `next: untildone run --resume ${played.stage.sessionId.slice(-6)}`,
    );
  });

  it('C3: the human sees that the agent is sent on, and why', async () => {
    const played = await play({ protocol, steps: early });
    const out = printed(played.events, false);
    expect(out).toMatch(
      /✋ "Everything is done!" refused: \d of \d todos? open → next: Write/u,
    );
  });
});
