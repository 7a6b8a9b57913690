// Plays one scene to the live view on the terminal that it is started in, and holds it
// until Ctrl-C or q. What keys asked for is printed as a notice. Usage: node
// test/view/stage.ts SCENE [--breaks]
import { processIo } from '../../src/cli/io.ts';
import type { ViewAct } from '../../src/cli/show/keys.ts';
import { openLiveView } from '../../src/cli/show/live-view.ts';
import { drawLiving } from '../../src/cli/show/view.ts';
import { scenes } from './scenes.ts';

const [name, breaks] = process.argv.slice(2);
const scene = scenes.find((each) => each.name === name);
if (scene === undefined) throw new Error(`There is no scene ${name}.`);

function tell(act: ViewAct): void {
  const sentence = `asked for ${JSON.stringify(act)}`;
  view.emit({ type: 'notice', at: Date.now(), sessionId: '0198c7e4', sentence });
}

let drawings = 0;
const view = openLiveView({
  kind: scene.kind,
  io: processIo(),
  draw: (...living) => {
    drawings += 1;
    if (breaks !== undefined && drawings > 20) throw new Error('planted');
    return drawLiving(...living);
  },
  hand: {
    say: tell,
    answer: tell,
    reply: tell,
    pause: tell,
    resume: tell,
    stop: tell,
    interrupt: () => view.close().then(() => process.exit(0)),
  },
  onFailure: (error) => {
    process.stdout.write(`the view broke: ${(error as Error).message}; going on\n`);
    setTimeout(() => process.exit(3), 300);
  },
});
const events = scene.events(Date.now());
for (const event of events) view.emit(event);
if (events.at(-1)?.type === 'run-ended') {
  await view.close();
  process.exit(0);
}
