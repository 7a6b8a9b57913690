// Who speaks in a prompt of Claude Code: the host's own notice that background work ended, one of our slash
// commands, or a human. Our own text is told apart later, by what the record says was sent.
import type { Speaker } from '../hook/hook-request.ts';

const notice = /<task-notification>([\s\S]*?)<\/task-notification>/gu;
const taskId = /<task-id>([\w.:-]{1,80})<\/task-id>/u;
/** Commands of our plugin control us; they are not a message to the agent. */
const ownCommand = /^\/untildone:[\w-]+(?:\s|$)/u;

export function speakerOf(prompt: string): Speaker {
  const text = prompt.trim();
  if (ownCommand.test(text)) return { type: 'command' };
  // A notice that a human's words were put behind is a human's message.
  if (!text.startsWith('<task-notification>') || text.replace(notice, '').trim() !== '')
    return { type: 'human' };
  const jobIds = Array.from(text.matchAll(notice), ([, body = '']) => taskId.exec(body)?.[1]);
  return { type: 'notice', jobIds: jobIds.filter((id) => id !== undefined) };
}
