// What every run of the real pi needs: an environment in which it asks nobody but the
// scripted model. It starts nothing.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Surroundings } from '../harness/real-host.ts';

export const quietEnvironment = { PI_OFFLINE: '1' };

/** The model's place in the words of a command line. */
export const modelWords = ['--offline', '--provider', 'scripted', '--model', 'first'];

/** @param contextWindow in tokens: a small one is soon compacted */
export function seedHome(
  { project, model }: Surroundings,
  contextWindow = 2_000_000,
): void {
  const folder = join(project.home, '.pi', 'agent');
  mkdirSync(folder, { recursive: true });
  const models = [{ id: 'first', contextWindow, maxTokens: 8000 }];
  const scripted = {
    baseUrl: `${model.url}/v1`,
    api: 'openai-completions',
    apiKey: 'dummy',
    models,
  };
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ providers: { scripted } }));
}
