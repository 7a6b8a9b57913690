// Stands in for Claude Code if a page types `claude -p`: it calls the hooks that `init`
// wrote, as the host would, for one turn that writes a file without a plan. Like the
// host, it prints nothing of what the hooks say.
import { execSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promptPayload, stopPayload, toolPayload } from '../support/payload-cases.ts';

interface Settings {
  readonly hooks: Record<string, { hooks: { command: string }[] }[]>;
}

const words = process.argv.slice(2);
const [file = '', text = ''] = [
  process.env['STAND_IN_FILE'],
  process.env['STAND_IN_TEXT'],
];
const prompt = words[words.indexOf('-p') + 1];

if (prompt === undefined || !words.includes('-p')) console.log('2.1.325 (Claude Code)');
else {
  const settings = JSON.parse(
    readFileSync('.claude/settings.local.json', 'utf8'),
  ) as Settings;
  const sessionId = words[words.indexOf('--session-id') + 1];
  const call = (payload: Readonly<Record<string, unknown>>) => {
    const input = JSON.stringify({
      ...payload,
      session_id: sessionId,
      cwd: process.cwd(),
    });
    for (const { hooks } of settings.hooks[String(payload['hook_event_name'])] ?? [])
      for (const { command } of hooks)
        execSync(command, { input, stdio: ['pipe', 'ignore', 'inherit'] });
  };
  call(promptPayload(prompt));
  writeFileSync(file, text);
  call(
    toolPayload(
      'Write',
      'write-1',
      { file_path: file, content: text },
      { filePath: file },
    ),
  );
  call(stopPayload({ last_assistant_message: 'Done.' }));
  console.log('Done.');
}
