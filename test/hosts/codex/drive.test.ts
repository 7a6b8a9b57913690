// `untildone run --with codex` with the real Codex.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { driveStories } from '../harness/drive-stories.ts';
import { codex } from './real-host.ts';

driveStories({
  host: 'codex',
  program: { name: 'codex', path: fileURLToPath(new URL('node_modules/.bin/codex', import.meta.url)) },
  prepare(project, model) {
    codex.settle?.({ project, model });
    return codex.environment({ project, model });
  },
  silence(project) {
    const path = join(project.home, '.codex/config.toml');
    writeFileSync(path, readFileSync(path, 'utf8').replace('[features]\n', '[features]\nhooks = false\n'));
    return {};
  },
  flags: ['--color', 'never'],
});
