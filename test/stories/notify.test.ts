// Being told elsewhere: a command, an address and the bell of the human's own, at the end
// of a run and when it asks. What a project, a model or a broken address does, the run
// and its exit code are the same.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  complete,
  plan,
  runCommand,
  type Step,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { openNoticeServer } from '../support/notice-server.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

const work: readonly Step[] = [
  plan('Write it'),
  writeFile('a.txt', 'x'),
  complete('Write it'),
  say('Done.'),
];
const model = ['--model', 'openai/story'];

async function open(
  steps: readonly Step[] = work,
): Promise<CommandLine & { seen(): string; told: string }> {
  const line = await openCommandLine({ steps });
  mkdirSync(line.environment['HOME'] ?? '', { recursive: true });
  const told = join(line.environment['HOME'] ?? '', 'told.txt');
  return {
    ...line,
    told,
    seen: () => (existsSync(told) ? readFileSync(told, 'utf8') : ''),
  };
}

const writesAll =
  'cat > "$HOME/told.txt"; env | grep ^NOTICE_ >> "$HOME/told.txt"; pwd >> "$HOME/told.txt"';

describe('issue 14.8: notify.command', () => {
  it('gets what happened on its input and in variables, in the home folder, once a run has ended', async () => {
    const { run, seen, environment, project } = await open();
    const { code } = await run(
      'run',
      'Write it',
      ...model,
      '--auto',
      '--notify-command',
      writesAll,
    );
    expect(code).toBe(3);
    const [document = '', ...lines] = seen().trim().split('\n');
    const notice = JSON.parse(document);
    expect(notice).toMatchObject({
      event: 'outcome',
      outcome: 'claimed',
      title: 'Write it',
      host: 'untildone',
      directory: project,
      next: `untildone run --resume ${notice.session}`,
    });
    expect(notice.sentence).not.toBe('');
    expect(lines).toContain('NOTICE_EVENT=outcome');
    expect(lines).toContain('NOTICE_TITLE=Write it');
    expect(lines.at(-1)).toBe(environment['HOME']);
  });

  it('a hostile goal is a value: no part of it is run, no control of a terminal is left in it', async () => {
    const { run, seen, environment } = await open();
    const goal =
      '$(touch "$HOME/raised"); `touch "$HOME/raised"` \u001b[2J"; touch "$HOME/raised" #\u202e\nb';
    const loud =
      'echo $NOTICE_TITLE > "$HOME/told.txt"; echo "$NOTICE_SENTENCE" >> "$HOME/told.txt"';
    await run('run', goal, ...model, '--auto', '--notify-command', loud);
    expect(seen()).toContain('$(touch "$HOME/raised")');
    for (const control of ['\u001b', '\u202e']) expect(seen()).not.toContain(control);
    expect(existsSync(join(environment['HOME'] ?? '', 'raised'))).toBe(false);
  });

  it('one that fails is one warning, and the exit code is that of the run', async () => {
    const { run } = await open();
    const { code, err } = await run(
      'run',
      'Write it',
      ...model,
      '--auto',
      '--notify-command',
      'exit 7',
    );
    expect(code).toBe(3);
    expect(err).toBe('untildone: warning: notify.command ended with exit code 7.\n');
  });

  it('one that goes on is left alone: the run ends all the same', async () => {
    const { run } = await open();
    const began = performance.now();
    const { code, err } = await run(
      'run',
      'Write it',
      ...model,
      '--auto',
      '--notify-command',
      'sleep 30',
    );
    expect([code, err]).toEqual([3, '']);
    expect(performance.now() - began).toBeLessThan(20_000);
  }, 40_000);

  it('notify.on chooses: a pause is one too, and an end that nobody asked for is silent', async () => {
    const { run, seen } = await open([
      plan('Write it'),
      say('Shall I?'),
      say('Shall I?'),
      say('Shall I?'),
    ]);
    const words = ['run', 'Write it', ...model, '--notify-on', 'permission'];
    await run(...words, '--notify-command', writesAll);
    expect(seen()).toBe('');
    await run(
      'run',
      'Write it',
      ...model,
      '--notify-on',
      'paused',
      '--notify-command',
      writesAll,
    );
    expect(seen()).toMatch(/"event":"paused","outcome":"paused"/u);
  });

  it('a permission that is asked for is told while the run waits, without the command that it is for', async () => {
    const { start, seen, run } = await open([
      plan('Write it'),
      runCommand('deploy --token s3cret'),
      ...work,
    ]);
    const more = [
      '--ask',
      '--permissions-wait-seconds',
      '60',
      '--notify-command',
      writesAll,
    ];
    const running = start('run', 'Write it', ...model, '--json', ...more);
    await running.sees(({ type }) => type === 'permission-asked');
    await vi.waitFor(() => expect(seen()).toContain('NOTICE_EVENT=permission'), 10_000);
    const { sentence, next, session } = JSON.parse(seen().split('\n')[0] ?? '');
    expect([sentence, next]).toEqual([
      'The agent asks to be allowed to use shell.',
      `untildone approve ${session}`,
    ]);
    expect(seen()).not.toContain('s3cret');
    await run('stop');
    await running.ended;
  }, 40_000);
});

describe('issue 14.8: notify.webhook', () => {
  it('gets one JSON document by POST, and nothing of the environment', async () => {
    const { url, posted } = await openNoticeServer();
    const { run, set } = await open();
    set({ SOME_SECRET: 'hunter2hunter2' });
    const { err } = await run(
      'run',
      'Write it',
      ...model,
      '--auto',
      '--notify-webhook',
      url,
    );
    expect(err).toBe('');
    expect(posted).toHaveLength(1);
    expect(posted[0]).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    expect(JSON.parse(posted[0]?.body ?? '')).toMatchObject({
      event: 'outcome',
      title: 'Write it',
    });
    expect(JSON.stringify(posted)).not.toMatch(/hunter2|sk-story/u);
  });

  it.each([
    ['answers with an error', 500, 'notify.webhook answered with status 500.'],
    ['sends elsewhere', 307, 'notify.webhook answered with status 307.'],
    ['hangs', null, 'notify.webhook did not answer within 5 s.'],
  ])(
    'one that %s is one warning that does not name the address',
    async (_what, status, sentence) => {
      const { url } = await openNoticeServer(status);
      const { run } = await open();
      const { code, err } = await run(
        'run',
        'Write it',
        ...model,
        '--auto',
        '--notify-webhook',
        url,
      );
      expect([code, err]).toEqual([3, `untildone: warning: ${sentence}\n`]);
    },
    40_000,
  );

  it('an address that is none is refused before anything is started, unquoted', async () => {
    const { run } = await open();
    const { code, err } = await run(
      'run',
      'Write it',
      ...model,
      '--notify-webhook',
      'file:///etc/t0ken',
    );
    expect(code).toBe(2);
    expect(err).toContain('notify.webhook: must be an http or https address');
    expect(err).not.toContain('t0ken');
  });
});

describe('issue 14.8: notify.bell', () => {
  it('rings at a terminal at the end of a run, and only if it is asked for', async () => {
    const { runOnTerminal, run } = await open([...work, ...work, ...work]);
    const words = ['run', 'Write it', ...model, '--auto', '--plain'];
    expect((await runOnTerminal(...words)).out).not.toContain('\u0007');
    expect((await runOnTerminal(...words, '--notify-bell')).out).toContain('\u0007');
    const piped = await run(...words, '--notify-bell');
    expect(piped.out + piped.err).not.toContain('\u0007');
  }, 40_000);
});

describe('V10: notify in a project’s untildone.json', () => {
  it('is never obeyed, accepted or not, and the human is told', async () => {
    const { url, posted } = await openNoticeServer();
    const { run, project, environment } = await open([...work, ...work]);
    const command = 'touch "$HOME/raised"';
    const file = JSON.stringify({
      notify: { command, webhook: url, on: ['outcome'], bell: true },
    });
    writeFileSync(join(project, 'untildone.json'), file);
    const { code, err } = await run('run', 'Write it', ...model, '--auto', '--trust');
    expect(code).toBe(3);
    for (const name of ['command', 'webhook', 'on', 'bell'])
      expect(err).toContain(`notify.${name}: is ignored in the project’s untildone.json`);
    expect(posted).toEqual([]);
    expect(existsSync(join(environment['HOME'] ?? '', 'raised'))).toBe(false);
  });
});
