import { claudeCodeHost } from './claude-code-driver.ts';
import { describeHost } from './host-conformance.ts';
import { opencodeHost } from './opencode-driver.ts';
import { scriptedHost } from './scripted-driver.ts';

describeHost(scriptedHost('asked'));
describeHost(scriptedHost('told'));
describeHost(claudeCodeHost);
describeHost(opencodeHost);
