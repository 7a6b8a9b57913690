// `untildone run --with claude-code` with the real Claude Code.
import { driveStories } from '../harness/drive-stories.ts';
import { stage } from './drive-stage.ts';

driveStories(stage);
