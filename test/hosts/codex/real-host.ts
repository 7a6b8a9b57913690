// Codex as the suite of all hosts starts it: headless, with the scripted model as its
// provider, and nothing that it would look up elsewhere.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { trustedHash } from '../../../src/hosts/codex/install.ts';
import type { Project } from '../harness/project.ts';
import { jsonLines, type RealHost } from '../harness/real-host.ts';

interface CodexLine {
  readonly type: string;
  readonly thread_id?: string;
}

export const codex: RealHost = {
  name: 'codex',
  program: 'codex',
  turn: ({ text, conversation, isFirst }) => ({
    // The sandbox stands before `resume`.
    words: [
      'exec',
      '--json',
      '--skip-git-repo-check',
      '-s',
      'danger-full-access',
      ...(isFirst ? [] : ['resume', conversation]),
      text,
    ],
  }),
  environment: () => ({ SCRIPTED_KEY: 'none' }),
  settle({ project, model }) {
    const folder = join(project.home, '.codex');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.toml'), settings(model.url));
  },
  conversationIn: (turn) =>
    jsonLines<CodexLine>(turn).find(({ type }) => type === 'thread.started')?.thread_id ??
    '',
  // It shows no words of hooks headless.
  messages: () => null,
  shortenStop,
};

const settings = (url: string) => `# The scripted model.
model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[features]
plugins = false
apps = false

[analytics]
enabled = false

[otel]
metrics_exporter = "none"
`;

interface HooksFile {
  readonly hooks: Record<string, { hooks: { command: string; timeout: number }[] }[]>;
}

/** The host trusts a hook as it was written: whoever changes it has to say so again. */
function shortenStop(project: Project, seconds: number): void {
  const config = join(project.home, '.codex/config.toml');
  let text = readFileSync(config, 'utf8');
  project.editJson<HooksFile>(
    join(project.directory, '.codex/hooks.json'),
    ({ hooks }) => {
      const hook = hooks['Stop']![0]!.hooks[0]!;
      const before = trustedHash(
        { hook: 'Stop', seconds: hook.timeout, group: {} },
        hook.command,
      );
      hook.timeout = seconds;
      hook.command += ` --timeout=${seconds}`;
      text = text.replace(
        before,
        trustedHash({ hook: 'Stop', seconds, group: {} }, hook.command),
      );
    },
  );
  writeFileSync(config, text);
}
