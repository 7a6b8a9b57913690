import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ancestorsOf, readFromProc, readFromPs } from '../checks/process-ancestors.ts';
import { hostOfCommand } from '../hosts/host-processes.ts';
import { findAgentAbove, findAgentSessions, whyNoHuman } from './human-terminal.ts';

function ancestor(argv: readonly string[], variables: readonly string[] = []) {
  return {
    id: 2,
    parentId: 1,
    argv,
    variables: new Map(variables.map((name) => [name, 'x'])),
  };
}

describe('which command is an agent host', () => {
  it.each([
    [['claude'], 'Claude Code'],
    [['/usr/local/bin/claude', '--resume'], 'Claude Code'],
    [['node', '/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js'], 'Claude Code'],
    [['node', '--max-old-space-size=8192', '/opt/bin/gemini'], 'Gemini CLI'],
    [
      ['node', '--require', './hook.cjs', '/x/node_modules/@openai/codex/bin/codex.js'],
      'Codex',
    ],
    [['/home/me/.opencode/bin/opencode'], 'OpenCode'],
    [
      [
        'C:\\Program Files\\nodejs\\node.exe',
        'C:\\x\\node_modules\\@qwen-code\\qwen-code\\dist\\index.js',
      ],
      'Qwen Code',
    ],
    [['copilot.exe'], 'Copilot CLI'],
    [['pi'], 'pi'],
    [['node', '/usr/bin/untildone', 'run', 'the goal'], 'untildone run'],
    [['node', '/x/node_modules/untildone/dist/bin.js', 'run'], 'untildone run'],
  ])('%j is %s', (argv, host) => expect(hostOfCommand(argv)).toBe(host));

  it.each([
    [['vim', 'claude.md']],
    [['-bash']],
    [['bash', '-c', 'echo claude']],
    [['grep', 'opencode', 'notes']],
    [['node', '/srv/api.js']],
    [['node', 'build.js', 'codex']],
    [['python3', 'pi.py']],
    [['node', '/usr/bin/untildone', 'status']],
    [['less', 'untildone', 'run']],
    [[]],
  ])('%j is none', (argv) => expect(hostOfCommand(argv)).toBeNull());
});

describe('design: an agent must not resume itself', () => {
  it('a session of ours or a host is seen in our own environment and in that of any process above', () => {
    expect(findAgentAbove({ UNTILDONE_SESSION: 's' }, [])).toBe('a session of untildone');
    expect(findAgentAbove({ CLAUDECODE: '1' }, [])).toBe('Claude Code');
    expect(
      findAgentAbove({ UNTILDONE_SESSION: '' }, [ancestor(['bash']), ancestor(['sshd'])]),
    ).toBeNull();
    const above = [ancestor(['bash']), ancestor(['sh'], ['UNTILDONE_SESSION'])];
    expect(findAgentAbove({}, above)).toBe('a session of untildone');
    expect(whyNoHuman({}, [ancestor(['bash']), ancestor(['claude'])])).toBe(
      'Only a human may do this, and Claude Code called it. Use a terminal of your own.',
    );
  });

  it('the processes above are read from /proc, and by ps where there is none', () => {
    for (const read of [readFromProc, readFromPs]) {
      const [parent] = ancestorsOf(process.pid, read);
      expect(parent?.id).toBe(process.ppid);
      expect(parent?.argv.length).toBeGreaterThan(0);
      expect(read(2 ** 30)).toBeNull();
    }
  });
});

describe('V12: the session that an agent’s command belongs to', () => {
  const claude = (id: string) => ({
    CLAUDECODE: '1',
    AI_AGENT: 'claude-code_2-1-325_agent',
    CLAUDE_CODE_SESSION_ID: id,
  });
  const process = (argv: readonly string[], variables: Record<string, string> = {}) => ({
    id: 2,
    parentId: 1,
    argv,
    variables: new Map(Object.entries(variables)),
  });

  it.each([
    ['ours', { UNTILDONE_SESSION: 'run-1' }, ['run-1']],
    ['Claude Code', claude('c-1'), ['c-1']],
    [
      'Claude Code that a run drives',
      { ...claude('c-1'), UNTILDONE_SESSION: 'run-1' },
      ['c-1', 'run-1'],
    ],
    ['Codex', { CODEX_THREAD_ID: 't-1', CODEX_SESSION_ID: 's-1' }, ['s-1']],
    ['Qwen Code', { QWEN_CODE: '1', QWEN_CODE_SESSION_ID: 'q-1' }, ['q-1']],
    ['Copilot CLI', { COPILOT_CLI: '1', COPILOT_AGENT_SESSION_ID: 'p-1' }, ['p-1']],
    [
      'OpenCode, by our plugin',
      { OPENCODE: '1', UNTILDONE_AGENT_SESSION: 'o-1' },
      ['o-1'],
    ],
    [
      'pi, by our extension',
      { PI_CODING_AGENT: '1', UNTILDONE_AGENT_SESSION: 'i-1' },
      ['i-1'],
    ],
    ['Gemini CLI, which names none', { GEMINI_CLI: '1' }, []],
    ['a human', {}, []],
  ])('%s', async (_name, variables, ids) => {
    expect(await findAgentSessions(variables, [])).toEqual(ids);
  });

  it('V12: the variables that the host gave its command count, not those that the agent set further down', async () => {
    const above = [
      process(['sh'], claude('forged')),
      process(['bash'], claude('own')),
      process(['claude']),
    ];
    expect(await findAgentSessions(claude('forged'), above)).toEqual(['own']);
    expect(await findAgentSessions(claude('own'), [process(['claude'])])).toEqual([
      'own',
    ]);
  });

  it('a host that the agent of another host started is nearer than that one', async () => {
    const inPi = {
      ...claude('c-1'),
      PI_CODING_AGENT: '1',
      UNTILDONE_AGENT_SESSION: 'i-1',
    };
    const inClaude = [
      process(['bash'], inPi),
      process(['claude'], { PI_CODING_AGENT: '1' }),
      process(['pi']),
    ];
    expect(await findAgentSessions(inPi, inClaude)).toEqual(['c-1', 'i-1']);
    expect(
      await findAgentSessions(inPi, [process(['bash'], inPi), process(['pi'])]),
    ).toEqual(['i-1', 'c-1']);
  });

  it('V12: its own variables count if no host is above it, or if other processes cannot be read', async () => {
    expect(
      await findAgentSessions(claude('own'), [process(['bash']), process(['init'])]),
    ).toEqual(['own']);
    expect(
      await findAgentSessions(claude('own'), [process(['bash']), process(['claude'])]),
    ).toEqual(['own']);
  });
});

describe('with real processes', () => {
  let root: string;
  let runs = 0;
  const program = fileURLToPath(new URL('bin.ts', import.meta.url));
  const resume = `${process.execPath} ${program} resume alpha`;

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'untildone-human-'));
    // A place without sessions: a human gets as far as being told so.
    writeFileSync(join(root, 'words'), '');
  });

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  /** Far from the processes above this test, which may themselves be an agent's. */
  async function orphaned(command: string, terminal: boolean): Promise<string> {
    runs += 1;
    const out = join(root, `out-${runs}`);
    const script = join(root, `run-${runs}.sh`);
    writeFileSync(
      script,
      `{ ${command}; } >${out} 2>&1 </dev/null\necho "exit $?" >>${out}\nmv ${out} ${out}.done\n`,
    );
    const shell = ['/bin/bash', script];
    const argv = terminal ? ['script', '-qec', shell.join(' '), '/dev/null'] : shell;
    const env = {
      PATH: process.env['PATH'],
      UNTILDONE_HOME: join(root, 'home'),
      HOME: root,
    };
    spawn('bash', ['-c', 'exec setsid --fork "$@"', 'bash', ...argv], {
      env,
      cwd: root,
      stdio: 'ignore',
    });
    for (let waited = 0; !existsSync(`${out}.done`); waited += 25) {
      if (waited > 15_000) throw new Error(`"${command}" did not end`);
      await sleep(25);
    }
    return readFileSync(`${out}.done`, 'utf8');
  }

  it('util-linux gives the terminal for these tests', () => {
    expect(
      spawnSync('bash', ['-c', 'script --version'], { encoding: 'utf8' }).stdout,
    ).toContain('util-linux');
  });

  it('a human at a terminal is heard, even where input and output are redirected', async () => {
    expect(await orphaned(resume, true)).toBe(
      'untildone: There are no sessions yet.\nexit 1\n',
    );
  });

  it('without a controlling terminal it refuses', async () => {
    expect(await orphaned(resume, false)).toBe(
      'untildone: Only a human may do this, and there is no terminal here to do it from.\nexit 1\n',
    );
  });

  it('beneath a host it refuses, whatever stands between', async () => {
    const beneath = `bash -c 'exec -a claude bash -c "setsid -w true; env -i ${resume}; exit \\$?"'`;
    expect(await orphaned(beneath, true)).toBe(
      'untildone: Only a human may do this, and Claude Code called it. Use a terminal of your own.\nexit 1\n',
    );
  });

  it('beneath a session of ours it refuses, although the variable was taken away on the way', async () => {
    const beneath = `UNTILDONE_SESSION=s bash -c 'env -u UNTILDONE_SESSION ${resume}; exit $?'`;
    expect(await orphaned(beneath, true)).toContain('a session of untildone called it.');
    expect(await orphaned(`UNTILDONE_SESSION=s ${resume}`, true)).toContain(
      'a session of untildone called it.',
    );
  });
});
