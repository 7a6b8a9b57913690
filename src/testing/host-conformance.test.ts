import { claudeCodeHost } from './host-conformance/claude-code-driver.ts';
import { opencodeHost } from './host-conformance/opencode-driver.ts';
import { scriptedHost } from './host-conformance/scripted-driver.ts';
import { describeHost } from './host-conformance.ts';

describeHost(scriptedHost('asked'));
describeHost(scriptedHost('told'));
describeHost(claudeCodeHost);
describeHost(opencodeHost);
