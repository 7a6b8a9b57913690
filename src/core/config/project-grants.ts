// What a project's file may not say: a repository must not grant its agent anything, and an agent could write the file.
// These settings are left out before the files are merged, so that they hide nothing that the human said elsewhere.
import type { Problem } from './problem.ts';
import type { PartialSettings } from './settings.ts';

export interface WithoutGrants {
  readonly config: PartialSettings;
  readonly warnings: readonly Problem[];
}

export function withoutGrants(config: PartialSettings): WithoutGrants {
  const { permissions, tools, ...rest } = config;
  const { shellAllow, ...otherTools } = tools ?? {};
  const ignored = [
    ...Object.keys(permissions ?? {}).map((name) => `permissions.${name}`),
    ...(shellAllow === undefined ? [] : ['tools.shellAllow']),
  ];
  return {
    config: { ...rest, ...(tools === undefined ? {} : { tools: otherTools }) },
    warnings: ignored.map((path) => ({
      path,
      message: 'is ignored in the project’s untildone.json: say it in your user file or with a flag',
    })),
  };
}
