// `untildone config init`: a small untildone.json to start from. It never overwrites a file.
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultSettings } from '../../core/settings.ts';
import { configFileName } from '../../engine/policy.ts';
import type { Command } from '../command.ts';
import { readPolicyFor } from '../open-runtime.ts';
import { printLines, refuse, shown } from '../print.ts';
import { acceptProject } from '../project-trust.ts';

/** JSON has no comments; the schema carries a sentence for every setting, and editors show it. */
const schemaAddress = './node_modules/untildone/dist/schema.json';

export const configInit: Command = {
  usage: 'config init',
  about: [
    'Writes the settings that people change most, with their default values. Editors explain them by `$schema`.',
  ],
  options: {},
  positionals: [0, 0],
  async run(_given, io) {
    const { mode, maxStagnant, maxContinuations, ceiling } = defaultSettings;
    const content = { $schema: schemaAddress, mode, maxStagnant, maxContinuations, ceiling };
    const path = join(io.cwd, configFileName);
    try {
      // Exclusive: not even a link that points nowhere is followed.
      writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { flag: 'wx' });
    } catch (error) {
      // Safe: nothing was written, and the human is told why.
      return refuse(io, `${shown(path, 300)} ${whyNotWritten(error)}.`);
    }
    // Whoever had it written means it; an agent has to ask.
    const isHuman = (await io.whyNoHuman()) === null;
    if (isHuman) acceptProject(io, readPolicyFor(io, realpathSync(io.cwd)).project, true);
    const next = isHuman
      ? '`untildone config` shows what holds now.'
      : 'Nothing of it holds before a human accepts it: `untildone trust`.';
    printLines(io, [`Wrote ${shown(path, 300)}. ${next}`]);
    return 0;
  },
};

function whyNotWritten(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EEXIST' ? 'is there already and was left as it is' : `cannot be written (${code})`;
}
