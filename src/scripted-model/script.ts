// Which script answers, and where it stands: the place is written into its tool call ids,
// which clients send back even when they trim the history. What was said after the last
// call is replayed; memory holds what no history can show.
import { createHash } from 'node:crypto';
import type { ModelMessage, ModelReply, ModelRequest, ToolCall } from './model.ts';
import { callReply, isTraceless, textReply } from './model.ts';
import {
  always,
  inOrder,
  type Position,
  type Situation,
  type Step,
  say,
} from './steps.ts';
import {
  type FamilyName,
  familyFor,
  isSearch,
  type KnownTodos,
  learnFromCall,
  searchBefore,
} from './todo-families.ts';
import { joinTexts, keepNewest, recordOf, textOf } from './values.ts';

/** How a script is told apart and followed. */
export type ScriptOptions = Readonly<{
  /**
   * Where the story stands: read off the messages (survives restarts), or counted
   * (survives rewritten histories).
   */
  cursor?: 'history' | 'server';
  /** Taken even if another family of todo tools is offered. */
  family?: FamilyName | undefined;
  /** What the model does for ever once the story is told. */
  afterwards?: Step;
  /** Its answer when a host asks for a title or a summary, without offering tools. */
  aside?: string;
}>;

/** What `script` gives. */
export type Script = Required<Omit<ScriptOptions, 'afterwards'>> &
  Readonly<{ name: string; steps: Step }>;

/** A story: the steps that the model plays, one after the other. */
export function script(
  name: string,
  steps: readonly Step[],
  options: ScriptOptions = {},
): Script {
  const {
    cursor = 'history',
    afterwards = say('That is all.'),
    aside = 'Scripted work',
    family,
  } = options;
  return { name, steps: inOrder(...steps, always(afterwards)), cursor, aside, family };
}

type Chosen = Readonly<{ script: Script; from: number }>;

/** Ends in a letter or digit: the full stop of a sentence is no part of it. */
const scriptMarker = /(?:SCENARIO:|\[script:)\s*([\w.-]*\w)/;

/**
 * The last one that a human message names (again: nothing starts anew), else named like
 * the model, else the first.
 */
function chooseScript(
  scripts: readonly Script[],
  request: ModelRequest,
): Chosen | undefined {
  const named = (name: string | undefined) =>
    scripts.find((candidate) => candidate.name === name);
  let chosen: Chosen | undefined;
  for (const [from, { role, text }] of request.messages.entries()) {
    const found = role === 'user' ? named(scriptMarker.exec(text)?.[1]) : undefined;
    if (found && found !== chosen?.script) chosen = { script: found, from };
  }
  const fallback = named(request.model) ?? scripts[0];
  return chosen ?? (fallback && { script: fallback, from: 0 });
}

/**
 * The conversation is named with its first call; the position holds once the reply has
 * been taken in.
 */
type Anchor = Readonly<{ conversation: string; serial: string; position: Position }>;

const anchoredId = /^call_([0-9a-z]+)_([0-9a-z]+)_at-([0-9a-z-]*)_\d+$/;

export const writeCallId = ({ conversation, serial, position }: Anchor, index: number) =>
  `call_${conversation}_${serial}_at-${position.join('-')}_${index}`;

function readAnchor({ toolCalls }: ModelMessage): Anchor | undefined {
  const found = toolCalls
    .map(({ id }) => anchoredId.exec(id))
    .find((match) => match !== null);
  if (!found) return undefined;
  const [, conversation = '', serial = '', place = ''] = found;
  const parts = place.match(/\w+/g) ?? [];
  return {
    conversation,
    serial,
    position: parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  };
}

/** What hosts put in the place of an answer that broke off. */
const placeholders = [
  'No response requested.',
  '[The previous response was interrupted before it completed.]',
];

type Moment = Readonly<{ before: Situation; said: ModelMessage }>;
type Snapshots = ReadonlyMap<string, KnownTodos>;

/** Messages before `from` teach todos, but are no moments. */
function readConversation(
  request: ModelRequest,
  { script: told, from }: Chosen,
  snapshots: Snapshots,
) {
  const family = familyFor(request.tools, told.family);
  const moments: Moment[] = [];
  const calls = new Map<string, ToolCall>();
  let now: Situation = {
    request,
    family,
    todos: [],
    heard: '',
    results: [],
    isContinued: false,
  };
  let hasStopped = false;
  for (const [index, message] of request.messages.entries()) {
    const { role, text, toolCalls, toolResults } = message;
    // Empty messages, thoughts and placeholders are nothing that the script said.
    const isSaid = toolCalls.length > 0 || !['', ...placeholders].includes(text.trim());
    if (role === 'assistant' && isSaid) {
      const todos = snapshots.get(readAnchor(message)?.serial ?? '') ?? now.todos;
      if (index >= from) moments.push({ before: { ...now, todos }, said: message });
      for (const call of toolCalls) calls.set(call.id, call);
      // A search only prepares the answer to the message before it.
      if (!toolCalls.some(isSearch)) {
        hasStopped = toolCalls.length === 0 && index >= from;
        now = { ...now, heard: '', results: [], isContinued: false };
      }
      now = { ...now, todos };
    }
    for (const result of toolResults) {
      const call = calls.get(result.id);
      const todos = call ? learnFromCall(now.todos, call, result) : now.todos;
      now = { ...now, todos, results: [...now.results, result] };
    }
    if (role === 'user' || role === 'system')
      now = { ...now, heard: joinTexts([now.heard, text]), isContinued: hasStopped };
  }
  return { moments, now };
}

export type ScriptMemory = Readonly<{
  /** Where the history stood, and how far replies without a trace have led from there. */
  basis: string;
  reached: Position;
  /** A reply that leaves a trace was given there. */
  answered: boolean;
  /** By serial, for histories that were trimmed. */
  snapshots: Snapshots;
}>;

/** A script of failures alone would be skipped for ever. */
const mostSkipped = 1000;
/**
 * A killed client comes back without the last reply or two, one whose store was put back
 * without dozens.
 */
const mostSnapshots = 100;

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
      // A client may keep a part of a reply that broke off.
      const isPart = text !== '' && (move.reply.text ?? '').startsWith(text);
      if (isPart || !isTraceless(move.reply)) break;
    }
  }
  return position;
}

export function answerRequest(
  chosen: Chosen,
  request: ModelRequest,
  serial: string,
  memory?: ScriptMemory,
) {
  const { steps, cursor } = chosen.script;
  const { moments, now } = readConversation(
    request,
    chosen,
    memory?.snapshots ?? new Map(),
  );
  const byServer = cursor === 'server';
  // The first words again, after the story had gone on: it is told anew.
  const isToldAnew = moments.length === 0 && (memory?.answered || memory?.basis !== '');
  const kept = byServer || !isToldAnew ? memory : undefined;
  const base = byServer ? [] : positionInHistory(steps, moments);
  const basis = base.join('-');
  const position = kept?.basis === basis ? kept.reached : base;
  const snapshots = new Map(
    [...(kept?.snapshots ?? []), [serial, now.todos] as const].slice(-mostSnapshots),
  );

  const move = steps.next(position, now);
  const reply = move?.reply ?? textReply('That is all.');
  // A model that has just searched and still lacks a tool calls it all the same.
  const hasSearched = moments.at(-1)?.said.toolCalls.some(isSearch) === true;
  const search = hasSearched ? undefined : searchBefore(reply.calls ?? [], request.tools);
  // The step of the script is taken at the next request, when the tools are there.
  if (search !== undefined) {
    const unmoved = { basis, reached: position, answered: !byServer, snapshots };
    return { reply: callReply([search]), position, memory: unmoved };
  }
  const then = !move || move.position === 'over' ? undefined : move.position;
  // What leaves a trace is read off the next request; the rest only memory can tell.
  const answered = !then || (!byServer && !isTraceless(reply));
  const reached = then && !answered ? then : position;
  return {
    reply,
    position: then ?? position,
    memory: { basis, reached, answered, snapshots },
  };
}

type Segments = readonly Readonly<{ digest: string; tokens: number }>[];

const digest = (text: string) => createHash('sha1').update(text).digest('base64url');

/** Plausible, no tokenizer: budgets and cache figures need only move the right way. */
export const tokensOf = (text = '') => Math.ceil(text.length / 4);

/** In the order of providers' cached prefixes. */
export function segmentsOf({ tools, system, messages }: ModelRequest): Segments {
  const texts = [
    JSON.stringify(tools),
    system,
    ...messages.map((message) => JSON.stringify(message)),
  ];
  return texts.map((text) => ({ digest: digest(text), tokens: tokensOf(text) }));
}

export const sumTokens = (segments: Segments) =>
  segments.reduce((sum, { tokens }) => sum + tokens, 0);

export function outsideReply(reply: ModelReply, serial: string, aside?: Script) {
  const anchor: Anchor = { conversation: serial, serial, position: [] };
  return {
    reply,
    anchor,
    isAside: aside !== undefined,
    script: aside?.name,
    cachedTokens: 0,
  };
}

type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const mostConversations = 1000;

export function createStoryteller(scripts: readonly Script[]) {
  const conversations = new Map<string, { memory: ScriptMemory; segments: Segments }>();

  /** The prefix that the request before had too counts as cached. */
  return (
    request: ModelRequest,
    headers: HttpHeaders,
    serial: string,
    segments: Segments,
  ) => {
    const chosen = chooseScript(scripts, request);
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
    const key =
      (byHistory ? anchored : undefined) ?? conversationKey(request, chosen, headers);
    const known = conversations.get(key);
    const { reply, position, memory } = answerRequest(
      chosen,
      request,
      serial,
      known?.memory,
    );
    // From its first call on it is known by the token in its call ids.
    const isFirstCall =
      byHistory && anchored === undefined && (reply.calls ?? []).length > 0;
    for (const name of isFirstCall ? [key, serial] : [key])
      keepNewest(conversations, name, { memory, segments }, mostConversations);
    const differs = segments.findIndex(
      (segment, at) => segment.digest !== known?.segments[at]?.digest,
    );
    const cachedTokens = sumTokens(differs < 0 ? segments : segments.slice(0, differs));
    const anchor: Anchor = { conversation: anchored ?? serial, serial, position };
    return { reply, anchor, isAside: false, script: told.name, cachedTokens };
  };
}

const conversationMarker = /\[conversation:\s*([\w.-]+)\s*\]/;
/** Of Claude Code and Codex. */
const sessionHeaders = [
  'x-claude-code-session-id',
  'session_id',
  'session-id',
  'x-session-id',
];

/** Before its first call: a marker, the client's session, or the first words. */
function conversationKey(
  request: ModelRequest,
  { script: told, from }: Chosen,
  headers: HttpHeaders,
) {
  const { messages, conversation = '' } = request;
  const isHuman = ({ role }: ModelMessage) => role === 'user';
  const markers = messages
    .filter(isHuman)
    .map(({ text }) => conversationMarker.exec(text)?.[1]);
  const names = [...markers, ...sessionHeaders.map((name) => headers[name])];
  const beginning = messages.slice(from).find(isHuman)?.text ?? '';
  const byName = names.find((name) => name !== undefined);
  return [told.name, byName ?? digest(`${conversation}\n${beginning}`)].join('|');
}

/** Gemini CLI's own questions: no loop is suspected, and nobody speaks on. */
const calmAnswer: Readonly<Record<string, unknown>> = {
  unproductive_state_analysis: 'The conversation makes progress.',
  unproductive_state_confidence: 0,
  confidence: 0,
  reasoning: 'The conversation makes progress.',
  complexity_score: 50,
  next_speaker: 'user',
};

const deepest = 8;
const smallest: Readonly<Record<string, unknown>> = {
  string: '',
  boolean: false,
  array: [],
  null: null,
};

/**
 * The smallest value that fits a JSON Schema or Gemini's dialect with upper-case types.
 */
function sampleOf(schema: unknown, depth = 0): unknown {
  if (schema === undefined && depth === 0) return calmAnswer;
  const { const: only, enum: choices, anyOf, oneOf, minimum } = recordOf(schema);
  if (only !== undefined) return only;
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  const [variant] = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (variant !== undefined && depth < deepest) return sampleOf(variant, depth + 1);
  const type = textOf(schema, 'type').toLowerCase();
  if (type === 'number' || type === 'integer')
    return typeof minimum === 'number' ? minimum : 0;
  if (Object.hasOwn(smallest, type)) return smallest[type];
  const properties =
    depth < deepest ? Object.entries(recordOf(schema, 'properties')) : [];
  const sample = (name: string, inner: unknown): unknown =>
    Object.hasOwn(calmAnswer, name) ? calmAnswer[name] : sampleOf(inner, depth + 1);
  return Object.fromEntries(
    properties.map(([name, inner]) => [name, sample(name, inner)]),
  );
}
