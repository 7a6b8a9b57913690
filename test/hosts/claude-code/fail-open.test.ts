// Our trouble is never the agent's: whatever is wrong with the store or with what reaches
// the hook, Claude Code ends its turn as it would without us, and the reason is on the
// record where there is a place for it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { always, plan, say, script } from '../../../src/scripted-model/index.ts';
import { continuationsIn } from '../harness/continuations.ts';
import { createProject, type Project } from '../harness/project.ts';
import { readHookLog } from '../harness/record.ts';
import { untildone } from '../harness/untildone.ts';
import { startClaude } from './claude.ts';
import { inProject, prepareProject } from './play.ts';
import { type ClaudeSettings, editSettings, settingsFile } from './settings.ts';

const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

interface Trouble {
  readonly name: string;
  /** Returns how to end the trouble. */
  cause(project: Project): Promise<() => void> | (() => void);
  /** What the hooks wrote into their log. */
  readonly codes: readonly string[];
}

const nothingToEnd = () => {};

const troubles: readonly Trouble[] = [
  {
    name: 'the store cannot be opened',
    cause(project) {
      mkdirSync(join(project.state, 'untildone.db'));
      return nothingToEnd;
    },
    codes: ['store-unavailable'],
  },
  {
    name: 'neither the store nor the log can be written',
    cause(project) {
      // Not by rights: tests may run as root, whom they do not bind.
      for (const name of ['untildone.db', 'hook.log'])
        symlinkSync(`/dev/null/${name}`, join(project.state, name));
      return nothingToEnd;
    },
    codes: [],
  },
];

describe('Claude Code ends its turn normally although', () => {
  for (const { name, cause, codes } of troubles) {
    it(`V7: ${name}`, async () => {
      await inProject([stubborn], async (project, model) => {
        await prepareProject(project, {});
        const end = await cause(project);
        const claude = startClaude(project, model, { prompt: 'Do it.' });
        try {
          const { code } = await claude.ended;
          expect(code).toBe(0);
          expect(claude.results()).toMatchObject([
            { is_error: false, result: 'I am done.' },
          ]);
          expect(continuationsIn(model.requests)).toHaveLength(0);
          expect(claude.printed()).toContain('could not decide, so the agent may stop');
          const logged = readHookLog(project).map((entry) => entry.code);
          expect([...new Set(logged)]).toEqual(codes);
        } finally {
          claude.end();
          end();
        }
      });
    });
  }

  it('the hook is gone: the host shows a notice and nothing else happens', async () => {
    await inProject([stubborn], async (project, model) => {
      await prepareProject(project, {});
      editSettings(project, (settings) => {
        const text = JSON.stringify(settings.hooks).replaceAll('hook.js', 'gone.js');
        settings.hooks = JSON.parse(text) as ClaudeSettings['hooks'];
      });
      const claude = startClaude(project, model, { prompt: 'Do it.' });
      const { code } = await claude.ended.finally(() => claude.end());
      expect(code).toBe(0);
      expect(continuationsIn(model.requests)).toHaveLength(0);
      expect(claude.results()).toMatchObject([{ is_error: false, result: 'I am done.' }]);
    });
  });
});

describe('the installed hook', () => {
  const garbage: readonly (readonly [string, string])[] = [
    ['nothing', ''],
    ['no JSON', 'hello\n'],
    ['half a payload', '{"session_id":"abc","hook_event_na'],
    ['a number', '42'],
    ['null', 'null'],
    ['a list', '[[[[]]]]'],
    ['no session', '{"hook_event_name":"Stop"}'],
    [
      'a session that is a path',
      '{"hook_event_name":"Stop","session_id":"../../../etc/passwd"}',
    ],
    ['an unknown hook', '{"hook_event_name":"Nonsense","session_id":"abc"}'],
    [
      'wrong types everywhere',
      '{"hook_event_name":"Stop","session_id":"abc","background_tasks":7,"cwd":[]}',
    ],
    ['invalid UTF-8 and zero bytes', '\u0000\ufffd\u0000{'],
    ['ten megabytes', `{"hook_event_name":"Stop","x":"${'x'.repeat(10_000_000)}`],
  ];

  it('answers garbage with one JSON object that blocks nothing, and exit code 0', async () => {
    const project = createProject();
    try {
      await untildone(project, 'init', 'claude-code');
      const { hooks } = JSON.parse(
        readFileSync(join(project.directory, settingsFile), 'utf8'),
      ) as ClaudeSettings;
      const command = hooks['Stop']![0]!.hooks[0]!.command;
      for (const [name, input] of garbage) {
        const ran = spawnSync('sh', ['-c', command], {
          cwd: project.directory,
          env: project.environment,
          input,
        });
        expect(ran.status, name).toBe(0);
        const answer = JSON.parse(ran.stdout.toString());
        expect(answer, name).not.toHaveProperty('decision');
        expect(answer, name).not.toHaveProperty('hookSpecificOutput');
      }
      expect(
        readHookLog(project).filter(({ code }) => code === 'payload').length,
      ).toBeGreaterThanOrEqual(10);
    } finally {
      project.remove();
    }
  });
});
