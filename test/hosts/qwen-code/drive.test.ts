// `untildone run --with qwen-code` with the real Qwen Code.
import { driveStories } from '../harness/drive-stories.ts';
import { stage } from './drive-stage.ts';

driveStories(stage);
