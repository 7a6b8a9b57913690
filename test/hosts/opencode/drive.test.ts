// `untildone run --with opencode` with the real OpenCode.
import { driveStories } from '../harness/drive-stories.ts';
import { hostEnvironment, program, seedHome, settleFolder } from './opencode.ts';

driveStories({
  host: 'opencode',
  program: { name: 'opencode', path: program },
  prepare(project, model) {
    seedHome(project);
    settleFolder(project.directory, project, model, { plugins: [] });
    return hostEnvironment(project);
  },
  silence: () => ({ OPENCODE_PURE: '1' }),
  flags: ['--agent', 'build'],
});
