// Which workers there are: three that come along, changed or joined by what the configuration says. A project's file
// may narrow a worker and add some, but a built-in one never gets more tools by it, and its words stay words. Nothing
// here is about rights: a worker gets a part of the run's tools, never others.

import type { Origins } from '../../core/config.ts';
import type { Policy } from '../../core/policy.ts';
import { closestName, joinPath, quoted } from '../../core/problem.ts';
import type { Settings } from '../../core/settings.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import { workspaceTools } from '../workspace/workspace-tools.ts';

export interface WorkerType {
  readonly name: string;
  readonly purpose: string;
  readonly prompt: string | null;
  /** The words come from the project's file: information from the workspace, not the human's orders. */
  readonly isProjectPrompt: boolean;
  readonly tools: readonly string[];
  readonly modelName: string | null;
  readonly maxSteps: number;
  readonly timeoutSeconds: number;
  readonly maxTokens: number | null;
}

export interface Worker extends WorkerType {
  /** null: that of the run. */
  readonly model: ResolvedModel | null;
}

export const delegateToolName = 'delegate';

/** M7: whatever a worker is said to have, it gets a part of what works in the workspace, and nothing for plans. */
export function workerTools<Tool extends { readonly name: string; readonly family: string }>(
  { tools }: Pick<WorkerType, 'tools'>,
  ofRun: readonly Tool[],
): readonly Tool[] {
  return ofRun.filter(({ family, name }) => family === 'workspace' && tools.includes(name));
}

/** M1: in a run with workers, these are the agentTypes that a todo may have. */
export function withWorkerTypes(policy: Policy, workers: readonly Worker[]): Policy {
  if (workers.length === 0) return policy;
  const agentTypes = workers.map(({ name }) => name);
  return { ...policy, settings: { ...policy.settings, agentTypes } };
}

const toolNames = workspaceTools.map(({ name }) => name);
const reading = ['read_file', 'list_directory', 'glob', 'grep'];

/** Enough for a todo of a plan; a worker that needs more has got too large a todo. */
const limits = { maxSteps: 40, timeoutSeconds: 1800, maxTokens: null } as const;
const common = { ...limits, prompt: null, isProjectPrompt: false, modelName: null, tools: reading } as const;

const builtIn: Readonly<Record<string, Omit<WorkerType, 'name'>>> = {
  explorer: {
    ...common,
    purpose: 'reads and searches the workspace and reports what it found; changes nothing and runs nothing',
    timeoutSeconds: 600,
  },
  coder: {
    ...common,
    purpose: 'reads, writes and edits files and runs commands, as far as this run may',
    tools: toolNames,
  },
  tester: {
    ...common,
    purpose: 'reads files and runs commands to see whether something works; mends nothing itself',
    tools: [...reading, 'shell', 'start_job', 'read_job', 'stop_job', 'list_jobs'],
  },
};

/** A name stands in prompts and on terminals: nothing in it may need quoting. */
const goodName = /^[a-z0-9][a-z0-9_-]{0,39}$/;

export type WorkerTypes =
  | { readonly ok: true; readonly workers: readonly WorkerType[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly sentence: string };

export function workerTypes(settings: Pick<Settings, 'workers'>, origins: Origins | 'trusted'): WorkerTypes {
  const refuse = (sentence: string) => ({ ok: false, sentence }) as const;
  const warnings: string[] = [];
  const workers: WorkerType[] = [];
  for (const name of new Set([...Object.keys(builtIn), ...Object.keys(settings.workers)])) {
    const setting = (Object.hasOwn(settings.workers, name) ? settings.workers[name] : undefined) ?? {};
    const path = joinPath('workers', name);
    if (!goodName.test(name))
      return refuse(`${path}: the name of a worker has letters, digits, - and _, at most 40 of them.`);
    const unknown = setting.tools?.find((tool) => !toolNames.includes(tool));
    if (unknown !== undefined) return refuse(unknownTool(`${path}.tools`, unknown));
    if (setting.enabled === false) continue;
    const isProjects = (field: string) => origins !== 'trusted' && origins[`${path}.${field}`] === 'project';
    const base = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
    const purpose = setting.purpose ?? base?.purpose;
    if (purpose === undefined) return refuse(`${path} needs a purpose: what it is for, in a few words.`);
    const { enabled: _, model, ...said } = setting;
    const start = { ...(base ?? common), ...said };
    const isBounded = base !== undefined && isProjects('tools');
    const tools = isBounded ? start.tools.filter((tool) => base.tools.includes(tool)) : start.tools;
    if (tools.length < start.tools.length)
      warnings.push(
        `${path}.tools in the project’s untildone.json gives it no tools that it has not by itself.`,
      );
    const isProjectPrompt = setting.prompt !== undefined && isProjects('prompt');
    workers.push({ ...start, name, purpose, isProjectPrompt, tools, modelName: model ?? start.modelName });
  }
  return { ok: true, workers, warnings };
}

function unknownTool(path: string, tool: string): string {
  const closest = closestName(tool, toolNames);
  const meant = closest === null ? `known are ${toolNames.join(', ')}.` : `did you mean ${closest}?`;
  return `${path}: there is no tool ${quoted(tool, 60)}; ${meant}`;
}
