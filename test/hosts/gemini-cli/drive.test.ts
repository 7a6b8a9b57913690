// `untildone run --with gemini-cli` with the real Gemini CLI.
import { driveStories } from '../harness/drive-stories.ts';
import { stage } from './drive-stage.ts';

driveStories(stage);
