// Who is continued, and as whom, in the real OpenCode: agent, model and variant stay as
// the human chose them, agents that may not write are never given the right to, and a
// child session is not held to its parent's plan.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  always,
  callTool,
  complete,
  plan,
  runCommand,
  say,
  script,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { createGate } from '../harness/gate.ts';
import { quitter, titles } from '../harness/stories/story.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { openConversation } from './conversation.ts';
import { type Stage, startStage } from './stage.ts';
import { stubborn } from './stories.ts';

const task = callTool('task', {
  description: 'sub work',
  prompt: '[script:helping] Please help.',
  subagent_type: 'general',
});
const held = createGate('held');

const scripts = [
  stubborn,
  quitter('quitter', ...titles),
  script('parent', [
    plan('parser'),
    task,
    writeFile('parser.txt', 'x'),
    complete('parser'),
    always(say('I am done.')),
  ]),
  script('helping', [runCommand(held.command), always(say('I have helped.'))]),
  script('red', [plan('red one', 'red two'), always(say('I am done.'))]),
];

let stage: Stage;
beforeAll(async () => {
  stage = await startStage(scripts);
}, 60_000);
afterAll(() => stage.close());

const agents = {
  reviewer: { mode: 'primary', permission: { edit: 'deny', bash: 'deny' } },
  builder: { mode: 'primary', prompt: 'You are the second builder.' },
};

describe('V9: a continuation', () => {
  it("keeps the agent, the model and the variant of the human's message (trap 4)", async () => {
    const variants = { deep: { reasoningEffort: 'high' } };
    const conversation = await stage.open({
      opencode: { agent: agents, ...withVariants(variants) },
    });
    await conversation.say('[script:quitter] Do it.', {
      agent: 'builder',
      model: 'second',
      variant: 'deep',
    });
    await stage.record.settled(conversation.id);
    expect(stage.continuations(conversation.id)).toHaveLength(2);
    const users = (await conversation.messages()).filter(
      ({ info }) => info.role === 'user',
    );
    expect(users.map(({ info }) => [info.agent, info.model])).toEqual(
      users.map(() => [
        'builder',
        { providerID: 'scripted', modelID: 'second', variant: 'deep' },
      ]),
    );
    const requests = stage.requests(conversation.id);
    expect(new Set(requests.map(({ model }) => model))).toEqual(new Set(['second']));
    for (const { system } of requests)
      expect(system).toContain('You are the second builder.');
    for (const { body } of requests)
      expect(body).toMatchObject({ reasoning_effort: 'high' });
  });

  it('follows the human to another agent and model in mid-session', async () => {
    const conversation = await stage.open({ opencode: { agent: agents } });
    await conversation.say('[script:quitter] Do it.');
    await stage.record.settled(conversation.id);
    const before = stage.requests(conversation.id).length;
    await conversation.say('[script:stubborn] Do this.', {
      agent: 'builder',
      model: 'second',
    });
    await waitUntil(
      'it is continued',
      () => stage.continuations(conversation.id).length === 5,
    );
    const later = stage.requests(conversation.id).slice(before);
    expect(new Set(later.map(({ model }) => model))).toEqual(new Set(['second']));
  });
});

describe('P26: an agent that may not write', () => {
  it.each([
    ['plan', 'the plan agent of the host'],
    ['reviewer', 'an agent whose permissions forbid edits and commands'],
  ])('%s is never continued: %s', async (agent) => {
    const conversation = await stage.open({ opencode: { agent: agents } });
    await conversation.say('[script:stubborn] Do it.', { agent });
    await conversation.waitForTurns(1);
    await waitUntil('it was decided', async () => {
      const kept = await stage.record.read(conversation.id);
      return (kept?.decisions ?? []).length > 0;
    });
    const { decisions } = (await stage.record.read(conversation.id))!;
    expect(decisions).toHaveLength(1);
    expect(decisions[0]?.answer).toBe('let-go');
    expect(['skipped-agent', 'read-only-agent']).toContain(decisions[0]?.reason);
    expect(stage.continuations(conversation.id)).toHaveLength(0);
    expect(
      (await conversation.messages()).filter(({ info }) => info.role === 'user'),
    ).toHaveLength(1);
  });
});

describe('P18: a child session', () => {
  it('goes idle while its parent is busy: neither is continued for it (trap 10)', async () => {
    const conversation = await stage.open();
    await conversation.say('[script:parent] Do it.');
    await waitUntil(
      'the child works',
      async () => (await conversation.children()).length === 1,
    );
    held.open({ directory: conversation.directory });
    const kept = await stage.record.settled(conversation.id);
    const [child] = await conversation.children();
    expect(stage.continuations(conversation.id)).toHaveLength(0);
    expect(stage.continuations(child!.id)).toHaveLength(0);
    expect(kept.session.settled?.outcome).toBe('claimed');
    const childRecord = await stage.record.read(child!.id);
    expect(childRecord?.session.descriptor.kind).toBe('subagent');
    expect(childRecord?.decisions.filter(({ answer }) => answer === 'continue')).toEqual(
      [],
    );
  });
});

describe('P32: two sessions in one folder at the same time', () => {
  it('leak neither todos nor counters nor text', async () => {
    const red = await stage.open();
    const blue = await openConversation(stage.serve, red.directory);
    await Promise.all([
      red.say('[script:red] Do it.'),
      blue.say('[script:quitter] Do it.'),
    ]);
    const records = await Promise.all(
      [red, blue].map(({ id }) => stage.record.settled(id)),
    );
    expect(stage.continuations(red.id)).toHaveLength(3);
    expect(stage.continuations(blue.id)).toHaveLength(2);
    expect(
      JSON.stringify(stage.requests(red.id).map(({ messages }) => messages)),
    ).not.toContain('beta');
    expect(
      JSON.stringify(stage.requests(blue.id).map(({ messages }) => messages)),
    ).not.toContain('red one');
    expect(
      records.map(({ session, todos }) => [session.settled?.outcome, todos.length]),
    ).toEqual([
      ['stagnant', 2],
      ['claimed', 3],
    ]);
  });
});

/** The same provider with variants of its second model. */
function withVariants(variants: object): object {
  const second = {
    name: 'second',
    limit: { context: 200_000, output: 8000 },
    reasoning: true,
    variants,
  };
  return { provider: { scripted: scriptedProvider(second) } };
}

function scriptedProvider(second: object): object {
  return {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: `${stage.model.url}/v1`, apiKey: 'dummy' },
    models: {
      first: { name: 'first', limit: { context: 200_000, output: 8000 } },
      second,
    },
  };
}
