// One story in a real host, from an empty project to the record that it left: `init` as a
// person runs it, the scripted model, human messages one after the other, and then what
// everyone saw. It judges nothing.
import { randomUUID } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type HostRow, hostOf } from '../../../src/hosts/hosts.ts';
import {
  type LoggedRequest,
  type Script,
  type ScriptedModel,
  startScriptedModel,
} from '../../../src/scripted-model/index.ts';
import { acceptProject } from '../../support/accept-project.ts';
import { continuationsIn } from './continuations.ts';
import { hostProgram } from './install-host.ts';
import { createProject, type Project } from './project.ts';
import {
  type Breakage,
  type RealHost,
  type RunningTurn,
  type Surroundings,
  startTurn,
  type Turn,
} from './real-host.ts';
import { readHookLog, readRecord, type SessionRecord } from './record.ts';
import { untildone } from './untildone.ts';

export interface Play {
  readonly scripts: readonly Script[];
  /** False: the host without us. */
  readonly installed?: boolean;
  /** Becomes `untildone.json`, which the human accepted. */
  readonly config?: object;
  /** Changes to the project after `init`. */
  readonly prepare?: (around: Surroundings) => void | Promise<void>;
  readonly environment?: Readonly<Record<string, string>>;
  /** What the human does; default: says "Do it." and waits for the end. */
  readonly drive?: (stage: Stage) => Promise<void>;
}

export interface Conversation {
  /** Starts a turn. */
  start(text: string): RunningTurn;
  /** Says it and waits until the host has ended. */
  say(text: string): Promise<Turn>;
}

export interface Stage extends Surroundings, Conversation {
  /** A second conversation in the same project. */
  open(): Conversation;
  continuations(): readonly string[];
  /** Our own command line, in the project. */
  untildone(...words: readonly string[]): Promise<string>;
}

export interface Played {
  /** In the order in which they ended. */
  readonly turns: readonly Turn[];
  /** Without titles and summaries. */
  readonly requests: readonly LoggedRequest[];
  /** As the model received them. */
  readonly continuations: readonly string[];
  readonly sessions: readonly SessionRecord[];
  /** The first main session; an empty record if nothing was written. */
  readonly session: SessionRecord;
  readonly files: readonly string[];
  /** What the host showed to the human of ours; null: it shows nothing headless. */
  readonly messages: readonly string[] | null;
  /**
   * What `untildone status` says at the end: the other place where the human is told.
   * Where the host shows nothing, also `plan show` and `doctor`.
   */
  readonly status: string;
  /** Why hooks let the agent go without deciding. */
  readonly logged: readonly string[];
}

export interface Bench {
  readonly host: RealHost;
  readonly row: HostRow;
  play(given: Play): Promise<Played>;
}

const nothing: SessionRecord = {
  id: '',
  kind: 'main',
  outcome: null,
  reason: null,
  latch: null,
  decisions: [],
  events: [],
  todos: [],
};

export function openBench(host: RealHost): Bench {
  const row = hostOf(host.name);
  if (row === undefined) throw new Error(`src/hosts/hosts.ts has no row "${host.name}".`);
  return { host, row, play: (given) => play(host, given) };
}

/**
 * A project in whose environment the host is found by its name and is quiet, also when
 * our own commands start it.
 */
export function createHostProject(host: RealHost, model: ScriptedModel): Project {
  const project = createProject();
  const bin = dirname(hostProgram(host.name, host.program));
  const environment = { ...project.environment, ...host.environment({ project, model }) };
  const path = [bin, project.environment['PATH']].join(delimiter);
  return { ...project, environment: { ...environment, PATH: path } };
}

async function play(host: RealHost, given: Play): Promise<Played> {
  const scripts = given.scripts.map((one) => ({
    ...one,
    family: one.family ?? host.family,
  }));
  const model = await startScriptedModel({ scripts });
  const project = createHostProject(host, model);
  const running: RunningTurn[] = [];
  const turns: Turn[] = [];
  const open = (): Conversation => {
    let conversation: string = randomUUID();
    let isFirst = true;
    const start = (text: string): RunningTurn => {
      const message = { project, model, text, conversation, isFirst };
      isFirst = false;
      const turn = startTurn(host, message, given.environment);
      running.push(turn);
      const ended = turn.ended.then((one) => {
        turns.push(one);
        if (message.isFirst) conversation = host.conversationIn?.(one) ?? conversation;
        return one;
      });
      return { ...turn, ended };
    };
    return { start, say: (text) => start(text).ended };
  };
  const stage: Stage = {
    project,
    model,
    open,
    ...open(),
    continuations: () => continuationsIn(model.requests),
    untildone: (...words) => untildone(project, ...words),
  };
  try {
    host.settle?.(stage);
    if (given.config !== undefined) {
      project.write('untildone.json', JSON.stringify(given.config));
      acceptProject(project.state, project.directory);
    }
    const settled = new Set(project.files());
    if (given.installed !== false) await install(host, project);
    await given.prepare?.(stage);
    await (given.drive ?? drive)(stage);
    const sessions = await readRecord(project).catch(() => []);
    const messages = messagesOf(host, turns);
    return {
      turns,
      requests: model.requests.filter(({ isAside }) => !isAside),
      continuations: stage.continuations(),
      sessions,
      session: sessions[0] ?? nothing,
      files: project.files().filter((name) => !settled.has(name)),
      messages,
      status: sessions.length === 0 ? '' : await whatWeSay(project, messages === null),
      logged: [...new Set(readHookLog(project).map(({ code }) => code))],
    };
  } finally {
    for (const turn of running) turn.kill();
    await Promise.allSettled(running.map(({ ended }) => ended));
    await model.close();
    project.remove();
  }
}

/**
 * @param all where the host shows nothing: also what is open, and what is wrong with the
 * project
 */
async function whatWeSay(project: Project, all: boolean): Promise<string> {
  const commands = [['status'], ...(all ? [['plan', 'show'], ['doctor']] : [])];
  const said = commands.map((words) =>
    untildone(project, ...words).catch(({ stdout }) => String(stdout)),
  );
  return (await Promise.all(said)).join('\n');
}

async function drive({ say }: Stage): Promise<void> {
  await say('Do it.');
}

function messagesOf(host: RealHost, turns: readonly Turn[]): readonly string[] | null {
  const each = turns.map((turn) => host.messages(turn));
  return each.includes(null) ? null : each.flatMap((messages) => messages ?? []);
}

export function install(host: RealHost, project: Project): Promise<string> {
  return untildone(project, 'init', host.name, ...(host.initWords ?? []));
}

/**
 * Our program as `init` copied it, replaced: the host's settings, and what it trusts in
 * them, stay as they are.
 */
export async function breakProgram(
  { host, row }: Bench,
  project: Project,
  how: Breakage,
): Promise<void> {
  const { programs } = await row.installer();
  const [version = ''] = readdirSync(join(project.state, 'bin'));
  const text = (host.brokenProgram ?? brokenHook)(how);
  writeFileSync(join(project.state, 'bin', version, programs[0]!), text);
}

function brokenHook(how: Breakage): string {
  if (how === 'crash') return "throw new Error('The hook is broken.');\n";
  if (how === 'garbage') return "console.log('{ this is no answer');\n";
  // At the stop alone: a host waits for each hook as long as its settings say.
  return "if (String(require('node:fs').readFileSync(0)).includes('stop_hook_active')) setInterval(() => {}, 1000);\n";
}
