// What `untildone run --with HOST` promises, told once for every host that can be driven.
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  always,
  callTool,
  complete,
  fail,
  parallel,
  plan,
  repeat,
  runCommand,
  type Script,
  type Situation,
  say,
  script,
  untilAllDone,
  when,
  whenTold,
  whenToolFailed,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { acceptProject } from '../../support/accept-project.ts';
import { openTerminal } from '../../view/terminal.ts';
import { continuationsIn, toldTexts } from './continuations.ts';
import {
  countOf,
  type Driven,
  type DriveStage,
  endGroup,
  endOf,
  onDriveStage,
  type Run,
  untildoneProgram,
} from './drive.ts';
import { createGate } from './gate.ts';
import { startTurn } from './real-host.ts';
import { untildone } from './untildone.ts';
import { waitUntil } from './wait-until.ts';

const three = ['alpha', 'beta', 'gamma'] as const;
const twelve = Array.from(
  { length: 12 },
  (_, index) => `part-${String(index + 1).padStart(2, '0')}`,
);
const filesOf = (names: readonly string[]) => names.map((name) => `${name}.txt`);
const write = (title: string) => writeFile(`${title}.txt`, title);
const work = (title: string) => parallel(write(title), complete(title));

/** Finishes one todo at a time and claims each time that everything is done. */
const quitter = script('quitter', [
  plan(...three),
  untilAllDone((title) => [work(title), say('Everything is done.')]),
]);
/** Twice it says so twice in a row: more than a host with a low cap takes. */
const talker = script('talker', [
  plan(...twelve),
  untilAllDone((title) => [
    work(title),
    say('Everything is done.'),
    ...(/-(?:04|08)$/u.test(title) ? [say('Really, it is.')] : []),
  ]),
]);
/** A host that nobody gave a list of todos does the same without. */
const diligent = script('diligent', [
  when(({ family }) => family === undefined, ...three.map(write)),
  when(({ family }) => family !== undefined, plan(...three)),
  untilAllDone((title) => [work(title)]),
  say('All three are there.'),
]);
const recovering = script('recovering', [
  plan(...three),
  fail(400, { times: 2 }),
  untilAllDone((title) => [work(title)]),
  always(say('Done.')),
]);
const canPause = ({ request }: Situation) =>
  request.tools.some(({ name }) => name.endsWith('todo_pause'));
const leaver = script('leaver', [
  plan(...three),
  runCommand(`"${process.execPath}" "${untildoneProgram}" stop`),
  always(say('I stop here.')),
]);
const hold = createGate('hold');
/**
 * In the middle of its work it waits for the test. A call that was cut off it makes again
 * before it counts on it.
 */
const waiter = script('waiter', [
  plan(...three),
  work('alpha'),
  runCommand(hold.command),
  untilAllDone((title) => [
    write(title),
    repeat(Number.POSITIVE_INFINITY, whenToolFailed(write(title))),
    complete(title),
    say('Everything is done.'),
  ]),
  always(say('That is all.')),
]);

const isThere = (name: string) => `test -f ${name}.txt`;
const goal = 'Write the three files.';

/** As a human in another terminal. */
async function atTerminal(
  { project }: Driven,
  words: readonly string[],
  use: () => Promise<void>,
) {
  const { directory, environment } = project;
  const terminal = openTerminal({
    directory,
    environment: { ...environment, LC_ALL: 'C.UTF-8' },
  });
  try {
    terminal.run(process.execPath, untildoneProgram, ...words);
    await use();
  } finally {
    terminal.close();
  }
}

export function driveStories(stage: DriveStage): void {
  const host = stage.host.name;
  const on = <Result>(
    scripts: readonly Script[],
    use: (driven: Driven) => Promise<Result>,
  ) => onDriveStage(stage, scripts, use);
  const start = ({ run }: Driven, ...words: readonly string[]) =>
    run(['--with', host, goal, ...words]);
  const reached = async (run: Run, what: string, holds: () => boolean) => {
    await waitUntil(
      what,
      () => {
        if (run.child.exitCode !== null)
          throw new Error(`The run ended before: ${what}.\n${run.printed()}`);
        return holds();
      },
      60,
    );
  };
  const isHeld = (driven: Driven) => () =>
    driven.model.requests.some(({ reply }) =>
      JSON.stringify(reply.calls ?? []).includes('hold'),
    );

  // Several starts of a host each, on a machine that may be busy.
  describe(`run --with ${host}`, { timeout: 240_000 }, () => {
    // In CI only these: each starts its host several times.
    const isSample = process.env['UNTILDONE_HOST_SAMPLE'] === '1';
    const story = (name: string, tell: () => Promise<unknown>): void => {
      if (!isSample || /^(?:P1|V1|V5: we are killed):/u.test(name)) it(name, tell);
    };

    story(
      'P1: an agent that quits early is drained, and the outcome is what the checks saw',
      () =>
        on([quitter], async (driven) => {
          const run = start(driven, '--check', isThere('gamma'));
          expect(await run.ended, run.printed()).toBe(0);
          expect(driven.project.files()).toEqual(expect.arrayContaining(filesOf(three)));
          expect(endOf(run)).toMatchObject({ outcome: 'done', exitCode: 0 });
          expect(endOf(run)?.todos).toHaveLength(3);
          expect(continuationsIn(driven.model.requests)).toHaveLength(2);
          expect(countOf(run, 'continuation')).toBe(2);
          expect(countOf(run, 'tool-ended')).toBe(countOf(run, 'tool-started'));
          if (!stage.isSilentOnTokens)
            expect(endOf(run)?.usage.inputTokens).toBeGreaterThan(0);
          const status = JSON.parse(
            await untildone(driven.project, 'status', '--all', '--json'),
          );
          expect(
            status.sessions.filter(({ kind }: { kind: string }) => kind === 'main'),
          ).toHaveLength(1);
        }),
    );

    story('V1: a failing check overrules "done"', () =>
      on(
        [
          script('liar', [
            plan('Write the parser'),
            complete('Write the parser'),
            say('I am done.'),
            whenTold('parser.txt', writeFile('parser.txt', 'x')),
            always(say('Now I am done.')),
          ]),
        ],
        async (driven) => {
          const run = start(
            driven,
            '--check',
            'test -f parser.txt || { echo parser.txt is missing; exit 1; }',
          );
          expect(await run.ended, run.printed()).toBe(0);
          expect(continuationsIn(driven.model.requests)[0]).toContain(
            'parser.txt is missing',
          );
          expect(endOf(run)).toMatchObject({ outcome: 'done' });
        },
      ),
    );

    story('V1: a check that the project and --check both give is one check', () =>
      on(
        [
          script('twice-told', [
            plan('Write the parser'),
            complete('Write the parser'),
            say('I am done.'),
            whenTold('parser.txt', writeFile('parser.txt', 'x')),
            always(say('Now I am done.')),
          ]),
        ],
        async (driven) => {
          const { directory, root, state } = driven.project;
          const log = join(root, 'runs.log');
          const check = `echo run >> '${log}'; test -f parser.txt || { echo parser.txt is missing; exit 1; }`;
          const settings = { checks: { tests: { command: check } }, goal: ['tests'] };
          writeFileSync(join(directory, 'untildone.json'), JSON.stringify(settings));
          acceptProject(state, directory);
          const run = start(driven, '--check', check);
          expect(await run.ended, run.printed()).toBe(0);
          expect(endOf(run)).toMatchObject({ outcome: 'done' });
          // Once before the start, twice at the stop where it fails, once at the one
          // where it passes.
          expect(readFileSync(log, 'utf8')).toBe('run\n'.repeat(4));
        },
      ),
    );

    story(
      'P51: the agent is told that a test was red before, and may leave it to the human',
      () =>
        on(
          [
            script('fixer', [
              writeFile('sum.txt', '4'),
              say('I fixed sum.'),
              whenTold(
                'failed before the work began too',
                when(
                  canPause,
                  callTool('todo_pause', { reason: 'The test of other is not my task.' }),
                ),
              ),
              always(say('I fixed sum.')),
            ]),
          ],
          async (driven) => {
            const tests =
              'test -f sum.txt && test -f other.txt || { echo not ok 2 - other; exit 1; }';
            const run = start(driven, '--check', tests);
            const code = await run.ended;
            expect(driven.project.files()).toContain('sum.txt');
            const [told] = continuationsIn(driven.model.requests);
            expect(told).toContain('It failed before the work began too.');
            expect(told).toContain('not ok 2 - other');
            expect(endOf(run)?.sentence).toContain('failed before the work began too.');
            expect(endOf(run)?.failedChecks).toMatchObject([{ failedBefore: true }]);
            // An agent without that tool can only say so, and is sent back until it
            // stagnates.
            const hasPause = told?.includes('todo_pause with this as the reason');
            expect([code, endOf(run)?.outcome]).toEqual(
              hasPause ? [7, 'paused'] : [5, 'stagnant'],
            );
            if (host === 'claude-code') expect(hasPause).toBe(true);
            expect(await untildone(driven.project, 'report')).toContain(
              'failed before the work began too',
            );
          },
        ),
    );

    story('P3: no plan and only talk: claimed, without a push', () =>
      on([script('talk', [always(say('The answer is 42.'))])], async (driven) => {
        const run = start(driven);
        expect(await run.ended, run.printed()).toBe(3);
        expect(endOf(run)).toMatchObject({ outcome: 'claimed', reason: 'no-plan' });
        expect(continuationsIn(driven.model.requests)).toHaveLength(0);
        expect(driven.starts()).toHaveLength(1);
      }),
    );

    story(
      'P2: an agent that needs no push gets none, and the bytes beside the host alone are told',
      () =>
        on([diligent], async (driven) => {
          const run = start(driven, '--auto', '--check', isThere('gamma'));
          expect(await run.ended, run.printed()).toBe(0);
          expect(continuationsIn(driven.model.requests)).toHaveLength(0);
          const count = ({ requests }: Driven['model']) =>
            `${requests.reduce((sum, { body }) => sum + JSON.stringify(body).length, 0)} in ${requests.length} requests`;
          const alone = await on([diligent], async ({ project, environment, model }) => {
            const message = {
              project: { ...project, environment },
              model,
              text: goal,
              isFirst: true,
            };
            await startTurn(stage.host, { ...message, conversation: randomUUID() }).ended;
            expect(project.files()).toEqual(expect.arrayContaining(filesOf(three)));
            return count(model);
          });
          console.log(`bytes ${host}: driven ${count(driven.model)}, alone ${alone}`);
        }),
    );

    story('12 todos are done past the cap of the host', () =>
      on([talker], async ({ run, project, starts }) => {
        const driven = run(
          ['--with', host, goal, '--check', isThere('part-12')],
          stage.lowCap ?? {},
        );
        expect(await driven.ended, driven.printed()).toBe(0);
        expect(project.files()).toEqual(expect.arrayContaining(filesOf(twelve)));
        if (stage.lowCap !== undefined) expect(starts().length).toBeGreaterThan(2);
      }),
    );

    story(
      'P52: an agent that types `untildone stop` has paused itself: exit 7, and nobody stopped it',
      () =>
        on([leaver], async (driven) => {
          const run = start(driven, '--auto', '--check', 'false');
          expect(await run.ended, run.printed()).toBe(7);
          expect(endOf(run)).toMatchObject({
            outcome: 'paused',
            reason: 'paused-by-model',
          });
          expect(continuationsIn(driven.model.requests)).toHaveLength(0);
          expect(await untildone(driven.project, 'status')).toContain(
            'paused by the agent',
          );
        }),
    );

    // What cannot be told is not there: a skipped test counts as a failure.
    if (stage.silence)
      it('where our hooks are off, the driver alone holds the agent', () =>
        on([quitter], async (driven) => {
          const more = stage.silence?.(driven.project) ?? {};
          const run = driven.run(
            ['--with', host, goal, '--check', isThere('gamma')],
            more,
          );
          expect(await run.ended, run.printed()).toBe(0);
          expect(driven.project.files()).toEqual(expect.arrayContaining(filesOf(three)));
          expect(driven.starts().length).toBeGreaterThanOrEqual(3);
        }));

    story(
      'V5: the host is killed in the middle of a call: the conversation is taken up, and nothing is lost',
      () =>
        on([waiter], async (driven) => {
          const run = start(driven, '--auto', '--check', isThere('gamma'));
          await reached(run, 'the agent waits in a call', isHeld(driven));
          await new Promise((resolve) => setTimeout(resolve, 300));
          hold.open(driven.project);
          endGroup(driven.starts()[0] ?? {});
          expect(await run.ended, run.printed()).toBe(0);
          expect(driven.project.files()).toEqual(expect.arrayContaining(filesOf(three)));
          expect(driven.starts().length).toBeGreaterThan(1);
          expect(endOf(run)).toMatchObject({ outcome: 'done' });
        }),
    );

    story(
      'V5: we are killed: the host ends too, and --resume takes the same conversation up',
      () =>
        on([waiter], async (driven) => {
          const run = start(driven, '--auto', '--check', isThere('gamma'));
          await reached(run, 'the agent waits in a call', isHeld(driven));
          const state = async () =>
            JSON.parse(await untildone(driven.project, 'status', '--json')).sessions[0]
              .state;
          expect(await state()).toMatchObject({ name: 'running' });
          run.child.kill('SIGKILL');
          await run.ended;
          const resumes = expect.stringMatching(
            /^its process is gone \(killed\?\): untildone run --resume \w{6}$/u,
          );
          expect(await state()).toEqual({ name: 'gone', words: resumes });
          hold.open(driven.project);
          const again = driven.run(['--resume']);
          expect(await again.ended, again.printed()).toBe(0);
          expect(driven.project.files()).toEqual(expect.arrayContaining(filesOf(three)));
          expect(endOf(again)).toMatchObject({ outcome: 'done' });
          const goals =
            driven.model.requests
              .at(-1)
              ?.messages.filter(({ text }) => text.includes(goal)) ?? [];
          expect(goals).toHaveLength(1);
        }),
    );

    story('T3: words of the human reach the agent while it works', () =>
      on([waiter], async (driven) => {
        const run = start(driven, '--auto', '--check', isThere('gamma'));
        await reached(run, 'the agent waits in a call', isHeld(driven));
        await atTerminal(driven, ['say', 'PLEASE-ALSO write extra.txt'], async () => {
          await reached(
            run,
            'the words are queued',
            () => countOf(run, 'human-message') > 0,
          );
        });
        hold.open(driven.project);
        expect(await run.ended, run.printed()).toBe(0);
        expect(
          toldTexts(driven.model.requests).some((text) => text.includes('PLEASE-ALSO')),
        ).toBe(true);
        const heard = driven.model.requests
          .at(-1)
          ?.messages.filter(({ text }) => text.includes('PLEASE-ALSO'));
        expect(heard).toHaveLength(1);
        expect(driven.project.files()).toEqual(expect.arrayContaining(filesOf(three)));
      }),
    );

    story('G4: pause ends the host politely, and resume goes on', () =>
      on([waiter], async (driven) => {
        const run = start(driven, '--auto', '--check', isThere('gamma'));
        await reached(run, 'the agent waits in a call', isHeld(driven));
        await untildone(driven.project, 'pause');
        await reached(
          run,
          'the run says that it is paused',
          () => countOf(run, 'waiting') > 0,
        );
        const before = driven.model.requests.length;
        hold.open(driven.project);
        await atTerminal(driven, ['resume'], async () => {
          expect(await run.ended, run.printed()).toBe(0);
        });
        expect(driven.model.requests.length).toBeGreaterThan(before);
        expect(driven.project.files()).toEqual(expect.arrayContaining(filesOf(three)));
      }),
    );

    story(
      'P19: Ctrl-C ends it as aborted, without a push behind it; --resume goes on',
      () =>
        on([waiter], async (driven) => {
          const run = start(driven, '--auto', '--check', isThere('gamma'));
          await reached(run, 'the agent waits in a call', isHeld(driven));
          run.child.kill('SIGINT');
          await new Promise((resolve) => setTimeout(resolve, 600));
          hold.open(driven.project);
          expect(await run.ended, run.printed()).toBe(130);
          expect(endOf(run)).toMatchObject({ outcome: 'aborted' });
          expect(continuationsIn(driven.model.requests)).toHaveLength(0);
          const again = driven.run(['--resume']);
          expect(await again.ended, again.printed()).toBe(0);
          expect(driven.project.files()).toEqual(expect.arrayContaining(filesOf(three)));
        }),
    );

    story('P19: a second Ctrl-C ends it at once, with the call that runs', () =>
      on([waiter], async (driven) => {
        const run = start(driven, '--auto');
        await reached(run, 'the agent waits in a call', isHeld(driven));
        run.child.kill('SIGINT');
        await new Promise((resolve) => setTimeout(resolve, 300));
        run.child.kill('SIGINT');
        expect(await run.ended, run.printed()).toBe(130);
      }),
    );

    story('installed by init too, it counts each stop once', () =>
      on([quitter], async (driven) => {
        await untildone(driven.project, 'init', host);
        const run = start(driven, '--auto', '--check', isThere('gamma'));
        expect(await run.ended, run.printed()).toBe(0);
        expect(continuationsIn(driven.model.requests)).toHaveLength(2);
      }),
    );

    story('flags behind -- reach the host at every start', () =>
      on([diligent], async (driven) => {
        const run = start(driven, '--', ...stage.flags);
        expect(await run.ended, run.printed()).toBe(3);
        for (const { words } of driven.starts())
          expect(words).toContain(stage.flags.join(' '));
      }),
    );

    story('G9: the same error again and again ends the run as failed, and says why', () =>
      on(
        [script('broken', [plan(...three), fail(400, { times: 100 })])],
        async (driven) => {
          const run = start(driven);
          expect(await run.ended, run.printed()).toBe(1);
          expect(endOf(run)).toMatchObject({ outcome: 'failed' });
          expect(driven.starts().length).toBeGreaterThan(1);
          expect(driven.starts().length).toBeLessThanOrEqual(4);
        },
      ),
    );

    story(
      'a call that fails for a while is tried again in the same conversation, by the host or by us',
      () =>
        on([recovering], async (driven) => {
          const run = start(driven, '--check', isThere('gamma'));
          expect(await run.ended, run.printed()).toBe(0);
          expect(endOf(run)).toMatchObject({ outcome: 'done' });
        }),
    );

    story('G8: a budget of tokens ends it as exhausted', () =>
      on([quitter], async (driven) => {
        const run = start(driven, '--max-tokens=1000');
        if (stage.isSilentOnTokens) {
          expect(await run.ended, run.printed()).toBe(2);
          return;
        }
        expect(await run.ended, run.printed()).toBe(6);
        expect(endOf(run)).toMatchObject({
          outcome: 'exhausted',
          reason: 'token-budget',
        });
      }),
    );

    story('P41: a session begun so goes on only with its own program', () =>
      on([diligent], async (driven) => {
        writeFileSync(join(driven.project.directory, 'note.txt'), 'x');
        await start(driven).ended;
        const other = driven.run([
          '--resume',
          '--with',
          host === 'opencode' ? 'claude-code' : 'opencode',
          'more',
        ]);
        expect(await other.ended).toBe(2);
        expect(other.printed()).toContain('leave --with out');
      }),
    );
  });
}
