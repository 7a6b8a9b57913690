// Every host that can be installed, one row each. `init` and `doctor` know hosts by this table alone.
import { claudeCodeInstaller } from '../claude-code/install.ts';
import { opencodeInstaller } from '../opencode/install.ts';
import type { HostInstaller } from './installer.ts';

export const installerTable: readonly HostInstaller[] = [claudeCodeInstaller, opencodeInstaller];
