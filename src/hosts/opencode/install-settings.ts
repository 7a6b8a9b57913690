// What stands in OpenCode's settings, file by file, as far as it concerns us: plugins, and whether the todo tool is on.
// It merges nothing: whoever asks goes through the files in the order in which the host lets them win.
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getNodeValue } from 'jsonc-parser';
import { parseDocument, withoutMark } from '../install/json-document.ts';
import { packageVersions } from '../install/json-packages.ts';
import { readSettingsFile } from '../install/settings-file.ts';

export const packageName = 'untildone';

export interface SettingsSource {
  readonly path: string;
  /** A sentence that goes on after the name of the file; null: it can be read. */
  readonly problem: string | null;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Those of the files that exist. */
export function readSources(paths: readonly string[]): SettingsSource[] {
  return paths.flatMap((path): SettingsSource[] => {
    const file = readSettingsFile(path);
    if (!file.ok) return [{ path, problem: file.sentence, value: {} }];
    if (file.text === null || file.text.trim() === '') return [];
    const document = parseDocument(withoutMark(file.text).plain);
    return [
      document.ok
        ? { path, problem: null, value: objectOf(getNodeValue(document.root)) }
        : { path, problem: document.sentence, value: {} },
    ];
  });
}

/** Names and paths of plugins, without their options. */
export function pluginsOf({ value }: SettingsSource): string[] {
  return ['plugin', 'plugins'].flatMap((key) => {
    const list = value[key];
    return Array.isArray(list) ? list.flatMap(nameOf) : [];
  });
}

function nameOf(entry: unknown): string[] {
  const name: unknown = Array.isArray(entry) ? entry[0] : (objectOf(entry)['package'] ?? entry);
  return typeof name === 'string' ? [name] : [];
}

/** Ours by the name of the package: the versions that the file asks for. */
export function ourVersions(source: SettingsSource): string[] {
  return packageVersions(pluginsOf(source), packageName);
}

/** Ours by a path that a person wrote: where it leads. */
export function ourFiles(source: SettingsSource): string[] {
  return pluginsOf(source).flatMap((name) => {
    const isPath = name.startsWith('file://') || name.startsWith('.') || isAbsolute(name);
    if (!isPath || !/untildone.*[\\/]server\.js$/.test(name)) return [];
    return [name.startsWith('file://') ? fileURLToPath(name) : resolve(source.path, '..', name)];
  });
}

/** Null: the file does not say. */
export function todoToolIn({ value }: SettingsSource): 'on' | 'off' | null {
  const permission = value['permission'];
  const said = typeof permission === 'string' ? permission : objectOf(permission)['todowrite'];
  if (said === 'deny') return 'off';
  if (said === 'allow' || said === 'ask') return 'on';
  const tool = objectOf(value['tools'])['todowrite'];
  return tool === false ? 'off' : tool === true ? 'on' : null;
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
