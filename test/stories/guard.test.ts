// The in-turn guard in the real loop: what is held, what passes at once, what the human
// sees and what only the model sees (I1–I9).
import { describe, expect, it } from 'vitest';
import type { HumanControl } from '../../src/agent/run-agent.ts';
import {
  complete,
  empty,
  fail,
  inOrder,
  parallel,
  pause,
  plan,
  runCommand,
  say,
  slowly,
  start,
  toggle,
  withText,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { createProgramStage } from '../support/program-stage.ts';
import { call, line, ScriptedCaller, step, text } from '../support/scripted-stream.ts';
import { play, setStage } from './play.ts';
import { oneProtocol, protocols } from './protocols.ts';
import {
  continuations,
  continuationText,
  ending,
  eventsOf,
  heard,
  shownText,
  userTexts,
} from './seen.ts';

const alpha = [writeFile('alpha.txt', 'a'), complete('Write alpha'), say('Written.')];
const complexGoal =
  'First write alpha.txt, then write beta.txt, after that run the tests and finally fix the README.';
const hint = 'with the todo tools first';

describe.each(protocols)('$name', (protocol) => {
  it('I1: a "done" that is sent back is never shown as an answer and stays in the history of the model', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), say('Everything is done!'), ...alpha],
    });
    expect(shownText(played)).toBe('Written.');
    expect(eventsOf(played, 'text-held-back').map(({ text }) => text)).toEqual([
      'Everything is done!',
    ]);
    const retry = played.requests[2]!;
    const said = retry.messages.findIndex(({ text }) =>
      text.includes('Everything is done!'),
    );
    expect(retry.messages[said]?.role).toBe('assistant');
    expect(retry.messages[said + 1]?.text).toContain(continuationText(played, 0));
    expect(played.transcript.map(({ kind }) => kind)).toContain('held');
  });

  it('I1: tool events are not held back while todos are open: each is shown when it happens', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha'),
        parallel(writeFile('alpha.txt', 'a'), runCommand('sleep 1')),
        complete('Write alpha'),
        say('Written.'),
      ],
    });
    const ended = eventsOf(played, 'tool-ended').filter(
      ({ tool }) => tool === 'shell' || tool === 'write_file',
    );
    expect(ended.map(({ tool }) => tool)).toEqual(['write_file', 'shell']);
    // The clock of the stories runs forty times as fast: 1 s is 40 s on it.
    expect(ended[1]!.at - ended[0]!.at).toBeGreaterThan(2000);
  });
});

describe('the guard in the loop', () => {
  const protocol = oneProtocol;

  it('I1: without open todos nothing is held: the answer is shown as it comes', async () => {
    const played = await play({
      protocol,
      steps: [slowly(10, say('One two three four five six seven eight.'))],
    });
    const texts = eventsOf(played, 'text');
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.at(-1)!.at - texts[0]!.at).toBeGreaterThan(300);
  });

  it('I2: a step that says something and calls a tool is activity: shown, not sent back', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha'),
        withText('I write it now.', writeFile('alpha.txt', 'a')),
        ...alpha.slice(1),
      ],
    });
    expect(shownText(played)).toBe('I write it now.Written.');
    expect(eventsOf(played, 'text-held-back')).toEqual([]);
    expect(continuations(played)).toEqual([]);
  });

  const levels = (played: Parameters<typeof continuations>[0]) =>
    eventsOf(played, 'continuation').map(({ level }) => level);

  it('I3: a reminder is firmer than the last one only if the plan has not changed since that one', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha', 'Write beta'),
        say('Done.'),
        say('It is done.'),
        start('Write alpha'),
        say('Now it is done.'),
        say('Really done.'),
        ...alpha.slice(0, 2),
        complete('Write beta'),
        say('Written.'),
      ],
    });
    // The third stop has seen a change, the fourth none since the third: its snapshot is
    // the newest plan (I4).
    expect(levels(played)).toEqual([1, 2, 1, 2]);
    const isFirmer = [0, 1, 2, 3].map((index) =>
      continuationText(played, index).includes(
        'Since the last reminder no todo was finished',
      ),
    );
    expect(isFirmer).toEqual([false, true, false, true]);
  });

  it('I4 I2: work with tools releases the step and makes the next stop a new one; by itself it is no progress', async () => {
    const look = withText('I look.', runCommand('true'));
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), say('Done.'), look, say('Done again.'), ...alpha],
    });
    // Each of both stops is held back, with a retry of its own, although the first had
    // used its one up.
    expect(eventsOf(played, 'text-held-back').map(({ text }) => text)).toEqual([
      'Done.',
      'Done again.',
    ]);
    expect(shownText(played)).toBe('I look.Written.');
    expect(levels(played)).toEqual([1, 2]);
  });

  it('I3: one reminder per stop attempt, each counted as one continuation, firmer while the plan stands still', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha')],
      afterwards: say('I think it is done.'),
    });
    expect(ending(played)).toEqual({
      outcome: 'stagnant',
      reason: 'stagnant',
      exitCode: 5,
    });
    expect(levels(played)).toEqual([1, 2, 3]);
    expect(played.session.counters.total).toBe(3);
    // One plan, one answer, and one more answer for each reminder.
    expect(played.requests).toHaveLength(5);
    for (const [index, request] of played.requests.slice(2).entries()) {
      expect(heard(request).trim()).toBe(continuationText(played, index));
    }
    // The last answer is released: the turn ends once, with what the agent said.
    expect(shownText(played).endsWith('I think it is done.')).toBe(true);
  });

  it('I4: a pause releases the answer and the next turn starts mildly again', async () => {
    const stage = await setStage({
      protocol,
      settings: { scope: 'session' },
      steps: [
        plan('Write alpha'),
        say('Done.'),
        pause('need a colour'),
        say('Not yet.'),
        ...alpha,
      ],
    });
    const first = await stage.run();
    expect(ending(first)).toMatchObject({ outcome: 'paused', reason: 'paused-by-model' });
    const second = await stage.run({ goal: 'go on' });
    expect(levels(second).slice(0, 1)).toEqual([1]);
  });

  it('I6: a complex request gets a hint to plan with the first call only', async () => {
    const played = await play({
      protocol,
      goal: complexGoal,
      steps: [plan('Write alpha'), say('Hm.'), ...alpha],
    });
    const hinted = played.requests.map((request) =>
      userTexts(request).some((text) => text.includes(hint)),
    );
    expect(hinted).toEqual([true, false, false, false, false]);
    // V9: it stands at the end, after the request itself.
    expect(userTexts(played.requests[0]!).at(-1)).toContain(hint);
  });

  it('I6: a first call that failed does not swallow the hint', async () => {
    const played = await play({
      protocol,
      goal: complexGoal,
      steps: [fail(500), plan('Write alpha'), ...alpha],
    });
    const hinted = played.requests.map((request) =>
      userTexts(request).some((text) => text.includes(hint)),
    );
    expect(hinted).toEqual([true, true, false, false, false]);
  });

  it('I6: a simple question gets no hint', async () => {
    const played = await play({
      protocol,
      goal: 'What does this project do?',
      steps: [say('It greets.')],
    });
    expect(userTexts(played.requests[0]!)).toEqual(['What does this project do?']);
  });

  it('I6: complex turns in a row without a plan make the hint firmer, and a plan resets it', async () => {
    const stage = await setStage({
      protocol,
      cursor: 'server',
      steps: [
        say('Did it.'),
        say('Did that too.'),
        plan('Write alpha'),
        ...alpha,
        say('Ready.'),
      ],
    });
    await stage.run({ goal: `${complexGoal} [conversation: hints]` });
    await stage.run({ goal: `${complexGoal} Again.` });
    await stage.run({ goal: `${complexGoal} And again.` });
    const fourth = await stage.run({ goal: `${complexGoal} Once more.` });
    const last = (index: number) => userTexts(fourth.requests[index]!).at(-1);
    expect(last(1)).toContain('The last complex request was worked on without a plan.');
    expect(last(2)).toContain(
      'The last 2 complex requests were worked on without a plan.',
    );
    expect(last(6)).toContain(hint);
  });

  it('I6 T3: words that join a planned turn, typed or given when it is taken up again, begin none: the hint stays mild', async () => {
    let control: HumanControl | null = null;
    let runs = 0;
    const stage = await setStage({
      protocol,
      cursor: 'server',
      settings: { scope: 'session' },
      steps: [
        plan('Write alpha', 'Write beta'),
        runCommand('sleep 0.2'),
        pause('need a colour'),
        say('Later.'),
        pause('need a shape'),
        say('Later.'),
        pause('need a name'),
        say('Later.'),
      ],
      onControl: (given) => {
        control = given;
      },
      watch: (event) => {
        if (runs === 1 && event.type === 'tool-started' && event.tool === 'shell')
          void control?.say(`${complexGoal} And join.`);
      },
    });
    const run = (goal: string) => {
      runs += 1;
      return stage.run({ goal });
    };
    await run(`${complexGoal} [conversation: joined]`);
    await run(`${complexGoal} Again.`);
    const third = await run(`${complexGoal} Once more.`);
    const hints = third.requests.flatMap((request) =>
      userTexts(request).filter((text) => text.includes('This request has')),
    );
    // One for each of the three messages: none says that an earlier one was worked on
    // without a plan.
    expect(hints.map((text) => text.includes(hint))).toEqual([true, true, true]);
  });

  it('I7: reminders, hints and the plan reach the model and never the history that the human sees', async () => {
    const played = await play({
      protocol,
      goal: complexGoal,
      steps: [plan('Write alpha'), say('Done.'), ...alpha],
    });
    const shown = played.events.filter(
      ({ type }) => type === 'text' || type === 'text-held-back',
    );
    const text = JSON.stringify(shown);
    for (const ours of ['TODO CONTINUATION', 'CURRENT PLAN', hint])
      expect(text).not.toContain(ours);
    // Neither the hint nor the plan is written down: they are made anew for every call.
    const kept = played.transcript.map(({ body }) => body).join('\n');
    for (const ours of ['CURRENT PLAN', hint]) expect(kept).not.toContain(ours);
  });

  it('I8: the same words again and again raise the loop alarm, whatever the plan does meanwhile', async () => {
    const played = await play({
      protocol,
      settings: { maxStagnant: 50, maxContinuations: 100 },
      steps: [plan('Write alpha'), start('Write alpha')],
      afterwards: say('I am nearly there.'),
    });
    expect(ending(played)).toEqual({
      outcome: 'stagnant',
      reason: 'looping',
      exitCode: 5,
    });
    expect(continuations(played)).toContain('loop');
    expect(eventsOf(played, 'notice')[0]?.sentence).toMatch(/the same text \d+ times/);
  });

  it('I8: the same words beside new work are no loop', async () => {
    const rounds = Array.from({ length: 8 }, (_, index) => [
      writeFile(`${index}.txt`, 'x'),
      say('One more.'),
    ]).flat();
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), ...rounds, ...alpha],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(eventsOf(played, 'notice')).toEqual([]);
  });

  it('I9: the first two layers: an empty answer is caught inside the step, abandoned work by a continuation between steps', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), empty(), say('Later.'), ...alpha],
    });
    expect(continuations(played)).toEqual(['empty-answer', 'standard']);
    const order = played.events
      .filter(({ type }) => type === 'step-started' || type === 'continuation')
      .map(({ type }) => type);
    // Step 2 holds the empty answer and its retry; the answer to that retry is abandoned
    // work.
    expect(order.slice(0, 5)).toEqual([
      'step-started',
      'step-started',
      'continuation',
      'continuation',
      'step-started',
    ]);
  });

  it('I9: the third layer: what the guard let go, the enforcer finds idle and sends back', async () => {
    const program = createProgramStage();
    const model = new ScriptedCaller(
      step([]),
      step(text('Later.')),
      step([...text('On it.'), ...call('edit')]),
    );
    const turn = async () => {
      const { parts } = await model.run();
      for (const part of parts) if (part.type === 'tool-call') await program.works();
      await program.answers(line(parts));
      await program.idles();
    };
    program.todos = [{ content: 'Write alpha' }];
    await program.says('Write alpha.');
    await program.works('todo_write');
    await turn();
    // The guard asked once about the empty answer; "Later." it let go.
    expect(model.reminders).toEqual([null, 'REMINDER 1']);
    expect(program.messages.at(-1)?.text).toContain('Later.');
    expect(program.injected).toEqual([]);
    await program.clock.advance(2000);
    expect(program.injected.map((one) => one.text)).toEqual([
      expect.stringContaining('Write alpha'),
    ]);
    await turn();
    expect(program.messages.at(-1)?.text).toContain('On it.');
  });

  it('G7: toggling with the same words is bounded by the same alarms', async () => {
    const played = await play({
      protocol,
      settings: { maxStagnant: 50, maxContinuations: 100 },
      steps: [plan('Write alpha')],
      afterwards: inOrder(toggle('Write alpha'), say('I am on it.')),
    });
    expect(ending(played)).toMatchObject({ outcome: 'stagnant', reason: 'looping' });
    expect(played.requests.length).toBeLessThan(40);
  });
});
