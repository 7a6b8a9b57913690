// OpenCode as the suite of all hosts starts it: `opencode run`, which leaves at the first
// idle. `serve` and its countdown have tests of their own.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { callTool } from '../../../src/scripted-model/index.ts';
import type { Breakage, RealHost } from '../harness/real-host.ts';
import { hostEnvironment, ourPlugin, seedHome, settleFolder } from './opencode.ts';

export const opencode: RealHost = {
  name: 'opencode',
  program: 'opencode',
  // As an argument, a text with a space would reach the model in quotation marks.
  turn: ({ text, conversation, isFirst }) => ({
    words: ['run', ...(isFirst ? [] : ['--session', conversation])],
    input: text,
  }),
  environment: ({ project }) => hostEnvironment(project),
  settle({ project, model }) {
    seedHome(project);
    settleFolder(project.directory, project, model, { plugins: [] });
  },
  conversationIn: ({ requests }) =>
    requests.find(({ isAside }) => !isAside)?.headers['x-session-id'] ?? '',
  messages: ({ printed }) =>
    printed.split('\n').filter((line) => line.includes('untildone: ')),
  subagent: (prompt) =>
    callTool('task', { description: 'look around', prompt, subagent_type: 'general' }),
  brokenProgram: (how) => brokenPlugins[how],
  installTwice({ directory, editJson }) {
    editJson<{ plugin: string[] }>(join(directory, 'opencode.json'), ({ plugin }) => {
      plugin.push(pathToFileURL(ourPlugin).href);
    });
  },
};

const brokenPlugins: Readonly<Record<Breakage, string>> = {
  crash: "throw new Error('The plugin is broken.');\n",
  garbage: 'export default 42;\n',
  hang: "export default { id: 'untildone', server: async () => ({ event: () => new Promise(() => {}) }) };\n",
};
