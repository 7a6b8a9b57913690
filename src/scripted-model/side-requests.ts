// Hosts ask their model for more than work: a title, a summary, whether the agent is looping. Such requests offer no
// tools; they get a plain or a JSON answer and leave the story where it stands.
import { listOf, recordOf, textOf } from './json-value.ts';
import { type ModelReply, textReply } from './model-reply.ts';
import type { ModelRequest } from './model-request.ts';
import type { Script } from './script/script.ts';

export function isSideRequest(request: ModelRequest, script: Script): boolean {
  if (request.tools.length > 0) return false;
  return script.steps.needsTools || request.wantsJson !== undefined;
}

/** Gemini CLI's own questions, answered so that it neither suspects a loop nor speaks on. */
const CALM_ANSWER = {
  unproductive_state_analysis: 'The conversation makes progress.',
  unproductive_state_confidence: 0,
  confidence: 0,
  reasoning: 'The conversation makes progress.',
  complexity_score: 50,
  next_speaker: 'user',
};

const DEEPEST = 8;

/** The smallest value that fits a JSON Schema (or Gemini's dialect of it, with its upper-case types). */
function sampleOf(schema: unknown, depth = 0): unknown {
  const shape = recordOf(schema);
  if (shape['const'] !== undefined) return shape['const'];
  const choices = listOf(shape['enum']);
  if (choices.length > 0) return choices[0];
  const variant = listOf(shape['anyOf'])[0] ?? listOf(shape['oneOf'])[0];
  if (variant !== undefined && depth < DEEPEST) return sampleOf(variant, depth + 1);
  switch (textOf(shape['type']).toLowerCase()) {
    case 'string':
      return '';
    case 'number':
    case 'integer':
      return typeof shape['minimum'] === 'number' ? shape['minimum'] : 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'null':
      return null;
    default:
      return depth < DEEPEST ? sampleObject(shape, depth) : {};
  }
}

function sampleObject(shape: Readonly<Record<string, unknown>>, depth: number): unknown {
  const calm: Readonly<Record<string, unknown>> = CALM_ANSWER;
  const properties = Object.entries(recordOf(shape['properties']));
  return Object.fromEntries(
    properties.map(([name, inner]) => [
      name,
      Object.hasOwn(calm, name) ? calm[name] : sampleOf(inner, depth + 1),
    ]),
  );
}

export function answerSideRequest(request: ModelRequest, script: Script): ModelReply {
  if (!request.wantsJson) return textReply(script.aside);
  const { schema } = request.wantsJson;
  return textReply(JSON.stringify(schema === undefined ? CALM_ANSWER : sampleOf(schema)));
}
