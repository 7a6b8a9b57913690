// Checks in the real `opencode serve`: a claim whose check fails is reopened, the outcome
// is done only when the system saw the check pass, and a check that takes long is waited
// for while the session is idle.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  always,
  complete,
  plan,
  say,
  script,
  whenTold,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { createGate } from '../harness/gate.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { hasty, type Stage, startStage } from './stage.ts';

const failure = 'EXPECTED-FILE-IS-MISSING';
const program = `if(!require('fs').existsSync('parser.txt')){console.log('${failure}');process.exit(1)}`;
const parserCheck = { parser: { command: [process.execPath, '-e', program] } };
const slow = createGate('slow');

const scripts = [
  script('liar', [
    plan('Write the parser'),
    complete('Write the parser'),
    say('I am done.'),
    whenTold(failure, writeFile('parser.txt', 'x')),
    complete('Write the parser'),
    always(say('Now I am done.')),
  ]),
  script('worker', [
    plan('parser'),
    writeFile('parser.txt', 'x'),
    complete('parser'),
    always(say('I am done.')),
  ]),
  script('never', [
    plan('Write the parser'),
    always(complete('Write the parser'), say('Done.')),
  ]),
];

let stage: Stage;
beforeAll(async () => {
  stage = await startStage(scripts);
}, 60_000);
afterAll(() => stage.close());

const forTodo = {
  checks: parserCheck,
  todoChecks: [{ title: 'Write the parser', checks: ['parser'] }],
};

async function open(name: string, config: object) {
  const conversation = await stage.open({ config: { ...hasty, ...config } });
  await conversation.say(`[script:${name}] Do it.`);
  return conversation;
}

describe('P31: a claim whose check fails', () => {
  it('is reopened with the tail of the failure; mended, the outcome is done', async () => {
    const conversation = await open('liar', forTodo);
    const kept = await stage.record.settled(conversation.id, 60);
    const told = JSON.stringify(stage.requests(conversation.id).at(-1)?.messages);
    expect(told).toContain(failure);
    expect(kept.todos).toMatchObject([{ status: 'completed', verification: 'passed' }]);
    expect(kept.session.settled?.outcome).toBe('done');
    expect(readdirSync(conversation.directory)).toContain('parser.txt');
  });

  it('V1: a failing check of the goal holds the work open although every todo is claimed', async () => {
    const conversation = await open('liar', { checks: parserCheck, goal: ['parser'] });
    const kept = await stage.record.settled(conversation.id, 60);
    expect(stage.continuations(conversation.id)).toHaveLength(1);
    expect(stage.continuations(conversation.id)[0]).toContain(failure);
    expect(kept.session.settled?.outcome).toBe('done');
  });

  it('a check that never passes ends as stagnant or exhausted, never as done', async () => {
    const conversation = await open('never', forTodo);
    const kept = await stage.record.settled(conversation.id, 90);
    expect(stage.continuations(conversation.id).length).toBeLessThanOrEqual(10);
    expect(['stagnant', 'exhausted', 'blocked']).toContain(kept.session.settled?.outcome);
  });
});

describe('M8: a check that takes long', () => {
  it('is waited for while the session is idle: no continuation, and then the outcome is done', async () => {
    const conversation = await open('worker', {
      checks: { slow: { command: slow.words } },
      goal: ['slow'],
    });
    await conversation.waitForTurns(1);
    await waitUntil('the check runs', async () => {
      const kept = await stage.record.read(conversation.id);
      return kept?.session.goal['slow']?.state === 'running';
    });
    await sleep(1500);
    expect(stage.continuations(conversation.id)).toHaveLength(0);
    slow.open(conversation);
    const kept = await stage.record.settled(conversation.id);
    expect(stage.continuations(conversation.id)).toHaveLength(0);
    expect(kept.session.settled?.outcome).toBe('done');
  });

  it("P19: an abort while it runs is the human's last word", async () => {
    const conversation = await open('worker', {
      checks: { slow: { command: slow.words } },
      goal: ['slow'],
    });
    await waitUntil('the check runs', async () => {
      const kept = await stage.record.read(conversation.id);
      return kept?.session.goal['slow']?.state === 'running';
    });
    await conversation.abort();
    slow.open(conversation);
    await sleep(1500);
    expect(stage.continuations(conversation.id)).toHaveLength(0);
  });
});
