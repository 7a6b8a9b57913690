// How a setting is called outside a file: maxContinuations, UNTILDONE_MAX_CONTINUATIONS, --max-continuations; in a
// section: context.maxMessages, UNTILDONE_CONTEXT_MAX_MESSAGES, --context-max-messages. A section as a whole is JSON.
// One direction only: names are looked up among the known ones, never parsed back.

import type { Kind } from './kinds.ts';
import { settingNames, settingTable } from './settings.ts';

/** Where a named value stands: a setting, or one field of a section. */
export interface SettingPlace {
  readonly setting: string;
  /** null: the whole setting. */
  readonly field: string | null;
  readonly kind: Kind;
}

export const environmentPrefix = 'UNTILDONE_';

/** `path` is `maxTodos` or `context.maxMessages`. */
export function environmentName(path: string): string {
  return environmentPrefix + words(path).join('_').toUpperCase();
}

export function flagName(path: string): string {
  return `--${words(path).join('-').toLowerCase()}`;
}

function words(path: string): readonly string[] {
  return path.split(/\.|(?=[A-Z])/);
}

const places: ReadonlyMap<string, SettingPlace> = new Map(
  settingNames.flatMap((setting): [string, SettingPlace][] => {
    const kind: Kind = settingTable[setting].kind;
    const fields = kind.type === 'section' ? Object.entries(kind.fields) : [];
    return [
      [setting, { setting, field: null, kind }],
      ...fields.map(([field, inner]): [string, SettingPlace] => [
        `${setting}.${field}`,
        { setting, field, kind: inner.kind },
      ]),
    ];
  }),
);

/** `mode`, …, `context`, `context.maxMessages`, …: everything that has a name of its own. */
export const settingPaths: readonly string[] = [...places.keys()];

export const placeByEnvironmentName = new Map(
  [...places].map(([path, place]) => [environmentName(path), place]),
);
export const placeByFlag = new Map([...places].map(([path, place]) => [flagName(path), place]));
