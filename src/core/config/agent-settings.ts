// The settings that hold for one agent: the shared ones under what `agents` says about it (C1).
// It never changes what it is given, and an unknown agent simply gets the shared settings.

import { type AgentSettings, type Settings, settingTable } from './settings.ts';

/** Agent names are compared without letter case: hosts spell the same agent "Build" and "build". */
export function settingsForAgent(settings: Settings, agentName: string | null): Settings {
  if (agentName === null) return settings;
  const wanted = agentName.toLowerCase();
  for (const [name, overrides] of Object.entries(settings.agents)) {
    if (name.toLowerCase() === wanted) return { ...settings, ...whole(settings, overrides) };
  }
  return settings;
}

/** An override of a part of a section leaves the rest of the section as it is for everyone. */
function whole(settings: Settings, overrides: AgentSettings): Partial<Settings> {
  const entries = Object.entries(overrides).map(([name, value]) => {
    const setting = name as keyof AgentSettings;
    return settingTable[setting].kind.type === 'section'
      ? [name, { ...(settings[setting] as object), ...(value as object) }]
      : [name, value];
  });
  return Object.fromEntries(entries) as Partial<Settings>;
}
