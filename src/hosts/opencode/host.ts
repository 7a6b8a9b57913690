// OpenCode as we see it: what it can do, what we ask of it, and how we speak to the human in it. A call that fails or
// does not answer gives null or a sentence: the host's trouble is never thrown at whoever asked.
import type { Knowledge } from '../../core/events.ts';
import { oneLine } from '../../core/safe-text.ts';
import type { Session } from '../../core/state.ts';
import type { Handled } from '../../engine/engine.ts';
import type { Clock } from '../../engine/host.ts';
import type { Environment } from '../../engine/policy.ts';
import { sha256 } from '../../engine/system.ts';
import type { Configuration } from '../../open.ts';
import { appendFailure } from '../shared.ts';
import type { Memory, Told, ToldAdapter } from '../told.ts';
import type { Toast } from '../told-runtime.ts';
import { type Fields, listOf, recordOf, textOf, withinTime } from '../untrusted.ts';
import {
  type ClientAnswer,
  type ClientLike,
  canEdit,
  type PromptBodyLike,
  readSession,
  readTodos,
  type SessionInfo,
  type SignalOf,
  splitModel,
} from './translate.ts';

/** The host answers within milliseconds; one that does not is going down or hangs. */
const patienceMs = 10_000;
/** The newest messages; ours is among the last two or three. */
const messagesRead = 20;

export type HostCalls = ReturnType<typeof createHostCalls>;

export function createHostCalls(client: ClientLike, clock: Clock) {
  const { session } = client;
  let agents: ReadonlyMap<string, Knowledge> = new Map();

  async function ask(call: () => ClientAnswer): Promise<{ data: unknown } | { error: string }> {
    const answer = await withinTime(clock, patienceMs, call);
    const { data, error = null } = answer.answered ? answer.value : { error: answer.error };
    return error === null ? { data } : { error: sentenceOf(error) };
  }
  /** Null: it failed, or gave something else. */
  async function askList(call: () => ClientAnswer): Promise<readonly unknown[] | null> {
    const answer = await ask(call);
    return 'data' in answer && Array.isArray(answer.data) ? answer.data : null;
  }
  async function send(call: () => ClientAnswer): Promise<string | null> {
    const answer = await ask(call);
    return 'error' in answer ? answer.error : null;
  }

  return {
    async session(id: string) {
      const answer = await ask(() => session.get({ path: { id } }));
      return 'data' in answer ? readSession(answer.data) : null;
    },
    async todos(id: string) {
      const todos = await askList(() => session.todo({ path: { id } }));
      return todos === null ? null : readTodos(todos);
    },
    /** Oldest first. */
    async messages(id: string) {
      const shown = await askList(() => session.messages({ path: { id }, query: { limit: messagesRead } }));
      const readMessage = ({ info, parts }: Fields) => {
        return { info: recordOf(info), parts: listOf(parts).map(recordOf) };
      };
      return shown?.map(recordOf).map(readMessage) ?? null;
    },
    /** Null: it cannot be told. */
    async isIdle(id: string): Promise<boolean | null> {
      const answer = await ask(() => session.status());
      if ('error' in answer) return null;
      // The host lists only sessions that are not idle.
      const { type = 'idle' } = recordOf(recordOf(answer.data)[id]);
      return type === 'idle';
    },
    async canWrite(agent: string | null): Promise<Knowledge> {
      // An agent that is not known may have been added since.
      if (agent !== null && !agents.has(agent)) {
        const listed = await askList(() => client.app.agents());
        const entryOf = ({ name, permission }: Fields) => [textOf(name) ?? '', canEdit(permission)] as const;
        if (listed !== null) agents = new Map(listed.map(recordOf).map(entryOf));
      }
      return (agent === null ? null : agents.get(agent)) ?? 'unknown';
    },
    prompt: (id: string, body: PromptBodyLike) => send(() => session.promptAsync({ path: { id }, body })),
    /** Shows a message without asking the model. */
    show: (id: string, body: PromptBodyLike) =>
      send(() => session.prompt({ path: { id }, body: { ...body, noReply: true } })),
    /** Ends what the session does, and with it a host that leaves on idle. */
    abort: (id: string) => send(() => session.abort({ path: { id } })),
    async toast({ title, message, level, durationMs }: Toast): Promise<void> {
      const shown = { title: oneLine(title, 80), message: oneLine(message, 500) };
      await send(() => client.tui.showToast({ body: { ...shown, variant: level, duration: durationMs } }));
    },
  };
}

function sentenceOf(error: unknown): string {
  const { message, data, name } = recordOf(error);
  const said = textOf(message) ?? textOf(recordOf(data)['message']) ?? textOf(name);
  return oneLine(said ?? String(error), 300);
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * The ids under which a message of ours stands in the host: made from what it is, so that sending it again replaces it
 * instead of adding a second one (V5). The host orders messages by their ids, which begin with the time.
 * @param at when it was decided: after every message that the session had then
 */
export function hostId(prefix: 'msg' | 'prt', key: string, at: number): string {
  const time = BigInt.asUintN(48, BigInt(Math.max(0, Math.trunc(at))) * 4096n + 1n);
  let rest = BigInt(`0x${sha256(`${prefix}:${key}`)}`);
  let random = '';
  for (; random.length < 14; rest /= 62n) random += digits[Number(rest % 62n)] ?? '0';
  return `${prefix}_${time.toString(16).padStart(12, '0')}${random}`;
}

export function placeOf(key: string, at: number) {
  return { messageId: hostId('msg', key, at), partId: hostId('prt', key, at) };
}

/**
 * Who a message of ours is from: always as the last human message was. Otherwise the host would take its default agent,
 * which may write where the human's must not (P26, V9).
 */
export function speakerOf({ agent }: Session): Pick<PromptBodyLike, 'agent' | 'model' | 'variant'> {
  const model = splitModel(agent.model);
  return {
    ...(agent.name === null ? {} : { agent: agent.name }),
    ...(model === null ? {} : { model }),
    ...(agent.variant === null ? {} : { variant: agent.variant }),
  };
}

function createMemory() {
  return {
    info: null as SessionInfo | null,
    /** An error came and no step after it: idles that follow are its echoes. */
    failedSinceBusy: false,
    lastStep: null as SignalOf<'assistant'> | null,
    /** The newest message of the human; empty: none in this process. */
    lastHumanId: '',
    lastText: null as { readonly messageId: string; readonly text: string } | null,
    /** What became of the last list that the agent wrote, until its tool call has been answered. */
    written: null as Handled | null,
    /** The last continuation: a step that answers it shows that it arrived. */
    sent: null as { readonly messageId: string; readonly epoch: number } | null,
    // The rest is for a host that leaves on idle. A stop attempt was answered since it was last busy:
    answeredSinceBusy: false,
    /** The step whose stop attempt was answered before it ended. */
    answeredStep: null as string | null,
    /** Taken while the host waited for us. */
    fingerprint: null as { readonly messageId: string; readonly value: string | null } | null,
    /** The message that keeps the host from leaving after this step. */
    held: null as HeldMessage | null,
    /** If this step ends without a word, it is to be held. */
    prepared: null as { readonly stepId: string; readonly session: Session } | null,
    /** The host was told by us to leave: the abort that it reports is nobody's will. */
    leaving: false,
  };
}
type OwnMemory = ReturnType<typeof createMemory>;
export type SessionMemory = Memory<OwnMemory>;

interface HeldMessage extends ReturnType<typeof placeOf> {
  readonly stepId: string;
  /** The step was the last one: what is sent now goes here. */
  isWanted: boolean;
  /** What it was filled with; null: it says nothing yet. */
  text: string | null;
}

export interface Plugin {
  readonly told: Told<OwnMemory>;
  readonly calls: HostCalls;
  readonly voice: Voice;
  readonly clock: Clock;
  readonly directory: string;
  readonly environment: Environment;
  /** The host leaves on the first idle. */
  readonly headless: boolean;
  /** Read anew at each word of the human (V2). */
  readonly configuration: Configuration;
}

/** May the host's own behaviour be changed: texts added, tools offered? Not while we only observe (C2). */
export function changesTheHost({ configuration }: Pick<Plugin, 'configuration'>): boolean {
  return configuration.current().settings.mode === 'enforce';
}

export function createAdapter(plugin: Omit<Plugin, 'told'>): ToldAdapter<OwnMemory> {
  const { calls, voice, directory, headless } = plugin;
  return {
    own: createMemory,
    async describe(memory) {
      memory.info ??= await calls.session(memory.id);
      const { parentId = null } = memory.info ?? {};
      const kind = memory.info === null ? 'unknown' : parentId === null ? 'main' : 'subagent';
      const facts = { directory, headless, immediate: headless, everyAgentWrites: false, seesTools: true };
      const named = changesTheHost(plugin);
      const tools = { pause: named ? 'todo_pause' : null, verify: named ? 'todo_verify' : null };
      return [{ kind, parentId, ...facts, tools }, null];
    },
    todos: ({ id }) => calls.todos(id),
    async inject({ key, session, text, epoch }, memory) {
      // The place that was kept for it, if the step that just ended was the last.
      const held = memory.held?.isWanted ? memory.held : null;
      if (held !== null) held.text = text;
      const { messageId, partId } = held ?? placeOf(key, session.injection?.at ?? session.updatedAt);
      memory.sent = { messageId, epoch };
      const part = {
        id: partId,
        type: 'text',
        text,
        synthetic: true,
        metadata: { untildone: { key } },
      } as const;
      const body = { messageID: messageId, ...speakerOf(session), parts: [part] };
      const error = await calls.prompt(memory.id, body);
      return error === null ? { taken: true } : { taken: false, error };
    },
    async find({ key }, { id }) {
      const messages = await calls.messages(id);
      const keyOf = (part: Fields): unknown => recordOf(recordOf(part['metadata'])['untildone'])['key'];
      const ours = messages?.find(({ parts }) => parts.some((part) => keyOf(part) === key));
      if (messages === null || ours === undefined) return messages === null ? 'unknown' : 'absent';
      const isAnswered = messages.some(({ info: { role, parentID, finish, error }, parts }) => {
        // A step that brought nothing, not even an error, may never have reached the model.
        const brought =
          parts.length > 0 || typeof finish === 'string' || Object.keys(recordOf(error)).length > 0;
        return role === 'assistant' && parentID === ours.info['id'] && brought;
      });
      if (isAnswered) return 'present';
      // Kept but given to no model yet. Where nothing runs, the host died or was stopped in between, and sending it
      // again replaces it; where something does, it may be about to.
      return (await calls.isIdle(id)) === true ? 'absent' : 'unknown';
    },
    isIdle: async ({ id }) => (await calls.isIdle(id)) ?? false,
    toast: async (_memory, toast) => (headless ? undefined : calls.toast(toast)),
    notify: (_memory, notice) => voice.notify(notice),
  };
}

/** Long enough to read a sentence twice. */
const noticeMs = 6000;
type Notice = Omit<Toast, 'durationMs'>;
export type Voice = ReturnType<typeof createVoice>;

/** A toast where someone looks at a screen, a line on the error output where the host leaves by itself. */
export function createVoice(calls: HostCalls, clock: Clock, headless: boolean, environment: Environment) {
  const told = new Set<string>();

  async function notify({ level, title, message }: Notice): Promise<void> {
    if (headless) process.stderr.write(`${oneLine(title, 80)}: ${oneLine(message, 500)}\n`);
    else await calls.toast({ level, title, message, durationMs: noticeMs });
  }

  function warnOnce(message: string): void {
    if (told.has(message)) return;
    told.add(message);
    // A toast that cannot be shown changes nothing: what happened stands in the log.
    notify({ level: 'warning', title: 'untildone', message }).catch(() => {});
  }

  /** A failure of our own: told once and written to the log, never thrown at the host. */
  function onError(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const code = textOf(recordOf(error)['code']) ?? 'unexpected';
    const place = { at: clock.now(), host: 'opencode', hook: 'plugin', sessionId: null };
    appendFailure(environment, { ...place, code, message });
    warnOnce(`could not follow what happened, so the agent is left alone. ${oneLine(message, 300)}`);
  }

  return { notify, warnOnce, onError };
}
