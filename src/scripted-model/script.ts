// A script is a named story in steps. Here it is chosen for a request, and here it is told where it stands: the place is
// written into the ids of its tool calls, which clients send back with every request even when they trim the history.
// What was said after the last such call is replayed; memory holds only what the history cannot show. Requests that a
// host makes beside the work (a title, a summary, whether the agent is looping) are answered without moving any story on.
import { createHash } from 'node:crypto';
import type { ModelMessage, ModelReply, ModelRequest, ToolCall } from './model.ts';
import { isTraceless, textReply } from './model.ts';
import { always, inOrder, type Position, type Situation, type Step, say } from './steps.ts';
import { type FamilyName, familyFor, type KnownTodos, learnFromCall } from './todo-families.ts';
import { keepNewest, recordOf, textOf } from './values.ts';

export interface ScriptOptions {
  /**
   * How the server knows where the story stands. `history` (default) reads it off the messages, which survives
   * restarts of client and server; `server` counts its own replies, which survives clients that rewrite the history.
   */
  readonly cursor?: 'history' | 'server';
  /** Takes this family of todo tools even if another one is offered as well. */
  readonly family?: FamilyName | undefined;
  /** What the model does for ever once the story is told. */
  readonly afterwards?: Step;
  /** What it answers when a host asks for a title or a summary, without offering tools. */
  readonly aside?: string;
}

export interface Script extends Required<Omit<ScriptOptions, 'afterwards'>> {
  readonly name: string;
  readonly steps: Step;
}

export function script(name: string, steps: readonly Step[], options: ScriptOptions = {}): Script {
  const { cursor = 'history', afterwards = say('That is all.'), aside = 'Scripted work', family } = options;
  return { name, steps: inOrder(...steps, always(afterwards)), cursor, aside, family };
}

interface Chosen {
  readonly script: Script;
  /** The message with which this script began. */
  readonly from: number;
}

/** A name ends in a letter or digit, so that the full stop of a sentence is none of it. */
const scriptMarker = /(?:SCENARIO:|\[script:)\s*([\w.-]*\w)/;

/**
 * The last script that a human message asked for by name, else the one named like the model, else the first. A message
 * that repeats the name starts nothing anew.
 */
function chooseScript(scripts: readonly Script[], request: ModelRequest): Chosen | undefined {
  const named = (name: string | undefined) => scripts.find((candidate) => candidate.name === name);
  let chosen: Chosen | undefined;
  for (const [from, { role, text }] of request.messages.entries()) {
    const found = role === 'user' ? named(scriptMarker.exec(text)?.[1]) : undefined;
    if (found && found !== chosen?.script) chosen = { script: found, from };
  }
  const fallback = named(request.model) ?? scripts[0];
  return chosen ?? (fallback && { script: fallback, from: 0 });
}

interface Anchor {
  /** Minted with the first call of a conversation and repeated in every later one. */
  readonly conversation: string;
  /** Unique for each reply. */
  readonly serial: string;
  /** Where the story stands once the reply has been taken in. */
  readonly position: Position;
}

const anchoredId = /^call_([0-9a-z]+)_([0-9a-z]+)_at-([0-9a-z-]*)_\d+$/;

export function writeCallId({ conversation, serial, position }: Anchor, index: number): string {
  return `call_${conversation}_${serial}_at-${position.join('-')}_${index}`;
}

function readAnchor({ toolCalls }: ModelMessage): Anchor | undefined {
  const found = toolCalls.map(({ id }) => anchoredId.exec(id)).find((match) => match !== null);
  if (!found) return undefined;
  const [, conversation = '', serial = '', place = ''] = found;
  const parts = place === '' ? [] : place.split('-');
  const position = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return { conversation, serial, position };
}

/** One thing the model said, with the situation in which it said it. */
interface Moment {
  readonly before: Situation;
  readonly said: ModelMessage;
}

type Snapshots = ReadonlyMap<string, KnownTodos>;

/** Reads the messages alone, and never looks at anyone's wording. Those before `from` teach todos, but are no moments. */
function readConversation(request: ModelRequest, { script: told, from }: Chosen, snapshots: Snapshots) {
  const family = familyFor(request.tools, told.family);
  const moments: Moment[] = [];
  const calls = new Map<string, ToolCall>();
  let now: Situation = { request, family, todos: [], heard: '', results: [], isContinued: false };
  let hasStopped = false;
  let heard: string[] = [];
  for (const [index, message] of request.messages.entries()) {
    const { role, text, toolCalls, toolResults } = message;
    // Empty messages and thoughts alone are nothing that the script must have said.
    if (role === 'assistant' && (text.trim() !== '' || toolCalls.length > 0)) {
      const todos = snapshots.get(readAnchor(message)?.serial ?? '') ?? now.todos;
      if (index >= from) moments.push({ before: { ...now, todos }, said: message });
      for (const call of toolCalls) calls.set(call.id, call);
      hasStopped = toolCalls.length === 0 && index >= from;
      heard = [];
      now = { ...now, todos, heard: '', results: [], isContinued: false };
    }
    for (const result of toolResults) {
      const call = calls.get(result.id);
      const todos = call ? learnFromCall(now.todos, call, result) : now.todos;
      now = { ...now, todos, results: [...now.results, result] };
    }
    if (role === 'user' || role === 'system') {
      heard.push(text);
      now = { ...now, heard: heard.join('\n'), isContinued: hasStopped };
    }
  }
  return { moments, now };
}

export interface ScriptMemory {
  /** Where the history stood at the last request, and how far replies without a trace have led from there. */
  readonly basis: string;
  readonly reached: Position;
  /** Whether a reply that leaves a trace was given there. */
  readonly answered: boolean;
  /** The todos known when the latest replies were given, by serial: for histories that were trimmed. */
  readonly snapshots: Snapshots;
}

/** A script of failures alone would be skipped for ever when it is replayed. */
const mostSkipped = 1000;
/** A client that was killed comes back with a history that lacks the last reply or two. */
const mostSnapshots = 8;

function positionInHistory(steps: Step, moments: readonly Moment[]): Position {
  const anchors = moments.map(({ said }) => readAnchor(said));
  const last = anchors.findLastIndex((anchor) => anchor !== undefined);
  let position = anchors[last]?.position ?? [];
  for (const { before, said } of moments.slice(last + 1)) {
    const text = said.toolCalls.length === 0 ? said.text.trim() : '';
    for (let skipped = 0; skipped < mostSkipped; skipped += 1) {
      const move = steps.next(position, before);
      if (!move || move.position === 'over') break;
      position = move.position;
      // A client may keep what it had received of a reply that broke off.
      const isPart = text !== '' && (move.reply.text ?? '').startsWith(text);
      if (isPart || !isTraceless(move.reply)) break;
    }
  }
  return position;
}

export type Answer = ReturnType<typeof answerRequest>;

export function answerRequest(chosen: Chosen, request: ModelRequest, serial: string, memory?: ScriptMemory) {
  const { steps, cursor } = chosen.script;
  const { moments, now } = readConversation(request, chosen, memory?.snapshots ?? new Map());
  const byServer = cursor === 'server';
  // The same first words again, after the story had gone on: somebody tells it anew.
  const isToldAnew = moments.length === 0 && (memory?.answered || memory?.basis !== '');
  const kept = byServer || !isToldAnew ? memory : undefined;
  const base = byServer ? [] : positionInHistory(steps, moments);
  const basis = base.join('-');
  const position = kept?.basis === basis ? kept.reached : base;
  const snapshots = new Map([...(kept?.snapshots ?? []), [serial, now.todos] as const].slice(-mostSnapshots));

  const move = steps.next(position, now);
  const reply = move?.reply ?? textReply('That is all.');
  const then = !move || move.position === 'over' ? undefined : move.position;
  // What leaves a trace will be read off the next request; the rest only memory can tell.
  const answered = !then || (!byServer && !isTraceless(reply));
  const reached = then && !answered ? then : position;
  return { reply, position: then ?? position, memory: { basis, reached, answered, snapshots } };
}

/** Part of a request, for telling which prefix of it is cached. */
interface Segment {
  readonly digest: string;
  readonly tokens: number;
}

function digest(text: string): string {
  return createHash('sha1').update(text).digest('base64url');
}

/** Token counts are plausible and imitate no tokenizer: budgets and cache figures need only to move the right way. */
export function tokensOf(text = ''): number {
  return Math.ceil(text.length / 4);
}

/** The request in cacheable pieces: tools and system first, as providers order their prefix, then each message. */
export function segmentsOf({ tools, system, messages }: ModelRequest): readonly Segment[] {
  const texts = [JSON.stringify(tools), system, ...messages.map((message) => JSON.stringify(message))];
  return texts.map((text) => ({ digest: digest(text), tokens: tokensOf(text) }));
}

export function sumTokens(segments: readonly Segment[]): number {
  return segments.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** A reply that belongs to no story. */
export function outsideReply(reply: ModelReply, serial: string, aside?: Script) {
  const anchor: Anchor = { conversation: serial, serial, position: [] };
  return { reply, anchor, isAside: aside !== undefined, script: aside?.name, cachedTokens: 0 };
}

/** Headers as Node gives them. */
type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const mostConversations = 1000;

/** Asks the right script for its reply and keeps what must be remembered of each conversation. */
export class Storyteller {
  readonly #scripts: readonly Script[];
  readonly #conversations = new Map<string, { memory: ScriptMemory; segments: readonly Segment[] }>();

  constructor(scripts: readonly Script[]) {
    this.#scripts = scripts;
  }

  /** `segments` are those of the request; the prefix that the request before it had as well counts as cached. */
  reply(request: ModelRequest, headers: HttpHeaders, serial: string, segments: readonly Segment[]) {
    const chosen = chooseScript(this.#scripts, request);
    if (!chosen) return outsideReply(textReply('There is no script.'), serial);
    const { script: told, from } = chosen;
    const { wantsJson, tools, messages } = request;
    if (tools.length === 0 && (told.steps.needsTools || wantsJson)) {
      const aside = wantsJson ? JSON.stringify(sampleOf(wantsJson.schema)) : told.aside;
      return outsideReply(textReply(aside), serial, told);
    }
    const anchors = messages.slice(from).map(readAnchor);
    const anchored = anchors.findLast((anchor) => anchor !== undefined)?.conversation;
    const byHistory = told.cursor === 'history';
    const key = (byHistory ? anchored : undefined) ?? conversationKey(request, chosen, headers);
    const known = this.#conversations.get(key);
    const { reply, position, memory } = answerRequest(chosen, request, serial, known?.memory);
    // From its first call on, a conversation is known by the token in its call ids.
    const isFirstCall = byHistory && anchored === undefined && (reply.calls ?? []).length > 0;
    for (const name of isFirstCall ? [key, serial] : [key])
      keepNewest(this.#conversations, name, { memory, segments }, mostConversations);
    const differs = segments.findIndex((segment, at) => segment.digest !== known?.segments[at]?.digest);
    const cachedTokens = sumTokens(differs < 0 ? segments : segments.slice(0, differs));
    const anchor: Anchor = { conversation: anchored ?? serial, serial, position };
    return { reply, anchor, isAside: false, script: told.name, cachedTokens };
  }
}

const conversationMarker = /\[conversation:\s*([\w.-]+)\s*\]/;
/** Headers by which Claude Code and Codex name their session. */
const sessionHeaders = ['x-claude-code-session-id', 'session_id', 'session-id', 'x-session-id'];

/** Before its first call a conversation is known by a marker, by the session of its client, or by its first words. */
function conversationKey(
  request: ModelRequest,
  { script: told, from }: Chosen,
  headers: HttpHeaders,
): string {
  const humanTexts = (messages: readonly ModelMessage[]) =>
    messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  const markers = humanTexts(request.messages).map((text) => conversationMarker.exec(text)?.[1]);
  const names = [...markers, ...sessionHeaders.map((name) => headers[name])];
  const [beginning = ''] = humanTexts(request.messages.slice(from));
  const byName = names.find((name) => name !== undefined);
  return [told.name, byName ?? digest(`${request.conversation ?? ''}\n${beginning}`)].join('|');
}

/** Gemini CLI's own questions, answered so that it neither suspects a loop nor speaks on. */
const calmAnswer: Readonly<Record<string, unknown>> = {
  unproductive_state_analysis: 'The conversation makes progress.',
  unproductive_state_confidence: 0,
  confidence: 0,
  reasoning: 'The conversation makes progress.',
  complexity_score: 50,
  next_speaker: 'user',
};

const deepest = 8;
const smallest: Readonly<Record<string, unknown>> = { string: '', boolean: false, array: [], null: null };

/** The smallest value that fits a JSON Schema (or Gemini's dialect of it, with its upper-case types). */
function sampleOf(schema: unknown, depth = 0): unknown {
  if (schema === undefined && depth === 0) return calmAnswer;
  const { const: only, enum: choices, anyOf, oneOf, minimum } = recordOf(schema);
  if (only !== undefined) return only;
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  const [variant] = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (variant !== undefined && depth < deepest) return sampleOf(variant, depth + 1);
  const type = textOf(schema, 'type').toLowerCase();
  if (type === 'number' || type === 'integer') return typeof minimum === 'number' ? minimum : 0;
  if (Object.hasOwn(smallest, type)) return smallest[type];
  const properties = depth < deepest ? Object.entries(recordOf(schema, 'properties')) : [];
  const sample = (name: string, inner: unknown): unknown =>
    Object.hasOwn(calmAnswer, name) ? calmAnswer[name] : sampleOf(inner, depth + 1);
  return Object.fromEntries(properties.map(([name, inner]) => [name, sample(name, inner)]));
}
