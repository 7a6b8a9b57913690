// A host with everything around it, for the tests of one file: the scripted model, a
// home, a state directory and one `opencode serve`, in which each test opens a folder and
// a session of its own.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type LoggedRequest,
  type Script,
  type ScriptedModel,
  startScriptedModel,
} from '../../../src/scripted-model/index.ts';
import { continuationsIn } from '../harness/continuations.ts';
import { createProject, type Project } from '../harness/project.ts';
import { type Conversation, openConversation } from './conversation.ts';
import { type FolderSettings, seedHome, settleFolder } from './opencode.ts';
import { type OurRecord, openOurRecord } from './our-record.ts';
import { type Serve, type ServeOptions, startServe } from './serve.ts';

export interface Surroundings {
  readonly project: Project;
  readonly model: ScriptedModel;
  readonly record: OurRecord;
  /**
   * A new folder with its own settings; sessions in it share nothing with those of other
   * folders.
   */
  folder(settings?: FolderSettings): string;
  /**
   * What the model was asked for the work of a session; titles and summaries are none.
   */
  requests(id: string): readonly LoggedRequest[];
  /** As the model received them, in this session. */
  continuations(id: string): readonly string[];
  close(): Promise<void>;
}

export interface Stage extends Surroundings {
  readonly serve: Serve;
  /** A session in a folder of its own. */
  open(settings?: FolderSettings): Promise<Conversation>;
}

/** Where the countdown is not the point. */
export const hasty = { countdownSeconds: 0.1, minIntervalSeconds: 0 };

/** All but the host itself, which a test starts as it likes. */
export async function createSurroundings(
  scripts: readonly Script[],
): Promise<Surroundings> {
  const project = createProject();
  seedHome(project);
  const model = await startScriptedModel({ scripts });
  const record = openOurRecord(project);
  const requests = (id: string): readonly LoggedRequest[] =>
    model.requests.filter(
      ({ headers, isAside }) => !isAside && headers['x-session-id'] === id,
    );
  let folders = 0;
  return {
    project,
    model,
    record,
    requests,
    continuations: (id) => continuationsIn(requests(id)),
    folder(settings = {}) {
      folders += 1;
      const directory = join(project.root, 'folders', String(folders));
      mkdirSync(directory, { recursive: true });
      settleFolder(directory, project, model, { config: hasty, ...settings });
      return directory;
    },
    async close() {
      await record.close();
      await model.close();
      project.remove();
    },
  };
}

export async function startStage(
  scripts: readonly Script[],
  options: ServeOptions = {},
): Promise<Stage> {
  const surroundings = await createSurroundings(scripts);
  const serve = await startServe(surroundings.project, options);
  return {
    ...surroundings,
    serve,
    open: (settings) => openConversation(serve, surroundings.folder(settings)),
    async close() {
      await serve.end();
      await surroundings.close();
    },
  };
}
