// 04: the idle enforcer in a program with an event bus. The agent here is a few lines
// that stop too early: it does one todo at a time and then sits idle. The enforcer counts
// down and sends it back, until the list is done. Run it, after npm run build, with:
// node_modules/.bin/node examples/04-idle-enforcer.ts (or npm run examples)
import { EventEmitter } from 'node:events';
import { openSqliteStore } from 'untildone';
import {
  createEnforcer,
  type EnforcerEvent,
  type EnforcerMessage,
} from 'untildone/enforcer';

const sessionId = 'session-1';
// Gone with the program: this is an example.
const store = await openSqliteStore({ path: ':memory:' });
const bus = new EventEmitter();
const todos = ['Write the parser', 'Write its tests', 'Write the docs'].map(
  (content) => ({
    content,
    status: 'pending',
  }),
);
const messages: EnforcerMessage[] = [];
const emit = (event: EnforcerEvent): boolean => bus.emit('event', event);

function say(role: EnforcerMessage['role'], text: string, key?: string): void {
  const message = { id: `message-${messages.length + 1}`, role, text, key };
  messages.push(message);
  emit({ type: 'message.updated', sessionId, message });
}

/** The agent: finishes one todo, says that it is done, and stops. */
function work(): void {
  const next = todos.find(({ status }) => status === 'pending');
  emit({ type: 'tool.before', sessionId, tool: 'write_file' });
  emit({ type: 'tool.after', sessionId, tool: 'write_file' });
  if (next !== undefined) next.status = 'completed';
  emit({ type: 'tool.after', sessionId, tool: 'todo_write' });
  say('assistant', `${next?.content ?? 'Everything'}: done!`);
  console.log(`agent:    "${next?.content}: done!", and stops`);
  emit({ type: 'session.idle', sessionId });
}

const ended = new Promise<void>((resolve) => {
  const enforcer = createEnforcer({
    name: 'example-04',
    getTodos: () => todos,
    getMessages: () => messages,
    inject(_sessionId, text, { key }) {
      console.log(`enforcer: ${text.split('\n').slice(0, 2).join(' ')}`);
      say('user', text, key);
      setTimeout(work, 50);
    },
    toast(_sessionId, { title, message }) {
      console.log(`toast:    ${title}: ${message}`);
      if (title.startsWith('untildone')) resolve(enforcer.dispose());
    },
    // What a log of such a program would hold.
    onDecision: (_sessionId, { answer, reason, sentence }) =>
      console.log(`decided:  ${answer} (${reason}): ${sentence}`),
    // Half a second instead of two.
    settings: { countdownSeconds: 0.5, minIntervalSeconds: 0 },
    store,
    onError: (error) => console.error(error),
  });
  console.log(
    `${enforcer.name} listens to ${enforcer.events.slice(0, 7).join(', ')} …\n`,
  );
  bus.on('event', enforcer.handler);
});

// Timers of the enforcer do not keep a program alive; a real one has something to do,
// this one waits.
const waiting = setTimeout(() => console.error('nothing happened'), 5000);
console.log('human:    "Build it."');
say('user', 'Build it.');
emit({ type: 'tool.after', sessionId, tool: 'todo_write' });
work();
await ended;
clearTimeout(waiting);
