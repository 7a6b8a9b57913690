// From the end of an answer to the injection that follows it, by the host's own clock:
// both times stand in its messages.
import { always, plan, say, script } from '../../src/scripted-model/index.ts';
import { waitUntil } from '../../test/hosts/harness/wait-until.ts';
import { openConversation } from '../../test/hosts/opencode/conversation.ts';
import { startStage } from '../../test/hosts/opencode/stage.ts';

const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);
const perSession = 5;

export interface InjectionMeter {
  /** One session with this plugin; one gap for each continuation. */
  measure(plugin: string): Promise<readonly number[]>;
  close(): Promise<void>;
}

export async function createInjectionMeter(countdownMs: number): Promise<InjectionMeter> {
  const stage = await startStage([stubborn]);
  const config = {
    countdownSeconds: countdownMs / 1000,
    minIntervalSeconds: 0,
    maxStagnant: perSession,
    maxContinuations: perSession,
  };
  const folders = new Map<string, string>();
  return {
    async measure(plugin) {
      const directory =
        folders.get(plugin) ?? stage.folder({ plugins: [plugin], config });
      folders.set(plugin, directory);
      const conversation = await openConversation(stage.serve, directory);
      await conversation.say('Do it.');
      await conversation.waitForTurns(perSession + 1, 60);
      await waitUntil('the last answer is complete', async () => {
        const last = (await conversation.messages()).at(-1)?.info;
        return last?.role === 'assistant' && last.time.completed !== undefined;
      });
      const messages = await conversation.messages();
      return messages.flatMap(({ info }, index) => {
        const before = messages[index - 1]?.info.time.completed;
        return info.role === 'user' && before !== undefined
          ? [info.time.created - before]
          : [];
      });
    },
    close: () => stage.close(),
  };
}
