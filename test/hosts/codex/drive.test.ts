// `untildone run --with codex` with the real Codex.
import { driveStories } from '../harness/drive-stories.ts';
import { stage } from './drive-stage.ts';

driveStories(stage);
