// In the real Claude Code: how long after the model's answer the next request comes, when
// a Stop hook continues the turn. Once with our hook as `init` installed it, once with a
// bare node script that says go on a few times.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  always,
  plan,
  type ScriptedModel,
  say,
  script,
  startScriptedModel,
} from '../../src/scripted-model/index.ts';
import { startClaude } from '../../test/hosts/claude-code/claude.ts';
import { createProject, type Project } from '../../test/hosts/harness/project.ts';

const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

async function measure(
  project: Project,
  environment: Readonly<Record<string, string>>,
): Promise<readonly number[]> {
  const model = await startScriptedModel({ scripts: [stubborn] });
  const claude = startClaude(project, model, { prompt: 'Do it.', environment });
  try {
    await claude.ended;
    return gaps(model);
  } finally {
    claude.end();
    await model.close();
  }
}

/**
 * Each from one answer in plain text to the request after it; the answers themselves take
 * the model no time.
 */
function gaps({ requests }: ScriptedModel): readonly number[] {
  const work = requests.filter(({ isAside }) => !isAside);
  return work.flatMap((request, index) => {
    const next = work[index + 1];
    return next !== undefined && request.reply.finish === 'stop'
      ? [next.at - request.at]
      : [];
  });
}

export function measureOurHook(project: Project): Promise<readonly number[]> {
  return measure(project, {});
}

export async function measureBareHook(times: number): Promise<readonly number[]> {
  const project = createProject();
  try {
    const file = join(project.root, 'bare-hook.mjs');
    writeFileSync(file, bareHook(join(project.root, 'count'), times));
    mkdirSync(join(project.directory, '.claude'));
    const command = `'${process.execPath}' '${file}'`;
    const hooks = { Stop: [{ hooks: [{ type: 'command', command, timeout: 60 }] }] };
    writeFileSync(
      join(project.directory, '.claude/settings.local.json'),
      JSON.stringify({ hooks }),
    );
    return await measure(project, { CLAUDE_CODE_ENABLE_TODO_TOOLS: '1' });
  } finally {
    project.remove();
  }
}

function bareHook(counter: string, times: number): string {
  const answer = {
    hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'Go on.' },
  };
  return `import { appendFileSync, readFileSync } from 'node:fs';
readFileSync(0);
appendFileSync(${JSON.stringify(counter)}, 'x');
const count = readFileSync(${JSON.stringify(counter)}).length;
console.log(count <= ${times} ? ${JSON.stringify(JSON.stringify(answer))} : '{}');
`;
}
