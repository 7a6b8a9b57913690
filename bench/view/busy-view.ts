// A live view under load, on the terminal that it is started in: 500 todos, text that
// streams, 20 updates a second. Writes the CPU time that it took into a file. Usage:
// busy-view SECONDS FILE
import { writeFileSync } from 'node:fs';
import type { AgentEvent, TodoView } from '../../src/agent/agent-event.ts';
import { processIo } from '../../src/cli/io.ts';
import { openLiveView } from '../../src/cli/show/live-view.ts';

const [seconds = '5', file = ''] = process.argv.slice(2);
const sessionId = 'bench';
const words =
  'The parser reads one more construct of the language, and its test says so in a sentence. '.split(
    ' ',
  );
function statusOf(index: number, completed: number): TodoView['status'] {
  if (index < completed) return 'completed';
  return index === completed ? 'in_progress' : 'pending';
}
const todo = (index: number, completed: number): TodoView => ({
  id: `${index}`,
  title: `Convert suite number ${index + 1} to the new runner`,
  priority: 'medium',
  status: statusOf(index, completed),
  verification: index < completed ? 'passed' : 'none',
  dropped: false,
  outcome: null,
  reason: null,
});

const view = openLiveView({
  kind: 'run',
  io: processIo(),
  hand: { interrupt: () => process.exit(1) },
  onFailure: () => process.exit(2),
});
const tell = (event: object): void =>
  view.emit({ at: Date.now(), sessionId, ...event } as AgentEvent);
const place = {
  model: 'scripted/model',
  directory: '/',
  resumed: false,
  permissions: 'auto',
};
tell({ type: 'run-started', goal: 'convert everything', ...place });
let count = 0;
const updates = setInterval(() => {
  count += 1;
  // A paragraph of 40 words, a todo every second, a call every second.
  tell({
    type: 'text',
    text: `${words[count % words.length]}${count % 40 === 0 ? '\n\n' : ' '}`,
  });
  const call = { callId: `${Math.floor(count / 20)}`, tool: 'shell' };
  if (count % 20 === 1)
    tell({ type: 'tool-started', ...call, input: { command: 'npm test' } });
  if (count % 20 === 15)
    tell({ type: 'tool-ended', ...call, ok: true, output: '', milliseconds: 700 });
  const todos = Array.from({ length: 500 }, (_, index) =>
    todo(index, Math.floor(count / 20)),
  );
  if (count % 20 === 0)
    tell({ type: 'plan-changed', todos, completed: count / 20, total: 500 });
}, 50);
// What loading and the first drawing cost is not what it costs to look on.
setTimeout(() => {
  const began = performance.now();
  const before = process.cpuUsage();
  setTimeout(() => {
    const { user, system } = process.cpuUsage(before);
    const perSecond = (user + system) / (performance.now() - began);
    clearInterval(updates);
    writeFileSync(file, String(perSecond));
    view.close().then(() => process.exit(0));
  }, Number(seconds) * 1000);
}, 2000);
