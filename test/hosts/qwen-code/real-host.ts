// Qwen Code as the suite of all hosts starts it: headless, with a dummy key and without
// its own calls to anybody.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool, runCommand } from '../../../src/scripted-model/index.ts';
import type { RealHost } from '../harness/real-host.ts';

interface QwenSettings {
  readonly hooks: Record<string, { hooks: { command: string; timeout: number }[] }[]>;
}

const settings = {
  memory: { enableManagedAutoMemory: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
  security: { auth: { selectedType: 'openai' } },
  $version: 4,
};

export const qwenCode: RealHost = {
  name: 'qwen-code',
  program: 'qwen',
  turn: ({ text, conversation, isFirst }) => ({
    words: [
      '--approval-mode',
      'yolo',
      isFirst ? '--session-id' : '--resume',
      conversation,
      text,
    ],
  }),
  environment: ({ model: { url } }) => ({
    OPENAI_API_KEY: 'dummy',
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_MODEL: 'scripted',
    QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
  }),
  settle({ project: { home } }) {
    mkdirSync(join(home, '.qwen'));
    writeFileSync(join(home, '.qwen', 'settings.json'), JSON.stringify(settings));
  },
  messages: ({ printed }) =>
    printed.split('\n').filter((line) => line.startsWith('untildone: ')),
  family: 'todo-write',
  background: (command) => runCommand(command, { is_background: true }),
  subagent: (prompt) =>
    callTool('agent', {
      description: 'look around',
      prompt,
      subagent_type: 'general-purpose',
      run_in_background: true,
    }),
  shortenStop({ directory, editJson }, seconds) {
    editJson<QwenSettings>(join(directory, '.qwen', 'settings.json'), ({ hooks }) => {
      const hook = hooks['Stop']![0]!.hooks[0]!;
      hook.timeout = seconds;
      hook.command += ` --timeout=${seconds}`;
    });
  },
};
