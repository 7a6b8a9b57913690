// 02: every rule answers once. A scripted host, an embedded store in a scratch folder, no model and no network:
// first a plan is drained at one todo per stop, then each rule is put into the situation it exists for.
// Run it, after npm run build, with: node_modules/.bin/node examples/02-every-rule.ts (or npm run examples)
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Checker,
  type Clock,
  createIdentifiers,
  defaultSettings,
  openSqliteStore,
  type Settings,
  sha256,
  stopRules,
  systemClock,
} from 'untildone';
import { createScriptedHost, type ScriptedHost, type ScriptedHostOptions } from 'untildone/testing';

/** A situation, told in plain words, that one rule exists for. */
interface Situation {
  readonly rule: string;
  readonly told: string;
  readonly settings?: Partial<Settings>;
  readonly host?: Partial<ScriptedHostOptions>;
  readonly play: (host: ScriptedHost) => Promise<unknown>;
  /** What is answered; not given: one more stop attempt. */
  readonly answered?: (host: ScriptedHost) => ReturnType<ScriptedHost['happens']>;
}

const directory = mkdtempSync(join(tmpdir(), 'untildone-example-'));
const store = await openSqliteStore({ path: join(directory, 'store.db'), clock: systemClock });
let hours = 0;
const clock: Clock = { ...systemClock, now: () => Date.now() + hours * 3_600_000 };
let count = 0;

async function begin(situation: Pick<Situation, 'settings' | 'host'>): Promise<ScriptedHost> {
  count += 1;
  const host = createScriptedHost({
    mode: 'asked',
    sessionId: `example-${count}`,
    instance: `example-${count}`,
    store,
    clock,
    identifiers: createIdentifiers(clock),
    hash: sha256,
    policy: () => ({ settings: { ...defaultSettings, ...situation.settings }, goalChecks: [] }),
    ...situation.host,
  });
  await host.open();
  await host.says('Write the parser, the tests and the docs.');
  return host;
}

const planned = async (host: ScriptedHost): Promise<readonly string[]> => {
  const ids = await host.plans('Write the parser', 'Write the tests', 'Write the docs');
  await host.works();
  return ids;
};
const error = (kind: 'rate-limit' | 'overflow' | 'other') =>
  ({ type: 'error-occurred', kind, signature: 'scripted', message: 'scripted', retryAt: null }) as const;
const agent = (overrides: Partial<NonNullable<ScriptedHostOptions['agent']>>) => ({
  host: { agent: overrides },
});

/** A run that answers for its goal, with one check on it that ends so. */
const judged = (result: 'passed' | 'cannot-start') => ({
  host: {
    descriptor: { judgesGoal: true },
    policy: () => ({ settings: defaultSettings, goalChecks: ['tests'] }),
    checker: {
      async run({ id: sessionId }, { checks, stop }, report) {
        const base = () => ({ id: `check-${++count}`, sessionId, at: clock.now() });
        const seen = { flaky: false, tail: null, fingerprint: null, final: stop !== null, writes: null };
        for (const asked of checks)
          await report({ ...base(), ...asked, type: 'check-finished', result, ...seen });
        if (stop !== null) await report({ ...base(), type: 'final-run-ended', stop, edited: [] });
      },
    } satisfies Checker,
  },
  answered: async (host: ScriptedHost) => {
    const first = await host.stops();
    return (await first.checks) ?? first;
  },
});

const situations: readonly Situation[] = [
  { rule: 'disabled', told: 'the configuration says off', settings: { mode: 'off' }, play: planned },
  {
    rule: 'not-our-session',
    told: 'the host runs a session of its own',
    host: { descriptor: { kind: 'other' } },
    play: planned,
  },
  { rule: 'subagent', told: 'a subagent ends', host: { descriptor: { kind: 'subagent' } }, play: planned },
  { rule: 'skipped-agent', told: 'the agent is called plan', ...agent({ name: 'plan' }), play: planned },
  { rule: 'read-only-agent', told: 'the agent may not write', ...agent({ canWrite: 'no' }), play: planned },
  {
    rule: 'deleted',
    told: 'the session was deleted',
    play: async (host) => [await planned(host), await host.happens({ type: 'session-deleted' })],
  },
  {
    rule: 'aborted',
    told: 'the human pressed ESC',
    play: async (host) => [await planned(host), await host.happens({ type: 'human-aborted', how: 'ESC' })],
  },
  {
    rule: 'paused-by-human',
    told: 'the human ran untildone pause',
    play: async (host) => [await planned(host), await host.happens({ type: 'human-paused', reason: null })],
  },
  {
    rule: 'timer-expired',
    told: 'a countdown from yesterday is found',
    host: { mode: 'told' },
    play: async (host) => {
      await planned(host);
      await host.stops();
      hours += 24;
      await host.runtime.attach();
      await host.runtime.fireDue();
      await host.runtime.detach();
      await host.happens({ type: 'activity-seen' });
    },
  },
  {
    rule: 'paused-by-model',
    told: 'the agent called todo_pause',
    play: async (host) => [
      await planned(host),
      await host.happens({ type: 'model-paused', reason: 'I need a password' }),
    ],
  },
  {
    rule: 'already-answered',
    told: 'a told host idles twice',
    host: { mode: 'told', descriptor: { immediate: true } },
    play: async (host) => [await planned(host), await host.stops()],
  },
  {
    rule: 'recovering',
    told: 'another tool mends the session',
    play: async (host) => [
      await planned(host),
      await host.happens({ type: 'wait-started', wait: { kind: 'recovery' } }),
    ],
  },
  {
    rule: 'compacting',
    told: 'the context is being compacted',
    play: async (host) => [
      await planned(host),
      await host.happens({ type: 'wait-started', wait: { kind: 'compaction' } }),
    ],
  },
  {
    rule: 'permission-pending',
    told: 'a permission dialog is open',
    play: async (host) => [
      await planned(host),
      await host.happens({ type: 'wait-started', wait: { kind: 'permission', requestId: 'p' } }),
    ],
  },
  {
    rule: 'question-pending',
    told: 'a question dialog is open',
    play: async (host) => [
      await planned(host),
      await host.happens({ type: 'wait-started', wait: { kind: 'question', requestId: 'q' } }),
    ],
  },
  {
    rule: 'subagent-at-work',
    told: 'a subagent works in the background',
    play: async (host) => [
      await planned(host),
      await host.happens({
        type: 'wait-started',
        wait: { kind: 'background', job: { id: 'j', kind: 'subagent', description: 'research' } },
      }),
    ],
  },
  { rule: 'ended-abnormally', told: 'the step ended in an error', play: planned },
  { rule: 'refused', told: 'the model refused', play: planned },
  { rule: 'no-plan', told: 'the agent just answered a question', play: async () => {} },
  {
    rule: 'plan-not-resumed',
    told: 'the human asks something else while an old plan is open',
    settings: { maxStagnant: 1 },
    play: async (host) => {
      await planned(host);
      await host.stops();
      await host.stops();
      await host.says('What time is it in Tokyo?');
    },
  },
  {
    rule: 'all-blocked',
    told: 'everything that remains is blocked',
    play: async (host) => {
      for (const todoId of await planned(host)) {
        const changes = { status: 'blocked', reason: 'the server is down' } as const;
        await host.happens({ type: 'todo-updated', actor: 'agent', todoId, changes });
      }
    },
  },
  {
    rule: 'check-cannot-start',
    told: 'the program that checks the work is not there',
    ...judged('cannot-start'),
    play: async (host) => {
      for (const id of await planned(host)) await host.completes(id);
    },
  },
  {
    rule: 'no-change',
    told: 'the check passed before, and the agent only talked',
    ...judged('passed'),
    play: (host) =>
      host.happens({
        type: 'baseline-seen',
        fingerprint: 'tree',
        checks: [{ check: 'tests', result: 'passed' }],
      }),
  },
  {
    rule: 'nothing-open',
    told: 'all three todos are finished',
    play: async (host) => {
      for (const id of await planned(host)) await host.completes(id);
    },
  },
  {
    rule: 'repeated-question',
    told: 'the agent asks "shall I go on?" a second time',
    play: async (host) => [await planned(host), await host.stops({ question: true })],
  },
  {
    rule: 'rate-limited',
    told: 'the provider answered 429',
    play: async (host) => [await planned(host), await host.happens(error('rate-limit'))],
  },
  {
    rule: 'circuit-open',
    told: 'the same error came three times',
    play: async (host) => {
      await planned(host);
      for (let time = 0; time < 3; time++) await host.happens(error('other'));
    },
  },
  {
    rule: 'overflowing',
    told: 'the context overflowed twice',
    play: async (host) => [
      await planned(host),
      await host.happens(error('overflow')),
      await host.happens(error('overflow')),
    ],
  },
  {
    rule: 'context-full',
    told: 'the context is 95 % full',
    play: async (host) => {
      await planned(host);
      const usage = { inputTokens: 1, outputTokens: 1, cost: null, contextTokens: 95, contextLimit: 100 };
      await host.happens({ type: 'usage-reported', ...usage });
    },
  },
  ...(['token-budget', 'cost-budget'] as const).map((rule) => ({
    rule,
    told: rule === 'token-budget' ? 'a thousand tokens were allowed' : 'one dollar was allowed',
    settings: rule === 'token-budget' ? { maxTokens: 1000 } : { maxCost: 1 },
    play: async (host: ScriptedHost) => {
      await planned(host);
      const usage = {
        inputTokens: 900,
        outputTokens: 200,
        cost: 1.2,
        contextTokens: null,
        contextLimit: null,
      };
      await host.happens({ type: 'usage-reported', ...usage });
    },
  })),
  {
    rule: 'time-budget',
    told: 'half an hour was allowed',
    settings: { maxMinutes: 30 },
    play: async (host) => {
      await planned(host);
      hours += 1;
    },
  },
  {
    rule: 'ceiling',
    told: 'two continuations in all were allowed',
    settings: { ceiling: 2 },
    play: async (host) => [await planned(host), await host.stops(), await host.stops()],
  },
  {
    rule: 'max-continuations',
    told: 'two continuations without a finished todo were allowed',
    settings: { maxContinuations: 2 },
    play: async (host) => [await planned(host), await host.stops(), await host.stops()],
  },
  {
    rule: 'looping',
    told: 'the agent goes round in circles again',
    play: async (host) => {
      await planned(host);
      await host.happens({ type: 'loop-alarmed', pattern: 'A B A B' });
      await host.stops();
      await host.happens({ type: 'loop-alarmed', pattern: 'A B A B' });
    },
  },
  {
    rule: 'stagnant',
    told: 'three reminders changed nothing',
    play: async (host) => [await planned(host), await host.stops(), await host.stops(), await host.stops()],
  },
  {
    rule: 'host-cap',
    told: 'the host ends the turn itself after eight continuations',
    play: async (host) => [await planned(host), await host.stops()],
    answered: (host) => host.happens({ type: 'host-cap-reached', cap: 8 }),
  },
  {
    rule: 'delivery-failed',
    told: 'the host did not take the text, three times',
    host: { mode: 'told', descriptor: { immediate: true }, takes: () => false },
    play: planned,
    answered: async (host) => {
      let last = await host.stops();
      const epoch = last.state.injection?.epoch ?? 0;
      const failed = { type: 'delivery-reported', epoch, news: 'failed', error: 'the host is gone' } as const;
      while (last.state.settled === null) last = await host.happens(failed);
      return last;
    },
  },
  { rule: 'not-yet', told: 'a told host idles: the countdown starts', host: { mode: 'told' }, play: planned },
];

const endings: Record<string, 'error' | 'refusal'> = { 'ended-abnormally': 'error', refused: 'refusal' };
const lastQuestion = new Set(['repeated-question']);

console.log('An agent works through three todos and says "done" after each one.\n');
const worker = await begin({});
const titles = ['Write the parser', 'Write the tests', 'Write the docs'];
const ids = await worker.plans(...titles);
for (const [index, id] of ids.entries()) {
  await worker.works();
  await worker.completes(id);
  const { decision, state: session } = await worker.stops();
  const outcome = session.settled === null ? '' : ` (${session.settled.outcome})`;
  console.log(
    `  finished "${titles[index]}", says done → ${decision?.answer}${outcome}: ${decision?.sentence}`,
  );
}

console.log('\nNow every rule, in the order in which a stop attempt meets them:\n');
const wrong: string[] = [];
for (const { name, asks } of stopRules) {
  const situation = situations.find(({ rule }) => rule === name);
  if (situation === undefined) {
    wrong.push(`${name}: no situation`);
    continue;
  }
  const host = await begin(situation);
  await situation.play(host);
  const stop = { end: endings[name] ?? 'normal', question: lastQuestion.has(name) } as const;
  const { decision } = await (situation.answered?.(host) ?? host.stops(stop));
  if (decision?.reason !== name) wrong.push(`${name}: ${decision?.reason} answered instead`);
  console.log(`  ${name.padEnd(20)} ${asks}`);
  console.log(`  ${''.padEnd(20)} ${situation.told} → ${decision?.answer}: ${decision?.sentence}\n`);
}
await store.close();
rmSync(directory, { recursive: true, force: true });

if (wrong.length > 0) {
  console.error(`Not as written:\n${wrong.join('\n')}`);
  process.exitCode = 1;
} else {
  console.log(`${stopRules.length} rules, each answered once.`);
}
