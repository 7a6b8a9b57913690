import { describe, expect, it } from 'vitest';
import { withoutGrants } from './project-grants.ts';

describe('C1: what a project may not say', () => {
  it('is left out with a word about each, and everything else stays', () => {
    const { config, warnings } = withoutGrants({
      ceiling: 7,
      permissions: { mode: 'auto', allow: { shell: ['**'] } },
      tools: { shellAllow: ['**'], shellTimeoutSeconds: 5 },
    });
    expect(config).toEqual({ ceiling: 7, tools: { shellTimeoutSeconds: 5 } });
    expect(warnings.map(({ path }) => path)).toEqual([
      'permissions.mode',
      'permissions.allow',
      'tools.shellAllow',
    ]);
  });

  it('is nothing where the project grants nothing', () => {
    expect(withoutGrants({ ceiling: 7 })).toEqual({ config: { ceiling: 7 }, warnings: [] });
  });
});
