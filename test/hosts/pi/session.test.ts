// Sessions of the real pi that stay, which the suite of all hosts does not see: the
// countdown, the human in it, commands, a compaction, and starts that only read.
import { afterEach, describe, expect, it } from 'vitest';
import {
  always,
  plan,
  type Script,
  say,
  script,
  slowly,
  startScriptedModel,
} from '../../../src/scripted-model/index.ts';
import { continuationsIn } from '../harness/continuations.ts';
import { createHostProject, install } from '../harness/real-host-stage.ts';
import { readRecord } from '../harness/record.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { seedHome } from './pi.ts';
import { pi } from './real-host.ts';
import { type Rpc, startRpc } from './rpc.ts';

const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(
  story: Script,
  words: readonly string[] = [],
  contextWindow?: number,
) {
  const model = await startScriptedModel({ scripts: [story] });
  closers.push(() => model.close());
  const project = createHostProject(pi, model);
  closers.push(() => project.remove());
  seedHome({ project, model }, contextWindow);
  await install(pi, project);
  const rpc: Rpc = startRpc({ project, model }, words);
  closers.push(() => rpc.end());
  return {
    project,
    model,
    rpc,
    continuations: () => continuationsIn(model.requests),
    session: async () => (await readRecord(project))[0],
  };
}

describe('a session that stays', () => {
  it('E1 S8: a countdown in the status line, then continuations, and at the end what is open', async () => {
    const { rpc, continuations } = await open(stubborn);
    await rpc.says('Do it.');
    await waitUntil(
      'the end is told',
      () => rpc.notices().some((line) => line.includes('(stagnant)')),
      60,
    );
    expect(rpc.statuses()).toContain('Todos remain: Resuming in 2 s, 2 todos remaining');
    expect(continuations()).toHaveLength(3);
    expect(rpc.notices().join('\n')).toContain('“parser”, “docs”');
  });

  it('P19: an abort of the working agent is a latch at once, and a word of the human lifts it', async () => {
    const slow = slowly(100, say('I think about this very slowly. '.repeat(30)));
    const thinker = script('thinker', [
      plan('parser', 'docs'),
      slow,
      always(say('I am done.')),
    ]);
    const { rpc, model, session, continuations } = await open(thinker);
    await rpc.says('Do it.');
    await waitUntil(
      'it thinks',
      () => model.requests.at(-1)?.reply.delays?.perEventMs === 100,
    );
    await rpc.send('abort');
    await rpc.settles();
    await waitUntil(
      'it is settled',
      async () => (await session())?.outcome === 'aborted',
    );
    expect((await session())?.latch).not.toBeNull();
    expect(continuations()).toHaveLength(0);
    await rpc.says('go on');
    await waitUntil('it is held again', () => continuations().length > 0, 60);
  });

  it('E2: a word of the human during the countdown comes first', async () => {
    const { rpc, continuations } = await open(stubborn);
    await rpc.says('Do it.');
    await waitUntil('it counts down', () => rpc.statuses().length > 0);
    await rpc.says('stop');
    await rpc.settles(2);
    await new Promise((resolve) => setTimeout(resolve, 4000));
    expect(continuations()).toHaveLength(0);
  });

  it('C3: the commands are there, are answered from the record, and no model is asked', async () => {
    const { rpc, model, continuations } = await open(stubborn);
    await rpc.says('Do it.');
    await waitUntil('it counts down', () => rpc.statuses().length > 0);
    await rpc.says('/untildone-pause lunch');
    const asked = model.requests.length;
    await rpc.says('/untildone-status');
    expect(rpc.notices().at(-1)).toContain('plan: 2 todos, 2 open');
    await new Promise((resolve) => setTimeout(resolve, 4000));
    expect([continuations().length, model.requests.length]).toEqual([0, asked]);
    await rpc.says('/untildone-resume');
    await waitUntil('it goes on', () => continuations().length > 0, 60);
  });

  it('P23: after a compaction the model is given the open plan again', async () => {
    const talker = script('talker', [
      plan('parser', 'docs'),
      always(say('word '.repeat(6000))),
    ]);
    const { rpc, model } = await open(talker, [], 40_000);
    await rpc.says('Do it.');
    await waitUntil('it counts down', () => rpc.statuses().length > 0);
    await rpc.says('/untildone-pause');
    for (const text of ['More.', 'Still more.', 'And more.']) {
      const before = rpc.settled();
      await rpc.says(text);
      await rpc.settles(before + 1);
    }
    const compacted = await rpc.send('compact');
    const didCompact =
      compacted['success'] === true ||
      rpc.events.some(({ type }) => type === 'compaction_end');
    expect(didCompact, JSON.stringify(compacted).slice(0, 300)).toBe(true);
    await rpc.says('What is left?');
    // The first: such a long answer may be summarised at once, and that is a request too.
    const asked = () =>
      model.requests.find(({ messages }) =>
        messages.some(({ text }) => text.includes('What is left?')),
      );
    await waitUntil('it was asked', () => asked() !== undefined);
    const given = asked()?.messages.map(({ text }) => text) ?? [];
    expect(given.join('\n')).toContain(
      'The plan of this session is kept outside the conversation',
    );
    expect(given.join('\n')).toContain('parser');
  });

  it('P26: a start with tools that only read is never continued', async () => {
    const { rpc, continuations, session } = await open(stubborn, [
      '--tools',
      'read,grep,find,ls,create_todo,todo_write,list_todo',
    ]);
    await rpc.says('Do it.');
    await rpc.settles();
    await waitUntil(
      'it was decided',
      async () => ((await session())?.decisions.length ?? 0) > 0,
    );
    expect((await session())?.decisions).toMatchObject([
      { answer: 'let-go', reason: 'read-only-agent' },
    ]);
    expect((await session())?.todos).toHaveLength(2);
    expect(continuations()).toHaveLength(0);
  });
});
