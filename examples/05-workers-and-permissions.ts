// 05: a worker of your own, and an allow-list. The project's file names a reviewer; the
// user's file, which no project can write, says what an agent may do. `untildone run`
// obeys both; a scripted model plays the agent and the reviewer. Run it, after npm run
// build, with: node_modules/.bin/node examples/05-workers-and-permissions.ts (or npm run
// examples)
import { deepStrictEqual } from 'node:assert';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  callTool,
  complete,
  firstOf,
  inOrder,
  plan,
  react,
  runCommand,
  say,
  script,
  startScriptedModel,
  when,
  writeFile,
} from 'untildone/scripted-model';

const agent = inOrder(
  plan('Write the sum', { title: 'Review the sum', agentType: 'reviewer' }),
  writeFile('sum.mjs', 'outside of src'),
  writeFile('src/sum.mjs', 'export const sum = (a, b) => a + b;\n'),
  runCommand('node --check src/sum.mjs'),
  runCommand('npm publish'),
  complete('Write the sum', 'src/sum.mjs is written'),
  react(({ todos }) => callTool('delegate', { todoId: todos[1]?.id ?? '' })),
  complete('Review the sum', 'the reviewer found one thing'),
  say('src/sum.mjs is written and reviewed.'),
);
// A worker has no todo tools; by that the script knows which of the two it plays.
const reviewer = when(
  ({ family }) => family === undefined,
  callTool('read_file', { path: 'src/sum.mjs' }),
  say('src/sum.mjs:1 has no test for negative numbers.'),
);

const model = await startScriptedModel({
  scripts: [script('example', [firstOf(reviewer, agent)])],
});
const scratch = mkdtempSync(join(tmpdir(), 'untildone-example-'));
const project = join(scratch, 'project');
const files = fileURLToPath(new URL('05-workers-and-permissions/', import.meta.url));
cpSync(join(files, 'project'), project, { recursive: true });
cpSync(join(files, 'user'), join(scratch, 'config', 'untildone'), { recursive: true });

// As a shell has it: untildone run "Write a sum." --accept-claims --trust --json
const program = join(dirname(fileURLToPath(import.meta.resolve('untildone'))), 'bin.js');
const words = [
  'run',
  'Write a sum.',
  '--model',
  'openai/example',
  '--accept-claims',
  '--trust',
  '--json',
];
try {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...words], {
    cwd: project,
    env: {
      PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
      // Where your ~/.config and ~/.local/state would be.
      XDG_CONFIG_HOME: join(scratch, 'config'),
      UNTILDONE_HOME: join(scratch, 'state'),
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'the-scripted-model-takes-any',
    },
  });
  const told = stdout.trim().split('\n').map(readEvent).flatMap(describe);
  for (const [what, about] of told) console.log(`${what}: ${about}`);
  deepStrictEqual(
    told.map(([what]) => what),
    ['refused', 'allowed', 'allowed', 'refused', 'worker done', 'outcome claimed'],
  );
} finally {
  await model.close();
  rmSync(scratch, { recursive: true, force: true });
}

/** The few fields that are printed here; docs/run-events.md has them all. */
interface RunEvent {
  readonly type: string;
  readonly tool?: string;
  readonly ok?: boolean;
  readonly output?: string;
  readonly agentType?: string;
  readonly result?: string;
  readonly outcome?: string;
  readonly sentence?: string;
}

function readEvent(line: string): RunEvent {
  return JSON.parse(line) as RunEvent;
}

/** What it is and what it is about, for the events that matter here. */
function describe({
  type,
  tool = '',
  ok,
  output = '',
  agentType,
  result,
  outcome,
  sentence,
}: RunEvent) {
  if (type === 'tool-ended' && (tool === 'shell' || tool === 'write_file'))
    return [[ok ? 'allowed' : 'refused', `${tool}: ${output.split('\n', 1)[0]}`]];
  if (type === 'worker-ended') return [[`worker ${result}`, agentType]];
  return type === 'run-ended' ? [[`outcome ${outcome}`, sentence]] : [];
}
