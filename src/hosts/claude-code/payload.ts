// The shape of what Claude Code writes to a hook, described and not imported; read off version 2.1.325. Fields that
// we do not use are left out, and every field may be missing: the host changes between releases.

export interface ClaudePayload {
  readonly hook_event_name: string;
  readonly session_id: string;
  readonly prompt_id: string | null;
  readonly cwd: string | null;
  readonly permission_mode: string | null;
  /** Set when a subagent made the call; its work happens inside the session of its parent. */
  readonly agent_id: string | null;
  readonly agent_type: string | null;
  /** Everything, for the fields of one hook only. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export type ReadPayload =
  | { readonly ok: true; readonly payload: ClaudePayload }
  | { readonly ok: false; readonly sentence: string };

/** It becomes a part of file names and of ids: anything but a plain name is refused. */
const plainName = /^[A-Za-z0-9][\w.-]{0,79}$/u;

export function readClaudePayload(value: unknown): ReadPayload {
  const fields = recordOf(value);
  const hook = textOf(fields['hook_event_name']);
  const sessionId = textOf(fields['session_id']);
  if (hook === null || !plainName.test(hook)) return refuse('names no hook event');
  if (sessionId === null || !plainName.test(sessionId)) return refuse('names no session');
  const promptId = textOf(fields['prompt_id']);
  return {
    ok: true,
    payload: {
      hook_event_name: hook,
      session_id: sessionId,
      prompt_id: promptId !== null && plainName.test(promptId) ? promptId : null,
      cwd: textOf(fields['cwd']),
      permission_mode: textOf(fields['permission_mode']),
      agent_id: textOf(fields['agent_id']),
      agent_type: textOf(fields['agent_type']),
      fields,
    },
  };
}

function refuse(what: string): ReadPayload {
  return { ok: false, sentence: `The payload ${what}.` };
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
