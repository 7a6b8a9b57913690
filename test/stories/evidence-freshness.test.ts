// What evidence holds for, through the real `run`: it goes stale with the files, a flaky
// check proves nothing, a slow one is waited for, a human is not answered for, and
// nothing that the agent edits changes what is checked (V1, V2).
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/engine/system.ts';
import {
  complete,
  parallel,
  plan,
  runCommand,
  say,
  verify,
  whenContinued,
  whenTold,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { told } from '../evidence/read-told.ts';
import { type EvidenceStory, setStage, tell } from '../evidence/stage.ts';

const fileChecks: EvidenceStory['config'] = {
  checks: {
    alpha: { file: 'alpha.txt', matches: 'good' },
    beta: { file: 'beta.txt', matches: 'good' },
  },
  todoChecks: [
    { title: '*alpha*', checks: ['alpha'] },
    { title: '*beta*', checks: ['beta'] },
  ],
};
const alpha = [writeFile('alpha.txt', 'good'), complete('Write alpha')];
const beta = [writeFile('beta.txt', 'good'), complete('Write beta')];

describe('V2: evidence goes stale', () => {
  it('a todo that was broken while another was done is reopened at the final stop', async () => {
    const steps = [
      plan('Write alpha', 'Write beta'),
      ...alpha,
      writeFile('alpha.txt', 'bad'),
      ...beta,
      say('Both are written.'),
      whenContinued(
        writeFile('alpha.txt', 'good again'),
        complete('Write alpha'),
        say('Now they are.'),
      ),
    ];
    const run = await tell({ config: fileChecks, steps });
    expect(told(run)).toEqual({ outcome: 'done', code: 0, texts: ['failed-check'] });
    expect(run.ledger.filter(({ change }) => change === 'check-failed')).toHaveLength(1);
  });

  it('in the same step as the claim, too: the check may have seen the file before it was broken', async () => {
    const steps = [
      plan('Write alpha'),
      writeFile('alpha.txt', 'good'),
      parallel(complete('Write alpha'), writeFile('alpha.txt', 'bad')),
      say('Written.'),
      say('Written, I said.'),
    ];
    const run = await tell({ config: fileChecks, steps });
    expect(run.ended.outcome).not.toBe('done');
    expect(run.todos[0]).toMatchObject({ verification: 'failed' });
  });

  it('a todo that nothing touched since is not run again', async () => {
    const run = await tell({
      config: fileChecks,
      steps: [plan('Write alpha'), ...alpha, say('Written.')],
    });
    expect(told(run)).toEqual({ outcome: 'done', code: 0, texts: [] });
    expect(run.evidence.map(({ check }) => check)).toEqual(['alpha']);
  });

  it('by the files that each check names: what lies elsewhere makes nothing stale', async () => {
    const config: EvidenceStory['config'] = {
      ...fileChecks,
      checks: {
        alpha: { file: 'alpha.txt', matches: 'good', files: ['alpha.txt'] },
        beta: { file: 'beta.txt', matches: 'good' },
      },
    };
    const steps = [plan('Write alpha', 'Write beta'), ...alpha, ...beta];
    const apart = [...steps, writeFile('notes.md', 'text'), say('Written.')];
    const elsewhere = await tell({ config, steps: apart });
    expect(told(elsewhere)).toEqual({ outcome: 'done', code: 0, texts: [] });
    expect(elsewhere.evidence.map(({ check }) => check).sort()).toEqual([
      'alpha',
      'beta',
      'beta',
    ]);
    const broken = await tell({
      config,
      steps: [...steps, writeFile('alpha.txt', 'bad'), say('Written.')],
    });
    expect(broken.ended.outcome).not.toBe('done');
    expect(broken.todos[0]?.verification).toBe('failed');
  });

  it('the checks of the goal are run at every final stop, stale or not', async () => {
    const config = { ...fileChecks, goal: ['alpha'] };
    const steps = [plan('Write beta'), ...alpha.slice(0, 1), ...beta, say('Written.')];
    const run = await tell({ config, steps });
    expect(told(run)).toEqual({ outcome: 'done', code: 0, texts: [] });
    const without = await tell({
      config,
      steps: [plan('Write beta'), ...beta, say('Written.')],
    });
    expect(told(without)).toMatchObject({ outcome: 'stagnant', code: 5 });
    expect(told(without).texts).toContain('failed-check');
  });
});

describe('V1: a check that cannot be relied on', () => {
  const flaky: EvidenceStory['config'] = {
    // It fails the second time only: before the work it passes.
    checks: { odd: { command: 'echo >> .seen; test $(wc -l < .seen) -ne 2' } },
    goal: ['odd'],
  };

  it('passes only when it is run again: flagged, and the run is at best claimed', async () => {
    const steps = [plan('Write alpha'), ...alpha, say('Written.')];
    const run = await tell({ config: flaky, files: { '.gitignore': '.seen\n' }, steps });
    expect(told(run)).toEqual({ outcome: 'claimed', code: 3, texts: [] });
    expect(run.ended.sentence).toContain('failed before it passed');
    expect(run.evidence).toMatchObject([{ check: 'odd', result: 'passed', flaky: true }]);
  });

  it('its reliable twin is done', async () => {
    const steady = { ...flaky, checks: { odd: { command: 'test -e alpha.txt' } } };
    const run = await tell({
      config: steady,
      steps: [plan('Write alpha'), ...alpha, say('Written.')],
    });
    expect(told(run)).toEqual({ outcome: 'done', code: 0, texts: [] });
  });

  it('takes longer than a stop waits: the agent is told to wait with todo_verify, and is then done by that very run', async () => {
    const config = {
      checks: { slow: { command: 'sleep 1.2; test -e alpha.txt' } },
      goal: ['slow'],
    };
    const steps = [
      plan('Write alpha'),
      ...alpha,
      say('Written.'),
      verify(),
      say('It has passed.'),
    ];
    const run = await tell({ config, steps, io: impatient });
    expect(told(run)).toEqual({ outcome: 'done', code: 0, texts: ['checks-running'] });
    expect(run.evidence).toHaveLength(1);
    const waited = run.events.find(
      (event) => event.type === 'tool-ended' && event.tool === 'todo_verify',
    );
    expect(JSON.stringify(waited)).toContain('passed');
  });

  it('an agent that writes while such a check still runs has proved nothing: it is run again on what is there now', async () => {
    const config: EvidenceStory['config'] = {
      checks: { slow: { command: 'grep -q good alpha.txt && sleep 1' } },
      todoChecks: [{ title: '*alpha*', checks: ['slow'] }],
    };
    const steps = [
      plan('Write alpha'),
      ...alpha,
      writeFile('notes.md', 'makes it stale'),
      say('Written.'),
      whenTold(
        'still running',
        writeFile('alpha.txt', 'bad'),
        runCommand('sleep 1.5'),
        say('It has passed.'),
      ),
    ];
    const run = await tell({ config, steps, io: impatient });
    expect(told(run).texts[0]).toBe('checks-running');
    expect(run.ended.outcome).not.toBe('done');
    expect(run.todos[0]?.verification).toBe('failed');
  });
});

/** Time runs as ever, but whoever would wait for ten minutes is woken at once. */
const impatient: NonNullable<EvidenceStory['io']> = {
  clock: {
    now: systemClock.now,
    wake: (at, callback) =>
      systemClock.wake(
        at - systemClock.now() > 300_000 ? systemClock.now() + 300 : at,
        callback,
      ),
  },
};

describe('V1: a check that only a human can answer', () => {
  const config = { checks: { look: { human: 'Does it look right?' } }, goal: ['look'] };
  const steps = [plan('Write alpha'), ...alpha, say('Written.')];

  it('without a terminal the run is paused, with its own exit code, and says what it waits for', async () => {
    const run = await tell({ config, steps });
    expect(told(run)).toEqual({ outcome: 'paused', code: 7, texts: [] });
    expect(run.session.waits.questions).toEqual(['approve look']);
  });

  it('the agent cannot answer it with its own tools', async () => {
    const answers = [runCommand('untildone approve || true'), say('I approved it.')];
    const run = await tell({ config, steps: [...steps.slice(0, -1), ...answers] });
    expect(told(run)).toMatchObject({ outcome: 'paused', code: 7 });
  });
});

describe('the human’s word', () => {
  it('V8: --accept-claims makes a claimed run a success, and nothing else', async () => {
    const options = ['--auto', '--accept-claims'];
    const steps = [
      plan('Write alpha'),
      writeFile('alpha.txt', 'x'),
      complete('Write alpha'),
      say('Written.'),
    ];
    expect(told(await tell({ options, steps }))).toMatchObject({
      outcome: 'claimed',
      code: 0,
    });
    expect(told(await tell({ steps }))).toMatchObject({ outcome: 'claimed', code: 3 });
    const failing = await tell({
      config: { ...fileChecks, goal: ['beta'] },
      options,
      steps,
    });
    expect(failing.code).not.toBe(0);
  });

  it('V2: --check is one more check on the goal', async () => {
    const steps = [
      plan('Anything'),
      writeFile('alpha.txt', 'x'),
      complete('Anything'),
      say('Done.'),
    ];
    const options = ['--auto', '--check', 'test "$(cat alpha.txt)" = x'];
    expect(told(await tell({ options, steps }))).toMatchObject({
      outcome: 'done',
      code: 0,
    });
    const other = ['--auto', '--check', 'test "$(cat alpha.txt)" = y'];
    expect((await tell({ options: other, steps })).ended.outcome).not.toBe('done');
  });

  it('V1: checks that begin alike or are named like one of the configuration are all run; an empty one is refused', async () => {
    const steps = [
      plan('Anything'),
      writeFile('alpha.txt', 'x'),
      complete('Anything'),
      say('Done.'),
    ];
    const long = `test -e alpha.txt && ${'true && '.repeat(12)}`;
    const alike = ['--auto', '--check', `${long}false`, '--check', `${long}true`];
    expect((await tell({ options: alike, steps })).code).not.toBe(0);
    const config = { checks: { true: { command: ['false'] } }, goal: ['true'] };
    expect(
      (await tell({ config, options: ['--auto', '--check', 'true'], steps })).code,
    ).not.toBe(0);
    for (const empty of ['', '  ']) {
      const stage = await setStage({ steps });
      const { code, err } = await stage.command(
        'run',
        'Do it.',
        '--model',
        'scripted/story',
        '--check',
        empty,
      );
      expect({ code, err }).toMatchObject({
        code: 2,
        err: expect.stringContaining('An empty --check'),
      });
    }
  });

  it('V2: an agent that edits untildone.json is flagged, and what it wrote there does not count', async () => {
    const edits = [
      writeFile('untildone.json', '{}'),
      writeFile('alpha.txt', 'bad'),
      complete('Write alpha'),
      say('Done.'),
    ];
    const config = { ...fileChecks, goal: ['alpha'] };
    const run = await tell({ config, steps: [plan('Write alpha'), ...edits] });
    expect(run.ended.outcome).not.toBe('done');
    expect(run.todos[0]?.verification).toBe('failed');
  });

  it('V2: one that edits it and does the work is done by the checks of the message, and the edit is on record', async () => {
    const config = { ...fileChecks, goal: ['alpha'] };
    const run = await tell({
      config,
      steps: [
        plan('Write alpha'),
        writeFile('untildone.json', '{}'),
        ...alpha,
        say('Done.'),
      ],
    });
    expect(told(run)).toMatchObject({ outcome: 'done', code: 0 });
    const notices = run.events.flatMap((event) =>
      event.type === 'notice' ? [event.sentence] : [],
    );
    expect(notices.join('\n')).toMatch(/untildone\.json was changed since your message/);
    expect(run.ledger.map(({ change }) => change)).toContain('checks-edited');
    expect(run.evidence.map(({ check }) => check)).toContain('alpha');
  });
});

describe('V1: a secret of the environment', () => {
  const secret = 'hunter2-correct-horse-battery';

  it.each([
    ['fails', 'exit 1'],
    ['passes', 'true'],
  ])(
    'that a check prints and then %s reaches neither evidence, nor store, nor model',
    async (_how, end) => {
      const config: EvidenceStory['config'] = {
        checks: {
          leaky: {
            command: `echo "token: $SERVICE_TOKEN."; env; ${end}`,
            environment: ['SERVICE_TOKEN'],
          },
        },
        todoChecks: [{ title: '*alpha*', checks: ['leaky'] }],
        goal: ['leaky'],
      };
      const stage = await setStage({
        config,
        environment: { SERVICE_TOKEN: secret },
        steps: [plan('Write alpha'), runCommand('env'), ...alpha, say('Written.')],
      });
      try {
        const run = await stage.run();
        expect(run.evidence.length).toBeGreaterThan(0);
        expect(run.evidence[0]?.tail).toContain('token: [masked].');
        for (const part of ['', '-wal']) {
          const bytes = readStore(`${stage.store}${part}`);
          expect(bytes.includes(secret), `store${part}`).toBe(false);
        }
        expect(JSON.stringify(stage.model.requests)).not.toContain(secret);
        expect(JSON.stringify(run.events)).not.toContain(secret);
        expect(JSON.stringify(run.events), 'the check did print something').toContain(
          'alpha',
        );
      } finally {
        await stage.close();
      }
    },
  );

  it('the search would find it: a file that holds it does', () => {
    const folder = mkdtempSync(join(tmpdir(), 'untildone-secret-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'store');
    writeFileSync(path, `before ${secret} after`);
    expect(readStore(path).includes(secret)).toBe(true);
  });
});

function readStore(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    // A log that was folded into the store when it was closed holds nothing.
    return Buffer.alloc(0);
  }
}
