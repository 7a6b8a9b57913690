// The guard on streams written by hand: what is shown, what is asked, and what the model
// gets.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  call,
  line,
  ScriptedCaller,
  type ScriptPart,
  step,
  text,
} from '../../test/support/scripted-stream.ts';
import { createGuard } from './guard-transform.ts';

const lie = step(text('All done!'));
const honest = step([...text('On it.'), ...call('shell')], 'tool-calls');
const repeated = step(
  [...text('Plan again.'), ...call('todo_write', 'duplicate')],
  'tool-calls',
);

describe('a step that stops with todos open', () => {
  it('I3, P1: is sent back once with a reminder, and its "done" is not shown as an answer', async () => {
    const caller = new ScriptedCaller(lie, honest);
    const { parts, result } = await caller.run();
    expect(line(parts)).toBe(
      'start start-step held-back(All done!) finish-step start-step text-delta(On it.) tool-call tool-result finish-step finish',
    );
    expect(caller.reminders).toEqual([null, 'REMINDER 1']);
    expect(result).toMatchObject({
      attempts: 2,
      calledTools: true,
      onlyDuplicates: false,
      finishReason: 'tool-calls',
    });
  });

  it('I1: the held text is handed back, so that the model keeps it in its history', async () => {
    const { result } = await new ScriptedCaller(lie, honest).run();
    expect(result.heldBack).toEqual(['All done!']);
  });

  it('I3: after the second attempt nothing more is asked: two attempts in all', async () => {
    const caller = new ScriptedCaller(lie, step(text('Truly done.')));
    const { parts, result } = await caller.run();
    expect(caller.stops).toHaveLength(1);
    expect(line(parts)).toMatch(
      /held-back\(All done!\).*text-delta\(Truly done\.\) finish-step finish$/,
    );
    expect(result).toMatchObject({ attempts: 2, calledTools: false, end: 'normal' });
  });

  it('I1: the turn starts once and finishes once, whatever the number of attempts', async () => {
    const caller = new ScriptedCaller(lie, lie, lie, honest);
    caller.maxAttempts = 4;
    const { parts } = await caller.run();
    const count = (type: string) => parts.filter((part) => part.type === type).length;
    expect([
      count('start'),
      count('finish'),
      count('start-step'),
      count('finish-step'),
    ]).toEqual([1, 1, 4, 4]);
  });

  it('I7: no reminder ever appears in what is emitted', async () => {
    const caller = new ScriptedCaller(lie, lie);
    const { parts, result } = await caller.run();
    expect(caller.reminders[1]).toContain('REMINDER');
    expect(JSON.stringify([parts, result])).not.toContain('REMINDER');
  });

  it('P14: an empty answer or mere thinking is a stop attempt, and thinking passes at once', async () => {
    const caller = new ScriptedCaller(
      step([{ type: 'reasoning-delta', text: 'hm' }]),
      honest,
    );
    const { parts, result } = await caller.run();
    expect(caller.stops[0]).toMatchObject({ end: 'empty', text: '' });
    expect(parts).toContainEqual({ type: 'held-back', text: '' });
    expect(line(parts)).toMatch(/^start start-step reasoning-delta\(hm\) held-back/);
    expect(result.attempts).toBe(2);
  });

  it('G11, P8: the one who decides is told that the text ends in a question', async () => {
    const caller = new ScriptedCaller(step(text('Shall I go on?')), honest);
    await caller.run();
    expect(caller.stops[0]).toMatchObject({
      question: true,
      text: 'Shall I go on?',
      attempt: 1,
    });
  });

  it('G2: the output limit is told as such', async () => {
    const caller = new ScriptedCaller(step(text('and so'), 'length'), honest);
    await caller.run();
    expect(caller.stops[0]).toMatchObject({ end: 'length', finishReason: 'length' });
  });
});

describe('a step that worked with tools', () => {
  it('I2: is released without looking at the todos again', async () => {
    const caller = new ScriptedCaller(honest);
    const { result } = await caller.run();
    // Once, when the step starts.
    expect(caller.log).toEqual(['hasOpenTodos']);
    expect(result).toMatchObject({ attempts: 1, calledTools: true });
  });

  it('I1: text goes out in front of the tool call that it announces', async () => {
    const { parts } = await new ScriptedCaller(honest).run();
    expect(parts.map(({ type }) => type).slice(0, 6)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'tool-input-start',
    ]);
  });

  it('I2: a call that failed or was denied is work all the same', async () => {
    for (const type of ['tool-error', 'tool-output-denied', 'tool-approval-request']) {
      const caller = new ScriptedCaller(step([{ type: 'tool-call' }, { type }]));
      expect((await caller.run()).result).toMatchObject({
        attempts: 1,
        calledTools: true,
        onlyDuplicates: false,
      });
    }
  });

  it('I2: an input that was cut off before the call is no work', async () => {
    const caller = new ScriptedCaller(
      step([{ type: 'tool-input-start' }], 'length'),
      honest,
    );
    const { result } = await caller.run();
    expect(caller.stops[0]).toMatchObject({ calledTools: false, end: 'length' });
    expect(result.attempts).toBe(2);
  });
});

describe('duplicate plans', () => {
  it('I5, P4: a step with nothing but duplicate todo_write calls counts as no tool work', async () => {
    const caller = new ScriptedCaller(repeated, honest);
    const { parts, result } = await caller.run();
    expect(caller.stops[0]).toMatchObject({ calledTools: true, onlyDuplicates: true });
    expect(parts).toContainEqual({ type: 'held-back', text: '' });
    expect(parts.filter(({ type }) => type === 'finish')).toHaveLength(1);
    expect(result).toMatchObject({ attempts: 2, onlyDuplicates: false });
  });

  it('I5: one real call among duplicates is work', async () => {
    const caller = new ScriptedCaller(
      step([...call('todo_write', 'duplicate'), ...call('shell')]),
    );
    expect((await caller.run()).result).toMatchObject({
      attempts: 1,
      onlyDuplicates: false,
    });
    expect(caller.stops).toEqual([]);
  });

  it('I5: the answer to an earlier approval beside a duplicate is work', async () => {
    const caller = new ScriptedCaller(
      step([{ type: 'tool-output-denied' }, ...call('todo_write', 'duplicate')]),
    );
    expect((await caller.run()).result).toMatchObject({
      attempts: 1,
      onlyDuplicates: false,
    });
  });

  it('I5: a preliminary result is not yet a duplicate', async () => {
    const preliminary: ScriptPart = {
      type: 'tool-result',
      output: 'duplicate',
      preliminary: true,
    };
    const caller = new ScriptedCaller(
      step([{ type: 'tool-call' }, preliminary, { type: 'tool-result', output: 'x' }]),
    );
    expect((await caller.run()).result).toMatchObject({
      attempts: 1,
      onlyDuplicates: false,
    });
  });

  it('I5: if nobody can tell whether it is a duplicate, it is work', async () => {
    const caller = new ScriptedCaller(repeated);
    caller.isDuplicate = () => {
      throw new Error('unknown tool');
    };
    expect((await caller.run()).result).toMatchObject({
      attempts: 1,
      onlyDuplicates: false,
    });
  });
});

describe('releasing', () => {
  const untouched = 'start start-step text-delta(All done!) finish-step finish';

  it('I4: a paused plan is released without asking', async () => {
    const caller = new ScriptedCaller(lie);
    caller.paused = true;
    expect(line((await caller.run()).parts)).toBe(untouched);
    expect(caller.stops).toEqual([]);
  });

  it('I4: a plan that was settled while the step ran is released without asking', async () => {
    const caller: ScriptedCaller = new ScriptedCaller(async function* () {
      yield* lie.slice(0, -2);
      caller.open = false;
      yield* lie.slice(-2);
    });
    expect(line((await caller.run()).parts)).toBe(untouched);
    expect(caller.stops).toEqual([]);
  });

  it('I4: no reminder to give is a release', async () => {
    const caller = new ScriptedCaller(lie);
    caller.answer = () => ({ answer: 'retry', reminder: '  ' });
    expect((await caller.run()).result).toMatchObject({ attempts: 1, heldBack: [] });
  });

  it('I1: every answer is out in the same turn of the event loop as the model’s last event, if the decision is', async () => {
    for (const script of [lie, honest, repeated, step(text('and so'), 'length')]) {
      const shown: ScriptPart[] = [];
      const guard = createGuard<ScriptPart>({
        hasOpenTodos: () => true,
        ask: async () => ({ answer: 'release' }),
        remind: () => {},
      });
      for (const part of script.slice(0, -2))
        await guard.take(part, (passing) => shown.push(passing));
      let turns = 0;
      setImmediate(() => {
        turns += 1;
      });
      for (const part of script.slice(-2))
        await guard.take(part, (passing) => shown.push(passing));
      expect([turns, shown.map(({ type }) => type).sort()]).toEqual([
        0,
        script.map(({ type }) => type).sort(),
      ]);
    }
  });

  it('I3: what the decision lets go is released', async () => {
    const caller = new ScriptedCaller(lie);
    caller.answer = () => ({ answer: 'release' });
    expect(line((await caller.run()).parts)).toBe(untouched);
    expect(caller.stops).toHaveLength(1);
  });

  it('I1: without open todos text streams through while the model still speaks', async () => {
    const caller = new ScriptedCaller(lie);
    caller.open = false;
    const parts = caller.guard();
    const seen: string[] = [];
    while (seen.at(-1) !== 'text-delta') {
      const next = await parts.next();
      if (!next.done) seen.push(next.value.type);
    }
    expect(caller.log).toEqual(['hasOpenTodos']);
    await parts.return(undefined as never);
  });

  it('I1: todos that appear during the step still bring a retry, with one finish', async () => {
    const caller: ScriptedCaller = new ScriptedCaller(async function* () {
      yield* lie.slice(0, -2);
      caller.open = true;
      yield* lie.slice(-2);
    }, honest);
    caller.open = false;
    const { parts, result } = await caller.run();
    expect(result.attempts).toBe(2);
    expect(parts.filter(({ type }) => type === 'finish')).toHaveLength(1);
  });
});

describe('for any script of attempts', () => {
  const body = fc.array(
    fc.constantFrom(
      'text',
      'call',
      'duplicate',
      'reasoning',
      'notice',
      'source',
      'error',
    ),
    { maxLength: 8 },
  );
  const partsOf = (kinds: readonly string[], attempt: number): ScriptPart[] =>
    step(
      kinds.flatMap((kind): ScriptPart[] => {
        if (kind === 'text') return text(`attempt ${attempt}`);
        if (kind === 'call') return call('shell');
        if (kind === 'duplicate') return call('todo_write', 'duplicate');
        return [{ type: kind === 'reasoning' ? 'reasoning-delta' : kind }];
      }),
    );

  it('I1, I3: one finish at the very end, at most two attempts, and no text of a silent stop that was sent back', async () => {
    await fc.assert(
      fc.asyncProperty(body, body, fc.boolean(), async (first, second, open) => {
        const caller = new ScriptedCaller(partsOf(first, 1), partsOf(second, 2));
        caller.open = open;
        const { parts, result } = await caller.run();
        expect(parts.filter(({ type }) => type === 'finish')).toHaveLength(1);
        expect(parts.at(-1)?.type).toBe('finish');
        const worked = (kinds: readonly string[]) =>
          kinds.includes('call') || kinds.includes('error');
        expect(result.attempts).toBe(open && !worked(first) ? 2 : 1);
        if (result.attempts === 2 && !first.includes('duplicate'))
          expect(
            parts.some(
              (part) =>
                part.type === 'text-delta' && 'text' in part && part.text === 'attempt 1',
            ),
          ).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('I1: whatever is not held is out before the next part is pulled', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (kinds) => {
        const given = partsOf(kinds, 1);
        const out: unknown[] = [];
        const late: string[] = [];
        const caller = new ScriptedCaller(async function* () {
          for (const part of given) {
            yield part;
            const held = /^(text-|source|file|finish)/.test(part.type);
            if (!held && out.at(-1) !== part) late.push(part.type);
          }
        });
        caller.answer = () => ({ answer: 'release' });
        for await (const part of caller.guard()) out.push(part);
        expect(late).toEqual([]);
        expect(out).toHaveLength(given.length);
      }),
      { numRuns: 500 },
    );
  });
});
