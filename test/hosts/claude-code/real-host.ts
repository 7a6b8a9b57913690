// Claude Code as the suite of all hosts starts it.
import { join } from 'node:path';
import { callTool, runCommand } from '../../../src/scripted-model/index.ts';
import { jsonLines, type RealHost } from '../harness/real-host.ts';
import { untildone } from '../harness/untildone.ts';
import { type ClaudeLine, claudeEnvironment } from './claude.ts';
import { messagesIn } from './play.ts';
import { type ClaudeSettings, shortenStop } from './settings.ts';

export const claudeCode: RealHost = {
  name: 'claude-code',
  program: 'claude',
  turn: ({ text, conversation, isFirst }) => ({
    words: [
      '-p',
      text,
      '--output-format',
      'stream-json',
      '--verbose',
      '--allowedTools',
      'Bash,Write,Edit',
      isFirst ? '--session-id' : '--resume',
      conversation,
    ],
  }),
  environment: ({ project, model }) => claudeEnvironment(project, model),
  messages: (turn) => messagesIn(jsonLines<ClaudeLine>(turn)),
  background: (command) => runCommand(command, { run_in_background: true }),
  subagent: (prompt) =>
    callTool('Agent', {
      description: 'look around',
      prompt,
      subagent_type: 'general-purpose',
      run_in_background: true,
    }),
  shortenStop: (project, seconds) => shortenStop(project, seconds, true),
  async installTwice(project) {
    await untildone(project, 'init', 'claude-code', '--user');
    // Of two equal commands the host calls one.
    project.editJson<ClaudeSettings>(
      join(project.home, '.claude', 'settings.json'),
      ({ hooks }) => {
        for (const { hooks: commands } of Object.values(hooks).flat())
          for (const hook of commands) hook.command += ' --again';
      },
    );
  },
};
