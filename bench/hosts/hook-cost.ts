// What the hook costs, as ratios within one run: each kind of call beside a bare `node -e
// 0`, interleaved, on a store of 1,000 sessions and with a plan of 200 todos, a stop once
// without and once with work since the last one; then, in the real Claude Code, the time
// from a model's answer to the next request beside a bare hook that always continues.
// Usage: npm run bench -- hook [RUNS]
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyPrograms } from '../../src/hosts/install/files.ts';
import { installHost } from '../../test/hosts/harness/install-host.ts';
import { createProject, type Project } from '../../test/hosts/harness/project.ts';
import { untildone } from '../../test/hosts/harness/untildone.ts';
import { acceptProject } from '../../test/support/accept-project.ts';
import { addClaudeSession, fillStore } from './hook-store.ts';
import { measureBareHook, measureOurHook } from './next-request.ts';

const runs = Number(process.argv[2] ?? 40);
const sessions = 1000;
const todos = 200;
const built = fileURLToPath(new URL('../../dist/plugin/programs/', import.meta.url));
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** No limit may cut in while the same stop is asked again and again. */
const patient = { maxStagnant: 100, maxContinuations: 10_000, ceiling: 100_000 };

function payloads(project: Project) {
  const common = {
    session_id: '01a1df40-5e78-7e6a-8e96-3a0c2bbe9974',
    transcript_path: join(project.home, 'transcript.jsonl'),
    cwd: project.directory,
    prompt_id: '39810766-84f6-4fd0-8a1e-87539e3ae2d2',
    permission_mode: 'default',
  };
  const call = (number: number, tool: string, input: object, response: object) => ({
    ...common,
    hook_event_name: 'PostToolUse',
    tool_name: tool,
    tool_use_id: `call_${number}`,
    tool_input: input,
    tool_response: response,
  });
  const stop = {
    ...common,
    hook_event_name: 'Stop',
    stop_hook_active: false,
    last_assistant_message: 'I am done.',
    background_tasks: [],
    session_crons: [],
  };
  const titles = Array.from({ length: todos }, (_, index) => `todo number ${index + 1}`);
  return {
    begin: [
      { ...common, hook_event_name: 'SessionStart', source: 'startup' },
      ...titles.map((subject, index) =>
        call(
          index,
          'TaskCreate',
          { subject, description: subject },
          { task: { id: String(index + 1), subject } },
        ),
      ),
    ],
    prompt: (number: number) => ({
      ...common,
      hook_event_name: 'UserPromptSubmit',
      prompt: `go on ${number}`,
    }),
    tool: (number: number) =>
      call(
        10_000 + number,
        'Bash',
        { command: 'npm test' },
        { stdout: 'x'.repeat(4000), stderr: '' },
      ),
    update: (number: number) =>
      call(
        20_000 + number,
        'TaskUpdate',
        { taskId: String(number + 1), status: 'in_progress' },
        {
          success: true,
          taskId: String(number + 1),
          statusChange: { from: 'pending', to: 'in_progress' },
        },
      ),
    stop: () => stop,
    'stop after work': () => stop,
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function time(
  words: readonly string[],
  project: Project,
  input: string,
): { ms: number; stdout: string } {
  const began = performance.now();
  // The host's own cap on blocks would be one more limit that cuts in.
  const env = { ...project.environment, CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '0' };
  const ran = spawnSync(process.execPath, words, { cwd: project.directory, env, input });
  return { ms: performance.now() - began, stdout: ran.stdout.toString() };
}

/** Where `init` puts it. */
function copyHook(project: Project): string {
  const folder = join(project.state, 'bin', 'bench');
  copyPrograms(built, ['hook.js'], folder);
  return join(folder, 'hook.js');
}

async function measureProcess(project: Project): Promise<void> {
  const hook = copyHook(project);
  project.write('untildone.json', JSON.stringify(patient));
  acceptProject(project.state, project.directory);
  const path = join(project.state, 'untildone.db');
  const { begin, ...calls } = payloads(project);
  await fillStore({ path, sessions });
  await addClaudeSession(path, begin, project.environment);
  time([hook, 'claude-code'], project, JSON.stringify(calls.prompt(-1)));
  print(
    `a call of the hook beside node -e 0, ${runs} runs each, ${sessions} sessions, ${todos} todos:`,
  );
  for (const [name, payload] of Object.entries(calls)) {
    const bare: number[] = [];
    const ours: number[] = [];
    for (let run = 0; run < runs; run++) {
      const input = JSON.stringify(payload(run));
      if (name === 'stop after work') {
        project.write('work.txt', `written in run ${run}`);
        time([hook, 'claude-code'], project, JSON.stringify(calls.tool(50_000 + run)));
      }
      bare.push(time(['-e', '0'], project, input).ms);
      const { ms, stdout } = time([hook, 'claude-code'], project, input);
      ours.push(ms);
      const continues = stdout.includes('[TODO CONTINUATION]');
      if (continues !== name.startsWith('stop'))
        throw new Error(`${name}: the hook answered ${stdout.slice(0, 300)}`);
    }
    const ratio = median(ours) / median(bare);
    print(
      `  ${name.padEnd(15)} ${median(ours).toFixed(1)} ms, bare ${median(bare).toFixed(1)} ms: ${ratio.toFixed(2)} of bare (aim: at most 1.3)`,
    );
  }
}

/** In turns, so that a busy machine slows both alike. */
async function measureHost(project: Project): Promise<void> {
  const rounds = Math.ceil(runs / 10);
  const perRound = 5;
  await untildone(project, 'init', 'claude-code');
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round++) {
    writeFileSync(
      join(project.directory, 'untildone.json'),
      JSON.stringify({ maxStagnant: perRound }),
    );
    acceptProject(project.state, project.directory);
    ours.push(...(await measureOurHook(project)));
    bare.push(...(await measureBareHook(perRound)));
  }
  print(
    `Claude Code, from the model's answer to the next request (${ours.length} and ${bare.length} continuations):`,
  );
  print(
    `  ours ${median(ours).toFixed(0)} ms, a bare node hook ${median(bare).toFixed(0)} ms: ${(median(ours) / median(bare)).toFixed(2)} of bare`,
  );
}

installHost('claude-code');
const project = createProject();
try {
  await measureProcess(project);
  await measureHost(project);
} finally {
  project.remove();
}
