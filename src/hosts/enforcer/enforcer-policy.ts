// The settings that hold for an enforcer: the user's and the project's files and the environment, and over them what
// the program says. A configuration that cannot be used switches the enforcer off and is told once (C1).
import { homedir } from 'node:os';
import type { Policy } from '../../core/config/policy.ts';
import { problemSentence } from '../../core/config/problem.ts';
import { defaultSettings } from '../../core/config/settings.ts';
import { validateConfig } from '../../core/config/validate.ts';
import { UntildoneError } from '../../core/untildone-error.ts';
import { findUserConfigDirectory, policyProblemSentence, readPolicy } from '../../engine/policy-source.ts';
import type { EnforcerOptions } from './enforcer-options.ts';

export interface EnforcerPolicyOptions extends Pick<EnforcerOptions, 'settings' | 'directory' | 'checker'> {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onError: (error: unknown) => void;
}

/** Throws for settings of the program that are wrong: that is a mistake in its code. */
export function createEnforcerPolicy(options: EnforcerPolicyOptions): () => Policy {
  const { environment, directory } = options;
  const flags = validateConfig(options.settings ?? {});
  if (!flags.ok) throw new UntildoneError('invalid-config', flags.problems.map(problemSentence).join('; '));
  const userConfigDirectory = findUserConfigDirectory(environment, environment['HOME'] ?? homedir());
  let told: string | null = null;
  return () => {
    const sources = { projectDirectory: directory ?? null, userConfigDirectory, environment, flags };
    const result = readPolicy(sources);
    if (result.ok) return options.checker === undefined ? withoutChecks(result.policy) : result.policy;
    const sentence = result.problems.map(policyProblemSentence).join('; ');
    if (told !== sentence) options.onError(new UntildoneError('invalid-config', sentence));
    told = sentence;
    return { settings: { ...defaultSettings, mode: 'off' }, goalChecks: [] };
  };
}

/** A check that nobody can run would count as failed for ever: without a checker there are none. */
function withoutChecks({ settings }: Policy): Policy {
  return { settings: { ...settings, goal: [], todoChecks: [], protect: [] }, goalChecks: [] };
}
