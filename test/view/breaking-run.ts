// A run of three seconds whose live view breaks after one: what it tells from then on
// must come as lines. Started in a terminal by the tests.
import { processIo } from '../../src/cli/io.ts';
import { openLiveView, openRunView } from '../../src/cli/show/live-view.ts';
import { drawLiving } from '../../src/cli/show/view.ts';

const io = processIo();
const breaksAt = Date.now() + 1000;
const hand = { interrupt: () => process.exit(130) };
process.on('SIGINT', hand.interrupt);
const output = openRunView(io, hand, (options) =>
  openLiveView({
    ...options,
    draw: (...living) => {
      if (Date.now() > breaksAt) throw new Error('planted');
      return drawLiving(...living);
    },
  }),
);
for (let step = 1; step <= 30; step += 1) {
  output.emit({
    type: 'notice',
    at: Date.now(),
    sessionId: 's',
    sentence: `step ${step} of 30`,
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
}
await output.close();
