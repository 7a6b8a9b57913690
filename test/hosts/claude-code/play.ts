// One run of Claude Code from an empty project to the record that it left behind: `init`
// as a person runs it, the scripted model, the host, and then what everyone saw. It
// judges nothing; that is what tests are for.

import {
  type LoggedRequest,
  type Script,
  type ScriptedModel,
  startScriptedModel,
} from '../../../src/scripted-model/index.ts';
import { acceptProject } from '../../support/accept-project.ts';
import { continuationsIn } from '../harness/continuations.ts';
import { createProject, type Project } from '../harness/project.ts';
import { readRecord, type SessionRecord } from '../harness/record.ts';
import { untildone } from '../harness/untildone.ts';
import { type Claude, type ClaudeLine, startClaude } from './claude.ts';

export interface Play {
  readonly scripts: readonly Script[];
  /** Without it the test speaks in `drive`. */
  readonly prompt?: string;
  /** False: the host alone, with its todo tools, to show what it would do without us. */
  readonly installed?: boolean;
  /** Becomes `untildone.json`. */
  readonly config?: object;
  readonly words?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Changes to the project after `init`. */
  readonly prepare?: (project: Project) => void | Promise<void>;
  readonly drive?: (stage: Stage) => Promise<void>;
}

export interface Stage {
  readonly project: Project;
  readonly model: ScriptedModel;
  readonly claude: Claude;
}

export interface Played {
  readonly exitCode: number | null;
  readonly lines: readonly ClaudeLine[];
  readonly requests: readonly LoggedRequest[];
  /** As the model received them. */
  readonly continuations: readonly string[];
  readonly sessions: readonly SessionRecord[];
  /** The first main session; an empty record if nothing was written. */
  readonly session: SessionRecord;
  readonly files: readonly string[];
  /** Messages of our hooks that the host shows to the human. */
  readonly messages: readonly string[];
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

/** What `init` switches on, for a host that runs without us. */
const bareEnvironment = { CLAUDE_CODE_ENABLE_TODO_TOOLS: '1' };

export async function play(given: Play): Promise<Played> {
  return inProject(given.scripts, async (project, model) => {
    await prepareProject(project, given);
    const claude = startClaude(project, model, {
      prompt: given.prompt ?? null,
      words: given.words ?? [],
      environment: {
        ...(given.installed === false ? bareEnvironment : {}),
        ...given.environment,
      },
    });
    try {
      await given.drive?.({ project, model, claude });
      claude.endInput();
      const { code } = await claude.ended;
      return await look(project, model, claude, code);
    } finally {
      claude.end();
    }
  });
}

export async function inProject<T>(
  scripts: readonly Script[],
  use: (project: Project, model: ScriptedModel) => Promise<T>,
): Promise<T> {
  const project = createProject();
  const model = await startScriptedModel({ scripts });
  try {
    return await use(project, model);
  } finally {
    await model.close();
    project.remove();
  }
}

export async function prepareProject(
  project: Project,
  given: Omit<Play, 'scripts'>,
): Promise<void> {
  if (given.config !== undefined) {
    project.write('untildone.json', JSON.stringify(given.config));
    acceptProject(project.state, project.directory);
  }
  if (given.installed !== false) await untildone(project, 'init', 'claude-code');
  await given.prepare?.(project);
}

export async function look(
  project: Project,
  model: ScriptedModel,
  claude: Claude,
  exitCode: number | null,
): Promise<Played> {
  const sessions = await readRecord(project);
  return {
    exitCode,
    lines: claude.lines,
    requests: model.requests,
    continuations: continuationsIn(model.requests),
    sessions,
    session: sessions[0] ?? nothing,
    files: project.files().filter((name) => name !== 'untildone.json'),
    messages: messagesIn(claude.lines),
  };
}

export function messagesIn(lines: readonly ClaudeLine[]): readonly string[] {
  return lines.flatMap(({ subtype, content }) =>
    subtype === 'informational' &&
    typeof content === 'string' &&
    content.includes('untildone')
      ? [content]
      : [],
  );
}
