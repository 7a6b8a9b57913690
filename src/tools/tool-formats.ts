// The todo tools in the formats in which models and frameworks take tools. It runs none
// of them.
import { UntildoneError } from '../core/error.ts';
import { excerpt } from '../core/problem.ts';
import type { JsonSchema } from '../core/schema.ts';
import { type TodoTool, todoToolsFor } from './todo-tools.ts';

/**
 * The formats of tools: as the API of OpenAI (chat completions) wants them, that of
 * Anthropic, or MCP and most others.
 */
export const toolFormats = ['openai', 'anthropic', 'json-schema'] as const;
/** One of these formats. */
export type ToolFormat = (typeof toolFormats)[number];

type ToolText = Pick<TodoTool, 'name' | 'description'>;
/** What each format looks like. */
export type ToolFormats = {
  openai: { type: 'function'; function: ToolText & { parameters: JsonSchema } };
  anthropic: ToolText & { input_schema: JsonSchema };
  'json-schema': Pick<TodoTool, 'name' | 'description' | 'inputSchema'>;
};

const writeTool: {
  [Format in ToolFormat]: (tool: ToolFormats['json-schema']) => ToolFormats[Format];
} = {
  openai: ({ name, description, inputSchema: parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }),
  anthropic: ({ name, description, inputSchema: input_schema }) => ({
    name,
    description,
    input_schema,
  }),
  'json-schema': ({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }),
};

/**
 * The todo tools as a model is told about them; `session.tools` runs them. Throws `usage`
 * for an unknown format.
 */
export function todoToolFormat<Format extends ToolFormat>(
  format: Format,
): ToolFormats[Format][] {
  if (!toolFormats.includes(format)) {
    const sentence = `toolsFor: must be one of ${toolFormats.join(', ')}, got ${excerpt(format)}`;
    throw new UntildoneError('usage', sentence);
  }
  return todoToolsFor('agent').map(writeTool[format]);
}

/**
 * A JSON Schema that is a Standard Schema too, so that the AI SDK takes it as it is. Any
 * value is valid: the tool itself tells the model what is wrong with its input.
 */
export type ToolSchema = JsonSchema & {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'untildone';
    validate(value: unknown): { readonly value: unknown };
    readonly jsonSchema: {
      input(): Record<string, unknown>;
      output(): Record<string, unknown>;
    };
  };
};

/** Makes such a schema from a JSON Schema, which stays as it is. */
export function toolSchema(schema: JsonSchema): ToolSchema {
  // Each caller gets a copy: some add to what they get.
  const copy = () => structuredClone(schema) as Record<string, unknown>;
  const standard: ToolSchema['~standard'] = {
    version: 1,
    vendor: 'untildone',
    validate: (value) => ({ value }),
    jsonSchema: { input: copy, output: copy },
  };
  // Not enumerable: a program that writes the schema down wants only its keywords.
  return Object.defineProperty(copy(), '~standard', { value: standard }) as ToolSchema;
}
