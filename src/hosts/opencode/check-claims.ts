// What the agent is told with the answer to its own todo list: what was wrong with it, and, where the host leaves with
// its idle, which of its claims did not pass their checks. It is added behind the host's answer and changes nothing in
// it.
import { noNeeds } from '../../core/rows.ts';
import { quoteForModel } from '../../core/safe-text.ts';
import { quoteTail } from '../../core/texts/quote-tail.ts';
import type { Todo } from '../../core/todo.ts';
import type { Handled } from '../../engine/engine.ts';
import type { PluginContext } from './plugin-context.ts';

/** Failures that one answer tells; the rest is quoted by the next continuation. */
const mostTold = 5;

/** Empty: nothing to add. */
export async function describeWritten(context: PluginContext, written: Handled): Promise<string> {
  const { reply } = written;
  const said = [...(reply?.refused ?? []).map(({ sentence }) => sentence), ...(reply?.notices ?? [])];
  const failed = written.checks === null || !context.headless ? [] : await failedClaims(context, written);
  const lines = [...said, ...failed.map(describeFailure)];
  return lines.length === 0 ? '' : `\n\n${lines.map((line) => `untildone: ${line}`).join('\n')}`;
}

/** The host waits as long as the checks take: each has a limit of its own. */
async function failedClaims(
  { store }: PluginContext,
  { checks, reply, session }: Handled,
): Promise<readonly Todo[]> {
  // A check that could not be reported is run again at the stop: here it is shown as it stands.
  await checks?.catch(() => {});
  const claimed = new Set([...(reply?.changed ?? []), ...(reply?.created ?? [])].map(({ id }) => id));
  const { failed } = await store.read(async (reader) => {
    const now = await reader.session(session.id);
    return reader.rows(now ?? session, { ...noNeeds, failed: claimed.size });
  });
  return failed.filter(({ id }) => claimed.has(id)).slice(0, mostTold);
}

function describeFailure({ title, failureTail }: Todo): string {
  const printed = failureTail === null ? '' : `\nIt printed:\n${quoteTail(failureTail)}`;
  return `The check of ${quoteForModel(title)} failed, so it is not completed and stays open. Mend the cause, then complete it again.${printed}`;
}
