// What must hold with every framework (issue 15): one suite, driven by the real package
// against the scripted model. A framework brings a driver; what the agent was told is
// read from what the model received.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { continuationMarker } from '../../src/core/texts.ts';
import type { LoggedRequest, Step } from '../../src/scripted-model/index.ts';
import {
  bulkClaim,
  callTool,
  complete,
  plan,
  say,
  script,
  stall,
  startScriptedModel,
} from '../../src/scripted-model/index.ts';
import type { Session, SessionTool } from '../../src/session/session.ts';
import { toolSchema } from '../../src/tools/tool-formats.ts';
import { createLibraryStage } from '../support/library-stage.ts';

export interface FrameworkWork {
  /**
   * Of a server that speaks the protocols of OpenAI, Anthropic and Gemini; any model name
   * plays the story.
   */
  readonly url: string;
  readonly goal: string;
  /** Those of the test, besides the session's own. */
  readonly tools: Readonly<Record<string, SessionTool>>;
  readonly signal: AbortSignal;
}

export interface FrameworkDriver {
  readonly name: string;
  /** Lets an agent of the framework work on the goal until it ends. */
  run(session: Session, work: FrameworkWork): Promise<unknown>;
}

async function startStory(...steps: Step[]) {
  const server = await startScriptedModel({ scripts: [script('story', steps)] });
  onTestFinished(() => server.close());
  return server;
}

/**
 * Every continuation that the model was sent, once; some put words of their own before
 * it.
 */
function continuations(requests: readonly LoggedRequest[]): string[] {
  const sent = requests.flatMap(({ body }) =>
    textsOf(body).flatMap((text) => {
      const from = text.indexOf(continuationMarker);
      return from === -1 ? [] : [text.slice(from)];
    }),
  );
  return [...new Set(sent)];
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(textsOf)
    : [];
}

const never = new AbortController().signal;
const goal = 'migrate the tests';
const program = fileURLToPath(new URL('process.ts', import.meta.url));

/** `file`: exports `drivers`, for a process of its own. */
export function testFramework(driver: FrameworkDriver, file: string): void {
  const { name, run } = driver;

  describe(name, () => {
    it('15: a plan of three, one done, says done: drained after two continuations', async () => {
      const server = await startStory(
        ...[plan('a', 'b', 'c'), complete('a'), say('All done!')],
        ...[complete('b'), say('Now all is done!'), complete('c'), say('Finished.')],
      );
      const session = await createLibraryStage().open({ goal });
      await run(session, { url: server.url, goal, tools: {}, signal: never });
      expect(session.plan.map(({ status }) => status)).toEqual([
        'completed',
        'completed',
        'completed',
      ]);
      expect(continuations(server.requests)).toHaveLength(2);
      expect(session.outcome).toBe('claimed');
    });

    it('15: truly complete: nothing is said to the agent', async () => {
      const story = [plan('a', 'b'), complete('a'), complete('b'), say('Finished.')];
      const server = await startStory(...story);
      const session = await createLibraryStage().open({ goal });
      await run(session, { url: server.url, goal, tools: {}, signal: never });
      expect(continuations(server.requests)).toEqual([]);
      expect([server.requests.length, session.outcome]).toEqual([
        story.length,
        'claimed',
      ]);
    });

    it('15, V1: a goal check that fails twice: sent back with its output, then done', async () => {
      const { open, put, directory } = createLibraryStage();
      put('n', '0\n');
      put('check.sh', 'read n < n; echo "n is $n"; test "$n" -ge 3');
      const bump: SessionTool = {
        description: 'Adds one to n.',
        inputSchema: toolSchema({
          type: 'object',
          properties: {},
          additionalProperties: false,
        }),
        async execute() {
          writeFileSync(
            join(directory, 'n'),
            `${Number(readFileSync(join(directory, 'n'), 'utf8')) + 1}\n`,
          );
          return { added: true };
        },
      };
      const once = [callTool('bump', {}), say('Done!')];
      const server = await startStory(
        ...once,
        callTool('bump', {}),
        say('Done now!'),
        callTool('bump', {}),
        say('Really.'),
      );
      const session = await open({ goal, checks: ['sh check.sh'] });
      await run(session, { url: server.url, goal, tools: { bump }, signal: never });
      const told = continuations(server.requests);
      expect(told).toHaveLength(2);
      expect(told[0]).toContain('n is 1');
      expect(told[1]).toContain('n is 2');
      expect(session.outcome).toBe('done');
    });

    it('15, G4: an abort: nothing more', async () => {
      const server = await startStory(plan('a', 'b', 'c'), stall(), say('All done!'));
      const human = new AbortController();
      const session = await createLibraryStage().open({ goal, signal: human.signal });
      const running = run(session, {
        url: server.url,
        goal,
        tools: {},
        signal: human.signal,
      });
      await expect.poll(() => server.requests.length, { timeout: 60_000 }).toBe(2);
      human.abort();
      // Some frameworks reject and some just end.
      await running.catch(() => {});
      expect(session.outcome).toBe('aborted');
      expect([server.requests.length, session.plan.length]).toEqual([2, 3]);
    }, 90_000);

    it('15, V5: killed and opened again: the plan is there, and is drained', async () => {
      const { open, store, directory } = createLibraryStage();
      const server = await startStory(plan('a', 'b', 'c'), complete('a'), stall());
      const child = spawn(
        process.execPath,
        ['--no-warnings', program, file, name, server.url, store, directory],
        {
          stdio: ['ignore', 'inherit', 'inherit'],
        },
      );
      // A framework takes seconds to load where others use the machine too.
      await expect.poll(() => server.requests.length, { timeout: 90_000 }).toBe(3);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const session = await open({ id: 'killed', goal, store });
      expect(session.plan.map(({ title, status }) => `${title} ${status}`)).toEqual([
        'a completed',
        'b pending',
        'c pending',
      ]);
      const later = await startStory(complete('b'), complete('c'), say('Finished.'));
      await run(session, { url: later.url, goal, tools: {}, signal: never });
      expect([session.outcome, continuations(later.requests)]).toEqual(['claimed', []]);
    }, 120_000);

    it('15, V4: an honest agent whose tools nobody sees and whose work is in no file is never challenged', async () => {
      const server = await startStory(
        plan('a', 'b', 'c'),
        bulkClaim(),
        say('I booked all three flights.'),
      );
      const session = await createLibraryStage().open({ goal: 'book the flights' });
      await run(session, { url: server.url, goal, tools: {}, signal: never });
      expect([session.outcome, continuations(server.requests)]).toEqual(['claimed', []]);
    });
  });
}
