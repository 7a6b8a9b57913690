// How a model is asked, read from the bodies that reach it in the four protocols:
// reasoning effort, output limit and temperature of our own agent and of a worker (C1,
// S4), and what is said where a model does not take one of them.
import { describe, expect, it } from 'vitest';
import type { PartialSettings } from '../../src/core/settings.ts';
import {
  complete,
  contextOverflow,
  type LoggedRequest,
  plan,
  react,
  type Step,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { briefOf, delegate } from './delegating.ts';
import { type Played, play } from './play.ts';
import { protocols, type StoryProtocol } from './protocols.ts';
import { eventsOf } from './seen.ts';

const [chat, responses, anthropic, google] = protocols as readonly [
  StoryProtocol,
  StoryProtocol,
  StoryProtocol,
  StoryProtocol,
];
const vendorChat: StoryProtocol = {
  ...responses,
  name: 'openai chat at OpenAI',
  api: 'chat',
};

const title = 'Look around';
const isWorker = ({ messages }: Pick<LoggedRequest, 'messages'>) =>
  messages.find(({ role }) => role === 'user')?.text.includes(title) ?? false;

/**
 * The real names of models decide what the packages send; so both play one script, and
 * the worker reports at once.
 */
const steps: readonly Step[] = [
  react((situation) =>
    briefOf(situation).includes(title)
      ? say('Seen.')
      : plan({ title, agentType: 'tester' }),
  ),
  delegate(title),
  complete(title, 'its worker reported'),
  say('Done.'),
];

const playWith = (protocol: StoryProtocol, model: string, settings: PartialSettings) => {
  const written = `${protocol.provider}/${model}`;
  const tester = { model: written, ...settings.workers?.['tester'] };
  const whole = { ...settings, model: written, workers: { tester } };
  return play({ protocol, steps, settings: whole, workers: { tester: [] } });
};

const words = [
  'reasoning',
  'reasoning_effort',
  'thinking',
  'output_config',
  'generationConfig',
  'temperature',
];
const limits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];

/** What a body says about how it wants to be answered. */
function asked(request: LoggedRequest | undefined) {
  const said = Object.entries(request?.body as object);
  return Object.fromEntries(
    said.filter(([name]) => [...words, ...limits].includes(name)),
  );
}

const ofAgent = ({ requests }: Played) =>
  asked(requests.find((request) => !isWorker(request)));
const ofWorker = ({ requests }: Played) => asked(requests.find(isWorker));
const notices = (played: Played) =>
  eventsOf(played, 'notice').map(({ sentence }) => sentence);

const low = { reasoningEffort: 'low', maxOutputTokens: 2000, temperature: 0.3 } as const;
/** The limit is left to the run. */
const tester = { reasoningEffort: 'none', temperature: 0.5 } as const;

type Row = Readonly<{
  protocol: StoryProtocol;
  model: string;
  agent: object;
  worker: object;
  /** Without any of the settings. */
  usual?: object;
  told?: string;
}>;

const noTemperature =
  'does not take temperature 0.3 as it is set: temperature is not supported';
const rows: readonly Row[] = [
  {
    protocol: chat,
    model: 'qwen3',
    agent: { reasoning_effort: 'low', max_tokens: 2000, temperature: 0.3 },
    worker: { reasoning_effort: 'none', max_tokens: 2000, temperature: 0.5 },
  },
  {
    protocol: vendorChat,
    model: 'gpt-5.2',
    agent: { reasoning_effort: 'low', max_completion_tokens: 2000 },
    worker: { reasoning_effort: 'none', max_completion_tokens: 2000, temperature: 0.5 },
    told: `openai/gpt-5.2 ${noTemperature} for reasoning models.`,
  },
  {
    protocol: responses,
    model: 'gpt-5.2',
    agent: { reasoning: { effort: 'low' }, max_output_tokens: 2000 },
    worker: { reasoning: { effort: 'none' }, max_output_tokens: 2000, temperature: 0.5 },
    told: `openai/gpt-5.2 ${noTemperature} for reasoning models.`,
  },
  {
    protocol: anthropic,
    model: 'claude-sonnet-4-5',
    // Of its 64,000 tokens a tenth for thinking, which Anthropic counts among those of
    // the answer.
    agent: { thinking: { type: 'enabled', budget_tokens: 6400 }, max_tokens: 8400 },
    worker: { thinking: { type: 'disabled' }, max_tokens: 2000, temperature: 0.5 },
    // It wants a limit in every request: its package names the model's own.
    usual: { max_tokens: 64_000 },
    told: `scripted/claude-sonnet-4-5 ${noTemperature} when thinking is enabled.`,
  },
  {
    protocol: google,
    model: 'gemini-2.5-flash',
    agent: {
      generationConfig: {
        maxOutputTokens: 2000,
        temperature: 0.3,
        thinkingConfig: { thinkingBudget: 6554 },
      },
    },
    worker: {
      generationConfig: {
        maxOutputTokens: 2000,
        temperature: 0.5,
        thinkingConfig: { thinkingBudget: 0 },
      },
    },
    usual: { generationConfig: {} },
  },
];

describe.each(rows)(
  'C1, S4: $protocol.name',
  ({ protocol, model, agent, worker, usual = {}, told }) => {
    it(`${model} gets what is set for the agent, and its worker what is set there or else for the agent`, async () => {
      const played = await playWith(protocol, model, {
        agents: { run: low },
        workers: { tester },
      });
      expect(ofAgent(played)).toEqual(agent);
      expect(ofWorker(played)).toEqual(worker);
      expect(notices(played)).toEqual(told === undefined ? [] : [told]);
    });

    it(`${model} is asked for nothing of it by itself, and a worker’s null takes back what is set for the run`, async () => {
      const none = { reasoningEffort: null, temperature: null, maxOutputTokens: null };
      const plain = await playWith(protocol, model, {});
      const taken = await playWith(protocol, model, {
        ...low,
        workers: { tester: none },
      });
      expect(ofAgent(plain)).toEqual(usual);
      expect(ofWorker(plain)).toEqual(usual);
      expect(ofAgent(taken)).toEqual(agent);
      expect(ofWorker(taken)).toEqual(usual);
      expect(notices(plain)).toEqual([]);
    });
  },
);

it('C1, S5: a summary of the conversation is asked for in the same way, but never cut off', async () => {
  const filler = Array.from({ length: 6 }, (_, index) =>
    writeFile(`${index}.txt`, 'word '.repeat(400)),
  );
  const steps = [
    plan('Write it'),
    ...filler,
    contextOverflow(),
    complete('Write it'),
    say('Done.'),
  ];
  const settings = { ...low, model: 'openai/gpt-5.2' };
  const played = await play({ protocol: responses, cursor: 'server', steps, settings });
  expect(played.asides.map(asked)).toEqual([{ reasoning: { effort: 'low' } }]);
  expect(asked(played.requests.at(-1))).toEqual({
    reasoning: { effort: 'low' },
    max_output_tokens: 2000,
  });
});

describe('a model that does not take what is set', () => {
  it('C1: an effort that it has no word for becomes the nearest, and that is said once', async () => {
    const played = await playWith(anthropic, 'claude-sonnet-5-5', {
      reasoningEffort: 'minimal',
    });
    expect(ofAgent(played)).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    });
    expect(notices(played)).toEqual([
      'scripted/claude-sonnet-5-5 does not take reasoningEffort minimal as it is set: reasoning "minimal" is not directly supported by this model; mapped to effort "low".',
    ]);
  });

  it.each(['gpt-4.1', 'story'])(
    'C1: an effort that is not even sent for %s is said too',
    async (model) => {
      const played = await playWith(responses, model, {
        reasoningEffort: 'high',
        temperature: 0.3,
      });
      expect(ofAgent(played)).toEqual({ temperature: 0.3 });
      expect(notices(played)).toEqual([
        `openai/${model} does not take reasoningEffort high as it is set: it was not sent.`,
      ]);
      expect(played.ended.outcome).toBe('claimed');
    },
  );

  it('C1: a temperature above what Anthropic takes is lowered, and that is said', async () => {
    const played = await playWith(anthropic, 'claude-sonnet-4-5', { temperature: 1.5 });
    expect(ofAgent(played)).toMatchObject({ temperature: 1 });
    expect(notices(played)).toEqual([
      'scripted/claude-sonnet-4-5 does not take temperature 1.5 as it is set: 1.5 exceeds anthropic maximum of 1.0; clamped to 1.0.',
    ]);
  });
});
