// Which workers there are: three that come along, changed or joined by what the configuration says. A project's file
// may narrow a worker and add some, but a built-in one never gets more tools by it, and its words stay words.
import { closestName } from '../../core/config/closest-name.ts';
import { quoted } from '../../core/config/excerpt.ts';
import type { Origins } from '../../core/config/merge.ts';
import { joinPath } from '../../core/config/problem.ts';
import type { Settings } from '../../core/config/settings.ts';
import type { WorkerSetting } from '../../core/config/worker-settings.ts';
import { workspaceTools } from '../workspace/workspace-tools.ts';
import type { WorkerType } from './worker.ts';

const toolNames = workspaceTools.map(({ name }) => name);
const reading = ['read_file', 'list_directory', 'glob', 'grep'];
const running = ['shell', 'start_job', 'read_job', 'stop_job', 'list_jobs'];

/** Enough for a todo of a plan; a worker that needs more has got too large a todo. */
const limits = { maxSteps: 40, timeoutSeconds: 1800, maxTokens: null } as const;

const common = { ...limits, prompt: null, isProjectPrompt: false, modelName: null } as const;

const builtIn: Readonly<Record<string, WorkerType>> = {
  explorer: {
    ...common,
    name: 'explorer',
    purpose: 'reads and searches the workspace and reports what it found; changes nothing and runs nothing',
    tools: reading,
    timeoutSeconds: 600,
  },
  coder: {
    ...common,
    name: 'coder',
    purpose: 'reads, writes and edits files and runs commands, as far as this run may',
    tools: toolNames,
  },
  tester: {
    ...common,
    name: 'tester',
    purpose: 'reads files and runs commands to see whether something works; mends nothing itself',
    tools: [...reading, ...running],
  },
};

/** A name stands in prompts and on terminals: nothing in it may need quoting. */
const goodName = /^[a-z0-9][a-z0-9_-]{0,39}$/;

export type WorkerTypes =
  | { readonly ok: true; readonly workers: readonly WorkerType[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly sentence: string };

/** @param origins who said what; `trusted`: no file of a project had a say */
export function workerTypes(
  { workers }: Pick<Settings, 'workers'>,
  origins: Origins | 'trusted',
): WorkerTypes {
  const warnings: string[] = [];
  const found: WorkerType[] = [];
  for (const name of new Set([...Object.keys(builtIn), ...Object.keys(workers)])) {
    const setting = (Object.hasOwn(workers, name) ? workers[name] : undefined) ?? {};
    const path = joinPath('workers', name);
    if (!goodName.test(name))
      return refuse(`${path}: the name of a worker has letters, digits, - and _, at most 40 of them.`);
    const unknown = setting.tools?.find((tool) => !toolNames.includes(tool));
    if (unknown !== undefined) return refuse(unknownTool(`${path}.tools`, unknown));
    if (setting.enabled === false) continue;
    const isProjects = (field: string) => origins !== 'trusted' && origins[`${path}.${field}`] === 'project';
    const base = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
    const worker = merge(name, base, setting, isProjects('prompt'));
    if (worker === null) return refuse(`${path} needs a purpose: what it is for, in a few words.`);
    const kept = base === undefined ? worker.tools : worker.tools.filter((tool) => base.tools.includes(tool));
    if (!isProjects('tools') || kept.length === worker.tools.length) found.push(worker);
    else {
      warnings.push(
        `${path}.tools in the project’s untildone.json gives it no tools that it has not by itself.`,
      );
      found.push({ ...worker, tools: kept });
    }
  }
  return { ok: true, workers: found, warnings };
}

/** null: an own worker without a purpose. */
function merge(
  name: string,
  base: WorkerType | undefined,
  setting: WorkerSetting,
  isProjectPrompt: boolean,
): WorkerType | null {
  const purpose = setting.purpose ?? base?.purpose;
  if (purpose === undefined) return null;
  const start = base ?? { ...common, tools: reading };
  return {
    name,
    purpose,
    prompt: setting.prompt ?? start.prompt,
    isProjectPrompt: setting.prompt !== undefined && isProjectPrompt,
    tools: setting.tools ?? start.tools,
    modelName: setting.model ?? start.modelName,
    maxSteps: setting.maxSteps ?? start.maxSteps,
    timeoutSeconds: setting.timeoutSeconds ?? start.timeoutSeconds,
    maxTokens: setting.maxTokens ?? start.maxTokens,
  };
}

function unknownTool(path: string, tool: string): string {
  const closest = closestName(tool, toolNames);
  const meant = closest === null ? `known are ${toolNames.join(', ')}` : `did you mean ${closest}?`;
  return `${path}: there is no tool ${quoted(tool, 60)}; ${meant}${closest === null ? '.' : ''}`;
}

function refuse(sentence: string): { readonly ok: false; readonly sentence: string } {
  return { ok: false, sentence };
}
