// `untildone run --with pi` with the real pi.
import { fileURLToPath } from 'node:url';
import { driveStories } from '../harness/drive-stories.ts';
import { quietEnvironment, seedHome } from './pi.ts';

driveStories({
  host: 'pi',
  program: { name: 'pi', path: fileURLToPath(new URL('node_modules/.bin/pi', import.meta.url)) },
  prepare(project, model) {
    seedHome({ project, model });
    return quietEnvironment;
  },
  flags: ['--thinking', 'off'],
});
