// Which workers there are. A project's file gives a built-in one no more tools, and its
// words stay words.
import type { Origins } from '../../core/config.ts';
import { refuse } from '../../core/error.ts';
import { closestName, joinPath, quoteText } from '../../core/problem.ts';
import { ownValue } from '../../core/schema.ts';
import type { AskedSettings, Settings } from '../../core/settings.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import { workspaceTools } from '../workspace/workspace-tools.ts';

export interface WorkerType
  extends Required<Omit<Settings['workers'][string], WorkerField>>,
    /** What it does not say is that of the run. */
    Partial<AskedSettings> {
  readonly name: string;
  readonly prompt: string | null;
  /** From the project's file: not the human's orders. */
  readonly isProjectPrompt: boolean;
  readonly modelName: string | null;
}
type WorkerField = 'enabled' | 'prompt' | 'model' | keyof AskedSettings;

/** `model` null: that of the run. */
export type Worker = WorkerType & { readonly model: ResolvedModel | null };

export const delegateToolName = 'delegate';

/** M7: nothing for plans, whatever the configuration says. */
export function workerTools<Tool extends Readonly<Record<'name' | 'family', string>>>(
  { tools }: Pick<WorkerType, 'tools'>,
  ofRun: readonly Tool[],
): readonly Tool[] {
  return ofRun.filter(
    ({ family, name }) => family === 'workspace' && tools.includes(name),
  );
}

const toolNames = workspaceTools.map(({ name }) => name);
const reading = ['read_file', 'list_directory', 'glob', 'grep'];

const common = {
  // If a worker needs more steps, its todo is too large.
  maxSteps: 40,
  timeoutSeconds: 1800,
  maxTokens: null,
  prompt: null,
  isProjectPrompt: false,
  modelName: null,
  tools: reading,
};

const builtIn: Readonly<Record<string, Omit<WorkerType, 'name'>>> = {
  explorer: {
    ...common,
    purpose:
      'reads and searches the workspace and reports what it found; changes nothing and runs nothing',
    timeoutSeconds: 600,
  },
  coder: {
    ...common,
    purpose: 'reads, writes and edits files and runs commands, as far as this run may',
    tools: toolNames,
  },
  tester: {
    ...common,
    purpose:
      'reads files and runs commands to see whether something works; fixes nothing itself',
    tools: [...reading, 'shell', 'start_job', 'read_job', 'stop_job', 'list_jobs'],
  },
};

/** It stands in prompts and on terminals: nothing in it needs quoting. */
const goodName = /^[a-z0-9][a-z0-9_-]{0,39}$/;

export function workerTypes(settings: Pick<Settings, 'workers'>, origins: Origins) {
  const warnings: string[] = [];
  const workers: WorkerType[] = [];
  for (const name of new Set([
    ...Object.keys(builtIn),
    ...Object.keys(settings.workers),
  ])) {
    const { enabled = true, model, ...said } = ownValue(settings.workers, name) ?? {};
    const path = joinPath('workers', name);
    if (!goodName.test(name))
      return refuse(
        `${path}: the name of a worker has letters, digits, - and _, at most 40 of them.`,
      );
    const unknown = said.tools?.find((tool) => !toolNames.includes(tool));
    if (unknown !== undefined) {
      const closest = closestName(unknown, toolNames);
      const meant =
        closest === null
          ? `known are ${toolNames.join(', ')}.`
          : `did you mean ${closest}?`;
      return refuse(
        `${path}.tools: there is no tool ${quoteText(unknown, 60)}; ${meant}`,
      );
    }
    if (!enabled) continue;
    const base = ownValue(builtIn, name);
    const purpose = said.purpose ?? base?.purpose;
    if (purpose === undefined)
      return refuse(`${path} needs a purpose: what it is for, in a few words.`);
    const start = { ...(base ?? common), ...said };
    const isBounded = base !== undefined && origins[`${path}.tools`] === 'project';
    const tools = isBounded
      ? start.tools.filter((tool) => base.tools.includes(tool))
      : start.tools;
    const idle =
      'in the project’s untildone.json cannot give it tools that it does not have already.';
    if (tools.length < start.tools.length) warnings.push(`${path}.tools ${idle}`);
    const isProjectPrompt = origins[`${path}.prompt`] === 'project';
    workers.push({
      ...start,
      name,
      purpose,
      isProjectPrompt,
      tools,
      modelName: model ?? start.modelName,
    });
  }
  return { ok: true as const, workers, warnings };
}
