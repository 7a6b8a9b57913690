// Whether a tool call may run: pure, from the tool, its input and the human's policy. File tools stay in the
// workspace by themselves (confined-path.ts); what needs permission is running commands.
// An allowed command that runs the workspace's code (npm test) runs what the agent wrote: patterns do not
// change that.
import { oneLine } from '../../core/safe-text.ts';
import { matchesCommand } from './command-pattern.ts';
import type { ToolAccess } from './tool.ts';

export interface PermissionPolicy {
  /** read-only: nothing changes. allow-list: commands that fit a pattern. auto: everything. */
  readonly mode: 'read-only' | 'allow-list' | 'auto';
  /** Patterns of commands, see command-pattern.ts. */
  readonly shellAllow: readonly string[];
}
export interface Denial {
  /** For the model: what was refused and what it can do instead. */
  readonly deny: string;
  /** What a human could be asked to allow; null where the policy leaves nothing to ask. */
  readonly askable: { readonly tool: string; readonly command: string } | null;
}
export type PermissionAnswer = 'allow' | Denial;

export function decidePermission(
  tool: { readonly name: string; readonly access: ToolAccess },
  input: unknown,
  policy: PermissionPolicy,
): PermissionAnswer {
  if (tool.access === 'read' || policy.mode === 'auto') return 'allow';
  if (policy.mode === 'read-only') {
    return {
      deny: `${tool.name} is not allowed: this session is read-only. Report what you would change.`,
      askable: null,
    };
  }
  if (tool.access === 'write') return 'allow';
  const command = readCommand(input);
  // Without a command nothing is run: stop_job ends what was allowed to start.
  if (command === null || policy.shellAllow.some((pattern) => matchesCommand(pattern, command)))
    return 'allow';
  return { deny: explain(oneLine(command, 120), policy.shellAllow), askable: { tool: tool.name, command } };
}

function readCommand(input: unknown): string | null {
  const command = typeof input === 'object' && input !== null && 'command' in input ? input.command : null;
  return typeof command === 'string' ? command : null;
}

function explain(command: string, allowed: readonly string[]): string {
  const instead =
    allowed.length === 0
      ? 'No command is allowed in this session: use the file tools.'
      : `Allowed: ${allowed
          .slice(0, 20)
          .map((pattern) => oneLine(pattern, 80))
          .join(' | ')}. Run one command at a time, without ; & | $ < > or parentheses.`;
  return `The command ${JSON.stringify(command)} is not on the human's allow-list. ${instead}`;
}
