// `untildone run --with opencode` with the real OpenCode.
import { driveStories } from '../harness/drive-stories.ts';
import { stage } from './drive-stage.ts';

driveStories(stage);
