// `untildone run --with copilot-cli` with the real Copilot CLI.
import { driveStories } from '../harness/drive-stories.ts';
import { stage } from './drive-stage.ts';

driveStories(stage);
