// What the pages tell people to type is typed here. The guides are played from top to
// bottom, each in an empty home: their files are written, their commands are run with the
// program as it is shipped and a scripted model behind it. Of all pages: settings are
// right, and every command and option exists.
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle, groups } from '../../scripts/build/bundle.ts';
import { helpOf } from '../../scripts/docs/reference-docs.ts';
import { flagName, settingPaths, validateConfig } from '../../src/core/config.ts';
import { settingNames } from '../../src/core/settings.ts';
import { hosts } from '../../src/hosts/hosts.ts';
import {
  complete,
  firstOf,
  inOrder,
  plan,
  type ScriptedModel,
  say,
  script,
  startScriptedModel,
  untilAllDone,
  whenTold,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { acceptProject } from '../support/accept-project.ts';
import { blocksOf, commandLines } from './fences.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].sort();
const guides = ['README.md', ...globSync('docs/guides/*.md', { cwd: root }).sort()];

/** Pages of reference whose commands can be run as they are. */
const alsoPlayed = [
  'docs/agents.md',
  'docs/configuration.md',
  'docs/explanation/evidence.md',
  'docs/permissions.md',
  'docs/reference/rules.md',
];

/** Pages whose commands are not played here, and why. */
const notPlayed: Readonly<Record<string, string>> = {
  'docs/checks.md':
    'it looks at sessions of its own story; the guide about checks plays the commands',
  'docs/enforcer.md':
    'a fragment without its program; examples/04-idle-enforcer.ts is a whole one, and runs',
  'docs/explanation/compared.md':
    'a loop around another program, which would call a model that costs money',
  'docs/frameworks/ai-sdk.md':
    'its programs are examples, which CI runs, and test/conformance',
  'docs/frameworks/claude-agent-sdk.md':
    'test/hosts/claude-agent-sdk starts the real program',
  'docs/frameworks/langchain.md': 'as for the AI SDK',
  'docs/frameworks/mastra.md': 'as for the AI SDK',
  'docs/frameworks/openai-agents.md': 'as for the AI SDK',
  'docs/run-with.md': 'it starts the real programs; test/hosts drives them',
  ...Object.fromEntries(
    hosts.map(({ name }) => [
      `docs/hosts/${name}.md`,
      'it installs the real program; test/hosts starts it',
    ]),
  ),
  'docs/library.md': 'its programs have tests of their own below',
  'docs/live-view.md': 'attach needs a run and a terminal; test/view has both',
  'docs/plan-files.md': 'the guide about plan files plays the same commands',
  'docs/run-events.md':
    'it hands the events to jq, which is not ours; events.test.ts tests them',
  'docs/reference/commands.md':
    'it looks at sessions of a recorded run; the tests of the commands make them',
  'docs/reference/library.md': 'signatures from the declarations, no programs',
  'docs/scripted-model.md': 'its programs have a test of their own below',
  'docs/trust.md': 'trust asks at a terminal; its own tests have one',
};

const greeting = 'export const greet = (name) => `Hello, ' + '$' + '{name}!`;\n';
/** What every guide finds: a project whose test fails until somebody does the work. */
const project: Readonly<Record<string, string>> = {
  'package.json':
    '{ "name": "demo", "type": "module", "scripts": { "test": "node check.mjs" } }\n',
  'check.mjs':
    "import { greet } from './greet.mjs';\nif (greet('Ada') !== 'Hello, Ada!') throw new Error('no');\n",
  'greet.mjs': "export const greet = () => 'Hello';\n",
};
/** The work. */
const result: Readonly<Record<string, string>> = {
  'greet.mjs': greeting,
  'CHANGELOG.md': '## [Unreleased]\n\n- Names.\n',
};
/** Pages that look at a session that has ended. */
const afterwards = [
  ...['claude-code', 'opencode', 'too-early-too-late'].map(
    (name) => `docs/guides/${name}.md`,
  ),
  'docs/explanation/evidence.md',
  'docs/reference/rules.md',
];
/** Pages about work that is done already. */
const worked = [
  'docs/guides/ci.md',
  'docs/guides/team-policy.md',
  'docs/guides/good-checks.md',
];

let scratch: string;
let program: string;
let model: ScriptedModel;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'untildone-docs-'));
  const dist = join(scratch, 'package', 'dist');
  for (const group of groups) await bundle(group, dist);
  // By these two the program knows its own folder.
  copyFileSync(join(root, 'package.json'), join(scratch, 'package', 'package.json'));
  mkdirSync(join(scratch, 'package', 'docs'));
  program = join(dist, 'bin.js');
  const work = Object.entries(result).map(([name, text]) => writeFile(name, text));
  const worker = script('works', [
    // A plan file is the plan.
    firstOf(
      whenTold(/Work through the plan/, ...work),
      inOrder(plan('Greet people by name'), ...work),
    ),
    untilAllDone((title) => [complete(title)]),
    say('Done.'),
  ]);
  model = await startScriptedModel({ scripts: [worker] });
});

afterAll(async () => {
  await model?.close();
  rmSync(scratch, { recursive: true, force: true });
});

/** A stand-in for what is not ours: it starts, says nothing and ends. */
function writeProgram(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, name), 0o755);
}

interface Played {
  readonly line: string;
  readonly code: number | null;
  readonly output: string;
}

/** In a shell of its own, without a terminal. */
function run(line: string, cwd: string, env: Record<string, string>): Promise<Played> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', line], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => (output += part));
    child.on('close', (code) => resolve({ line, code, output }));
  });
}

const standInClaude = join(root, 'test/docs/stand-in-claude.ts');

/** Only a human at a terminal can say this yes; here it is recorded as if they had. */
const saysYes = 'untildone trust';

async function play(page: string): Promise<Played[]> {
  const folder = mkdtempSync(join(scratch, 'guide-'));
  const home = join(folder, 'home');
  const bin = join(folder, 'bin');
  const workspace = join(folder, 'demo');
  for (const made of [home, workspace]) mkdirSync(made);
  writeProgram(
    bin,
    'untildone',
    `exec "${process.execPath}" --no-warnings "${program}" "$@"`,
  );
  // Stand-ins for the hosts: they print their version, and `claude -p` also plays one
  // turn.
  writeProgram(
    bin,
    'claude',
    `exec "${process.execPath}" --no-warnings "${standInClaude}" "$@"`,
  );
  writeProgram(bin, 'opencode', 'echo 1.18.33');
  const files: Record<string, string> = { ...project };
  const put = (texts: Readonly<Record<string, string>>): void => {
    for (const name of Object.keys(result))
      rmSync(join(workspace, name), { force: true });
    for (const [name, text] of Object.entries(texts))
      writeFileSync(join(workspace, name), text);
  };
  put(worked.includes(page) ? { ...files, ...result } : files);
  // A price is known only at the provider's own address.
  const settings = join(home, '.config', 'untildone');
  mkdirSync(settings, { recursive: true });
  writeFileSync(
    join(settings, 'untildone.json'),
    '{ "prices": { "anthropic/claude-sonnet-5-5": { "input": 2, "output": 10 } } }',
  );
  execFileSync('git', ['init', '--quiet'], { cwd: workspace });
  const environment = {
    PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: home,
    ANTHROPIC_API_KEY: 'any',
    ANTHROPIC_BASE_URL: model.url,
    STAND_IN_FILE: 'greet.mjs',
    STAND_IN_TEXT: greeting,
  };
  if (afterwards.includes(page))
    await run(
      'untildone run "Greet people by name" --check "npm test"',
      workspace,
      environment,
    );
  const played: Played[] = [];
  for (const { language, file, text } of blocksOf(read(page))) {
    if (file !== null) files[file] = text;
    if (file !== null) writeFileSync(join(workspace, file), text);
    // What installs and starts this repository has stages of its own in .ci/run.
    for (const line of language === 'sh'
      ? commandLines(text).filter((one) => !one.startsWith('npm '))
      : []) {
      // Every run of a page is an example of its own: the work is not done yet.
      if (/untildone run (?!--resume)/.test(line)) put(files);
      if (line === saysYes)
        acceptProject(join(home, '.local/state/untildone'), workspace);
      else played.push(await run(line, workspace, environment));
    }
  }
  return played;
}

describe('the guides, played', () => {
  it.each(guides)(
    'first-use 29: every command of %s does what the page says',
    async (page) => {
      const played = await play(page);
      expect(played.length).toBeGreaterThan(0);
      expect(played.filter(({ code }) => code !== 0)).toEqual([]);
    },
  );

  it('C4: the guide about CI shows how the session of `claude -p` ended', async () => {
    const [last] = (await play('docs/guides/ci.md')).filter(({ line }) =>
      line.includes('claude -p'),
    );
    expect(last).toMatchObject({ code: 0, output: 'Done.\ndone: tests passed\n' });
  });

  it.each(alsoPlayed)(
    'first-use 29: every command of %s starts and ends',
    async (page) => {
      const played = await play(page);
      expect(played.length).toBeGreaterThan(0);
      // These pages show options, not a story: a run may end with any outcome, but not in
      // an error or as wrong usage.
      expect(
        played.filter(({ code }) => code === null || [1, 2, 126, 127].includes(code)),
      ).toEqual([]);
    },
  );

  it('first-use 26: the program of docs/library.md prints what the agent would be told', async () => {
    const file = await programOf('docs/library.md', 'plan.mjs');
    const home = join(scratch, 'library-home');
    const { code, output } = await run(
      `"${process.execPath}" --no-warnings "${file}"`,
      scratch,
      {
        HOME: home,
      },
    );
    expect(output).toContain('1/2 completed, 1 remaining');
    expect(output).toContain('Write its test');
    expect(code).toBe(0);
  });

  it('first-use 27: the program of docs/library.md with the guard never shows the early "All done!"', async () => {
    const early = script('quits-early', [
      plan('Write the parser', 'Write its test'),
      complete('Write the parser'),
      say('All done!'),
      whenTold('1/2 completed, 1 remaining', complete('Write its test')),
      say('Now it is done.'),
    ]);
    const server = await startScriptedModel({ scripts: [early] });
    try {
      const file = await programOf('docs/library.md', 'guard.mjs', (text) =>
        text.replace('http://127.0.0.1:4010', server.url),
      );
      const { code, output } = await run(
        `"${process.execPath}" --no-warnings "${file}"`,
        scratch,
        {},
      );
      expect(output.trim()).toBe('Now it is done.');
      expect(code).toBe(0);
    } finally {
      await server.close();
    }
  });

  it('E6: the program of docs/library.md with words of its own prints them', async () => {
    const file = await programOf('docs/library.md', 'words.mjs');
    const env = { HOME: join(scratch, 'library-home') };
    const { code, output } = await run(
      `"${process.execPath}" --no-warnings "${file}"`,
      scratch,
      env,
    );
    expect(output).toMatch(
      /^\[TODO CONTINUATION\] Stand: 0\/1 completed, 1 remaining\.\nWeiter mit “Write the parser”/u,
    );
    expect(code).toBe(0);
  });

  it('15: the four lines of docs/library.md hold an agent as they stand', async () => {
    const early = [plan('one', 'two'), complete('one'), say('All done!')];
    const story = script('story', [...early, complete('two'), say('Now it is.')]);
    const server = await startScriptedModel({ scripts: [story] });
    const [lines] = blocksOf(read('docs/library.md')).filter(
      ({ language }) => language === 'ts',
    );
    const folder = mkdtempSync(join(scratch, 'lines-'));
    // Fails before the agent begins, and never again: this agent has nothing to mend it
    // with.
    writeFileSync(
      join(folder, 'package.json'),
      '{ "scripts": { "test": "test -f seen || (touch seen; exit 1)" } }',
    );
    try {
      const program = `
        import { createOpenAI } from '@ai-sdk/openai';
        import { ToolLoopAgent } from 'ai';
        globalThis.AI_SDK_LOG_WARNINGS = false;
        const model = createOpenAI({ baseURL: '${server.url}/v1', apiKey: 'any' }).chat('story');
        ${lines?.text}`;
      const file = await bundled('lines.mjs', program);
      const { code, output } = await run(
        `"${process.execPath}" --no-warnings "${file}"`,
        folder,
        {
          HOME: join(folder, 'home'),
          PATH: process.env['PATH'] ?? '',
        },
      );
      expect([code, output.trim()]).toEqual([0, 'done']);
      const told = server.requests.map(
        ({ body }) => (body as { messages: { content: unknown }[] }).messages,
      );
      const before = told[2] ?? [];
      const after = told[3] ?? [];
      expect(after.slice(0, before.length)).toEqual(before);
      expect(after.at(-2)?.content).toBe('All done!');
      expect(String(after.at(-1)?.content)).toContain('1/2 completed, 1 remaining');
    } finally {
      await server.close();
    }
  });

  it('the programs of docs/scripted-model.md: a server, an agent of the AI SDK, and `run`, which ends as claimed', async () => {
    const server = await programOf('docs/scripted-model.md', 'model.mjs', (text) =>
      text.replace('port: 4010, ', ''),
    );
    const child = spawn(process.execPath, ['--no-warnings', server], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const url = await new Promise<string>((resolve) => {
        child.stdout.on('data', (text) => {
          const [, address] = /listening on (\S+)/.exec(`${text}`) ?? [];
          if (address !== undefined) resolve(address);
        });
      });
      const agent = await programOf('docs/scripted-model.md', 'program.mjs', (text) =>
        text.replace('http://127.0.0.1:4010', url),
      );
      const said = await run(
        `"${process.execPath}" --no-warnings "${agent}"`,
        scratch,
        {},
      );
      expect(said.output.trim()).toBe('All done!');
      const workspace = mkdtempSync(join(scratch, 'scripted-'));
      const line = `"${process.execPath}" --no-warnings "${program}" run "write the parser"`;
      const environment = {
        HOME: workspace,
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'any',
      };
      expect(await run(line, workspace, environment)).toMatchObject({ code: 3 });
    } finally {
      child.kill();
    }
  });
});

/** A program of a page, bundled with the library as it is in the sources. */
async function programOf(
  page: string,
  name: string,
  change = (text: string) => text,
): Promise<string> {
  const [source] = blocksOf(read(page)).filter(({ file }) => file === name);
  return bundled(name, change(source?.text ?? ''));
}

async function bundled(name: string, contents: string): Promise<string> {
  const outfile = join(scratch, name);
  await build({
    stdin: { contents, resolveDir: root, sourcefile: name },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['bun:sqlite'],
    alias: {
      'untildone/enforcer': join(root, 'src/enforcer/index.ts'),
      'untildone/guard': join(root, 'src/guard/index.ts'),
      'untildone/scripted-model': join(root, 'src/scripted-model/index.ts'),
      untildone: join(root, 'src/index.ts'),
    },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return outfile;
}

describe('all pages', () => {
  it('C1: settings that a page shows are right, each by its name and value', () => {
    const wrong = pages.flatMap((page) =>
      blocksOf(read(page))
        .filter(({ language, file }) => language === 'json' && file !== 'opencode.json')
        .flatMap(({ text, line }) => {
          const value = JSON.parse(text);
          const isOurs = Object.keys(value).some((name) =>
            (settingNames as readonly string[]).includes(name),
          );
          const result = validateConfig(value);
          return isOurs && !result.ok
            ? [`${page}:${line} ${JSON.stringify(result)}`]
            : [];
        }),
    );
    expect(wrong).toEqual([]);
  });

  it('first-use 29: every page with something to type is played, or says here why not', () => {
    const typed = pages.filter((page) =>
      blocksOf(read(page)).some(({ language }) => ['sh', 'js', 'ts'].includes(language)),
    );
    const known = [...guides, ...alsoPlayed, ...Object.keys(notPlayed)];
    expect(typed.filter((page) => !known.includes(page))).toEqual([]);
    expect(Object.keys(notPlayed).filter((page) => !typed.includes(page))).toEqual([]);
  });

  it('first-use 19: every command and every option that a page tells people to type exists', async () => {
    const settings = new Set(settingPaths.map(flagName));
    const wrong: string[] = [];
    const known = new Map<string, string>();
    const helpFor = async (command: string): Promise<string> => {
      const text = known.get(command) ?? (await helpOf(command).catch(() => ''));
      known.set(command, text);
      return text;
    };
    for (const page of pages) {
      const lines = blocksOf(read(page))
        .filter(({ language }) => language === 'sh')
        .flatMap(({ text }) => commandLines(text));
      // What stands in a sentence counts too: `untildone why --json`.
      const inline = [
        ...read(page)
          .replace(/^```[\s\S]*?^```$/gm, '')
          .matchAll(/`(untildone [^`]+)`/g),
      ].map(([, line = '']) => line.replace(/\s+/g, ' '));
      for (const line of [...lines, ...inline]) {
        const [, words] = /(?:^|\s)untildone ([^|>;&]+)/.exec(line) ?? [];
        if (words === undefined || /[A-Z…|]/.test(words.split(' ')[0] ?? '')) continue;
        const [first = '', second = ''] = words.split(' ');
        if (first.startsWith('-')) continue;
        const help = (await helpFor(`${first} ${second}`)) || (await helpFor(first));
        if (help === '') wrong.push(`${page}: untildone ${first}`);
        // Behind `--` stand flags of another program.
        const own = words.replace(/"[^"]*"/g, '').replace(/ -- .*/, '');
        const options = own.match(/(?<=^|\s)--[a-z][a-z-]*/g) ?? [];
        const unknown = options.filter(
          (option) => !help.includes(option) && !settings.has(option),
        );
        wrong.push(...unknown.map((option) => `${page}: untildone ${first} ${option}`));
      }
    }
    expect(wrong).toEqual([]);
  });
});
