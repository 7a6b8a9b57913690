// What the queue of checks promises, with real processes: each proof gives the promises
// that were broken, in words.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acceptProject } from '../support/accept-project.ts';
import { findRunner, type QueueStage, setQueueStage, waitUntil } from './queue-stage.ts';

type Proof = () => Promise<readonly string[]>;

function onStage(
  seconds: number,
  prove: (stage: QueueStage) => Promise<readonly string[]>,
): Proof {
  return async () => {
    const stage = await setQueueStage(seconds);
    try {
      return await prove(stage);
    } finally {
      stage.close();
    }
  };
}

/** Many processes that ask for the same check on the same files start it once. */
export function manyAskers(count: number): Proof {
  return onStage(1 + count / 10, async (stage) => {
    const askers = Array.from({ length: count }, (_, index) =>
      stage.start('asker', [`session-${index}`, stage.folder]),
    );
    const printed = await Promise.all(askers.map((asker) => asker.printed));
    const passed = printed.filter((text) => text === 'passed\n').length;
    return [
      ...(passed === count
        ? []
        : [`${passed} of ${count} askers were told that it passed`]),
      ...(stage.starts() === 1 ? [] : [`the check was started ${stage.starts()} times`]),
    ];
  });
}

/** The same with hooks as a host starts them, each of a session of its own. */
export function manyHooks(count: number): Proof {
  return onStage(0, async (stage) => {
    const seconds = 2 + count / 8;
    const command = `echo started >> ${stage.environment['COUNTED']}; sleep ${seconds}`;
    const config = { checks: { count: { command } }, goal: ['count'] };
    writeFileSync(join(stage.folder, 'untildone.json'), JSON.stringify(config));
    acceptProject(stage.environment['UNTILDONE_HOME'] ?? '', stage.folder);
    const call = (index: number, fields: object): Promise<string> => {
      const shared = {
        session_id: `session-${index}`,
        transcript_path: join(stage.folder, '..', `none-${index}.jsonl`),
        cwd: stage.folder,
        prompt_id: `prompt-${index}`,
        permission_mode: 'default',
      };
      return stage.start('hook', ['claude-code'], {
        input: JSON.stringify({ ...shared, ...fields }),
      }).printed;
    };
    const all = (fields: (index: number) => object): Promise<string[]> =>
      Promise.all(
        Array.from({ length: count }, (_, index) => call(index, fields(index))),
      );
    await all(() => ({ hook_event_name: 'UserPromptSubmit', prompt: 'Do the work.' }));
    await all((index) => ({
      hook_event_name: 'PostToolUse',
      tool_name: 'Write',
      tool_input: { file_path: join(stage.folder, 'a.txt'), content: 'a' },
      tool_response: { type: 'create' },
      tool_use_id: `write-${index}`,
    }));
    const answers = await all(() => ({
      hook_event_name: 'Stop',
      stop_hook_active: false,
      last_assistant_message: 'I am done.',
      background_tasks: [],
      session_crons: [],
    }));
    const sessions = await stage.read((store) => store.sessions({ limit: 1000 }));
    const done = sessions.filter(({ settled }) => settled?.outcome === 'done').length;
    return [
      ...(done === count
        ? []
        : [`${done} of ${count} sessions are done; one was told ${answers[0]}`]),
      ...(stage.starts() === 1 ? [] : [`the check was started ${stage.starts()} times`]),
    ];
  });
}

/** Its lease runs out, and the check is run by another one. */
export const killedRunner: Proof = onStage(3, async (stage) => {
  const asker = stage.start('asker', ['session', stage.folder]);
  const begun = await waitUntil(() => stage.starts() === 1);
  const runner = findRunner(stage.folder);
  if (!begun || runner === null) return ['no runner began the check'];
  process.kill(runner, 'SIGKILL');
  const printed = await asker.printed;
  return [
    ...(printed === 'passed\n' ? [] : [`the asker was told ${JSON.stringify(printed)}`]),
    ...(stage.starts() === 2 ? [] : [`the check was started ${stage.starts()} times`]),
  ];
});

/** The result reaches the inbox of the session all the same. */
export const killedAsker: Proof = onStage(1, async (stage) => {
  const asker = stage.start('asker', ['session', stage.folder]);
  if (!(await waitUntil(() => stage.starts() === 1))) return ['nobody began the check'];
  asker.child.kill('SIGKILL');
  await asker.printed;
  return resultIn(stage);
});

/**
 * A runner is nobody's child: it survives the end of everything that its starter belongs
 * to.
 */
export const killedGroup: Proof = onStage(1, async (stage) => {
  const asker = stage.start('asker', ['session', stage.folder], { detached: true });
  if (!(await waitUntil(() => stage.starts() === 1))) return ['nobody began the check'];
  const { pid } = asker.child;
  if (pid === undefined) return ['the asker did not start'];
  process.kill(-pid, 'SIGKILL');
  await asker.printed;
  const runner = findRunner(stage.folder);
  return runner === null
    ? ['the runner ended with the group of its starter']
    : resultIn(stage);
});

async function resultIn(stage: QueueStage): Promise<readonly string[]> {
  const isThere = async (): Promise<boolean> =>
    (await stage.inbox('session')).some(
      (event) => event.type === 'check-finished' && event.result === 'passed',
    );
  return (await waitUntil(isThere))
    ? []
    : ['the result never reached the inbox of the session'];
}
