// The workers of a run, from the configuration, with their models. What is wrong with them is told before anything is
// started; what a project's file may not say about them is left out, with a word about it.
import { resolveModel } from '../agent/models/resolve-model.ts';
import { type Worker, workerTypes } from '../agent/workers/worker-types.ts';
import type { Origins } from '../core/config.ts';
import { UntildoneError } from '../core/error.ts';
import type { Settings } from '../core/settings.ts';
import type { Io } from './io.ts';
import { complain } from './print.ts';

export async function prepareWorkers(
  io: Io,
  settings: Settings,
  origins: Origins,
): Promise<readonly Worker[]> {
  const types = workerTypes(settings, origins);
  if (!types.ok) throw new UntildoneError('invalid-config', types.error);
  for (const warning of types.warnings) complain(io, `warning: ${warning}`);
  const workers: Worker[] = [];
  for (const type of types.workers) {
    if (type.modelName === null) workers.push({ ...type, model: null });
    else {
      const model = await resolveModel(type.modelName, { settings, origins, environment: io.env });
      if (!model.ok) throw new UntildoneError('usage', `The worker ${type.name}: ${model.error}`);
      workers.push({ ...type, model });
    }
  }
  return workers;
}
