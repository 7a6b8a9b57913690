// `untildone run --with HOST` with the real host and the scripted model: a project, the
// run as a process, and what it told. Each start of the host is noted by a script in
// front of it, so that tests can count starts and end one.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentEvent, RunEnded } from '../../../src/agent/agent-event.ts';
import {
  type Script,
  type ScriptedModel,
  startScriptedModel,
} from '../../../src/scripted-model/index.ts';
import { hostProgram } from './install-host.ts';
import { createProject, type Project } from './project.ts';
import type { RealHost } from './real-host.ts';

/** What is particular to one host; the stories are the same for all. */
export interface DriveStage {
  readonly host: RealHost;
  /** Besides what the host is given when nobody drives it. */
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * Variables under which the host takes few continuations in a row; absent: it takes any
   * number.
   */
  readonly lowCap?: Readonly<Record<string, string>>;
  /** Switches our hooks off, as a human might; absent: it cannot be done. */
  silence?(project: Project): Readonly<Record<string, string>>;
  /** It tells no tokens, so that a budget of them is wrong usage. */
  readonly isSilentOnTokens?: true;
  /** Flags behind `--` that change nothing. */
  readonly flags: readonly string[];
}

export const untildoneProgram = fileURLToPath(
  new URL('../../../dist/bin.js', import.meta.url),
);
/** Less than a test may take, so that a run that hangs is ended by whoever started it. */
const longestRunMs = 200_000;

export interface Start {
  readonly pid: number;
  readonly words: string;
}

export interface Run {
  /** Of the run itself. */
  readonly child: ChildProcess;
  readonly events: AgentEvent[];
  printed(): string;
  readonly ended: Promise<number | null>;
}

export interface Driven {
  readonly project: Project;
  readonly model: ScriptedModel;
  readonly environment: Readonly<Record<string, string>>;
  /** Starts of the host so far. */
  starts(): readonly Start[];
  /** `untildone run …`, with NDJSON as its output. */
  run(words: readonly string[], more?: Readonly<Record<string, string>>): Run;
}

/** In a project of its own, with everything ended and removed behind it. */
export async function onDriveStage<Result>(
  stage: DriveStage,
  scripts: readonly Script[],
  use: (driven: Driven) => Promise<Result>,
): Promise<Result> {
  const project = createProject();
  const model = await startScriptedModel({ scripts });
  const runs: ChildProcess[] = [];
  const bin = join(project.root, 'bin');
  const log = join(project.root, 'starts');
  mkdirSync(bin);
  const { host, variables } = stage;
  const path = hostProgram(host.name, host.program);
  writeFileSync(
    join(bin, host.program),
    `#!/bin/sh\necho "$$ $*" | tr '\\n' ' ' >> '${log}'; echo >> '${log}'\nexec '${path}' "$@"\n`,
  );
  chmodSync(join(bin, host.program), 0o755);
  host.settle?.({ project, model });
  const settled = { ...host.environment({ project, model }), ...variables };
  const environment = {
    ...project.environment,
    ...settled,
    PATH: `${bin}:${project.environment['PATH']}`,
  };
  try {
    return await use({
      project,
      model,
      environment,
      starts: () => readStarts(log),
      run(words, more = {}) {
        const child = spawn(
          process.execPath,
          [untildoneProgram, 'run', ...withJson(words)],
          {
            cwd: project.directory,
            env: { ...environment, ...more },
            stdio: ['ignore', 'pipe', 'pipe'],
            detached: true,
          },
        );
        runs.push(child);
        return followRun(child);
      },
    });
  } finally {
    // The guardian of a run ends its host.
    for (const child of runs) endGroup(child);
    for (const { pid } of readStarts(log)) endGroup({ pid });
    await model.close();
    project.remove();
  }
}

/** Before what is the host's. */
function withJson(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  return end === -1
    ? [...words, '--json']
    : [...words.slice(0, end), '--json', ...words.slice(end)];
}

function readStarts(log: string): readonly Start[] {
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  return lines.flatMap((line) => {
    const [, pid, words = ''] = /^(\d+) (.*)$/u.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), words }];
  });
}

export function endGroup({ pid }: { readonly pid?: number | undefined }): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Safe: it is gone already, which is what was wanted.
  }
}

function followRun(child: ChildProcess): Run {
  const events: AgentEvent[] = [];
  let printed = '';
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines)
      if (line.startsWith('{')) events.push(JSON.parse(line) as AgentEvent);
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
  });
  const limit = setTimeout(() => {
    printed += `\nended by the test after ${longestRunMs} ms`;
    endGroup(child);
  }, longestRunMs);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(limit);
      resolve(code);
    });
  });
  return { child, events, printed: () => printed, ended };
}

export const endOf = ({ events }: Pick<Run, 'events'>): RunEnded | undefined =>
  events.findLast((event) => event.type === 'run-ended');

export const countOf = (
  { events }: Pick<Run, 'events'>,
  type: AgentEvent['type'],
): number => events.filter((event) => event.type === type).length;
