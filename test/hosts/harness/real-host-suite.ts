// What every real host keeps, as one suite: the same stories, told by the scripted model,
// in each host's own program. What a host cannot show is read from its capabilities, and
// then it is held to the other promise; nothing is left out.
import { describe, it, type TestContext } from 'vitest';
import type { RealHost } from './real-host.ts';
import { openBench } from './real-host-stage.ts';
import { checkStories } from './stories/check-stories.ts';
import { endingStories } from './stories/ending-stories.ts';
import { honestyStories } from './stories/honesty-stories.ts';
import { humanStories } from './stories/human-stories.ts';
import { troubleStories } from './stories/trouble-stories.ts';

const stories = [
  ...endingStories,
  ...honestyStories,
  ...humanStories,
  ...checkStories,
  ...troubleStories,
];

/**
 * Seconds on a machine with nothing else to do; three turns of a slow host on a busy one.
 */
const longestMs = 300_000;

declare module 'vitest' {
  interface TaskMeta {
    /** How the promise was kept: for the table in docs/hosts. */
    kept?: string;
  }
}

export function describeRealHost(host: RealHost): void {
  const bench = openBench(host);
  const isSample = process.env['UNTILDONE_HOST_SAMPLE'] === '1';
  describe(`${bench.row.title}, the real program`, () => {
    for (const { id, name, tell } of stories.filter(
      (story) => story.isSample || !isSample,
    )) {
      const play = async ({ task }: TestContext) => {
        task.meta.kept = (await tell(bench)) ?? 'kept';
      };
      it(`${id}: ${name}`, play, longestMs);
    }
  });
}
