// Gemini CLI as the suite of all hosts starts it: headless, in a folder that its human
// trusts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RealHost } from '../harness/real-host.ts';

interface GeminiSettings {
  readonly hooks: Record<string, { hooks: { command: string; timeout: number }[] }[]>;
}

const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
};

const shown = 'Hook system message: ';

/**
 * @param model those of the second generation have `write_todos`, later ones only our
 * tools
 */
export const geminiWith = (model: string): Omit<RealHost, 'family'> => ({
  name: 'gemini-cli',
  program: 'gemini',
  turn: ({ text, conversation, isFirst }) => ({
    words: [
      '-m',
      model,
      '--approval-mode',
      'yolo',
      '-o',
      'stream-json',
      '-p',
      text,
      isFirst ? '--session-id' : '--resume',
      conversation,
    ],
  }),
  environment: ({ model: { url } }) => ({
    GEMINI_API_KEY: 'dummy',
    GOOGLE_GEMINI_BASE_URL: url,
    // Without: it starts itself once more, for a larger heap.
    GEMINI_CLI_NO_RELAUNCH: 'true',
  }),
  settle({ project: { home, directory } }) {
    const folder = join(home, '.gemini');
    mkdirSync(folder);
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    writeFileSync(
      join(folder, 'trustedFolders.json'),
      JSON.stringify({ [directory]: 'TRUST_FOLDER' }),
    );
  },
  messages: ({ printed }) =>
    printed
      .split('\n')
      .flatMap((line) => (line.startsWith(shown) ? [line.slice(shown.length)] : [])),
  shortenStop({ directory, editJson }, seconds) {
    editJson<GeminiSettings>(join(directory, '.gemini/settings.json'), ({ hooks }) => {
      // The one before write_todos may take long as well.
      for (const name of ['AfterAgent', 'BeforeTool']) {
        const hook = hooks[name]![0]!.hooks[0]!;
        hook.timeout = seconds * 1000;
        hook.command += ` --timeout=${seconds}`;
      }
    });
  },
});

export const geminiCli: RealHost = { ...geminiWith('gemini-2.5-pro'), family: 'gemini' };
