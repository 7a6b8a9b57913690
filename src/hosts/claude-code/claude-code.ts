// Claude Code as a host with hooks: its own words in, our words out.
import type { HookedHost } from '../hook/hook-request.ts';
import { readTaskList } from './read-task-list.ts';
import { render } from './render.ts';
import { hostName, translate } from './translate.ts';

export const claudeCode: HookedHost = {
  name: hostName,
  translate,
  readList: (call, environment) =>
    call.descriptor.kind === 'main' ? readTaskList(call.sessionId, environment) : null,
  render,
};
