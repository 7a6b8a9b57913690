// Plugins of a test, which go when it is finished.
import { onTestFinished } from 'vitest';
import {
  type CaseOptions,
  createPluginCase,
  type PluginCase,
  sessionId,
  todo,
} from './opencode-case.ts';

export async function startPlugin(options: CaseOptions = {}): Promise<PluginCase> {
  const created = await createPluginCase(options);
  onTestFinished(() => created.close());
  return created;
}

/** A human asked, the agent planned two todos and says that it is done. */
export async function stoppedPlugin(options: CaseOptions = {}): Promise<PluginCase> {
  const created = await startPlugin(options);
  const { host } = created;
  await host.says(sessionId, 'Do both.');
  await host.writesTodos(sessionId, [todo('first'), todo('second')]);
  await host.answers(sessionId, 'All done!');
  await host.idles(sessionId);
  await created.settle();
  return created;
}
