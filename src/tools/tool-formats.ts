// The todo tools in the formats in which models and frameworks take tools.
import { UntildoneError } from '../core/error.ts';
import { excerpt } from '../core/problem.ts';
import type { JsonSchema } from '../core/schema.ts';
import { type TodoTool, todoToolsFor } from './todo-tools.ts';

/**
 * The formats of tools: as the API of OpenAI (chat completions), that of Anthropic, or
 * MCP and most others want it.
 */
export const toolFormats = ['openai', 'anthropic', 'json-schema'] as const;
/** One of these formats. */
export type ToolFormat = (typeof toolFormats)[number];

type Written = Pick<TodoTool, 'name' | 'description'>;
export type ToolFormats = {
  openai: { type: 'function'; function: Written & { parameters: JsonSchema } };
  anthropic: Written & { input_schema: JsonSchema };
  'json-schema': Pick<TodoTool, 'name' | 'description' | 'inputSchema'>;
};

const write: {
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

/** What the model is told about them; `session.tools` has what they do. */
export function todoToolFormat<Format extends ToolFormat>(
  format: Format,
): ToolFormats[Format][] {
  if (!toolFormats.includes(format)) {
    const sentence = `toolsFor: must be one of ${toolFormats.join(', ')}, got ${excerpt(format)}`;
    throw new UntildoneError('usage', sentence);
  }
  return todoToolsFor('agent').map(write[format]);
}

/**
 * A JSON Schema that is a Standard Schema too, so that the AI SDK takes it as it is. Any
 * value is valid: the tool tells the model what is wrong with its input, in words that
 * help it.
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

export function toolSchema(schema: JsonSchema): ToolSchema {
  // A copy for everyone: some add to what they get.
  const copy = () => structuredClone(schema) as Record<string, unknown>;
  const standard: ToolSchema['~standard'] = {
    version: 1,
    vendor: 'untildone',
    validate: (value) => ({ value }),
    jsonSchema: { input: copy, output: copy },
  };
  // Not listed: whoever writes the schema down wants the keywords alone.
  return Object.defineProperty(copy(), '~standard', { value: standard }) as ToolSchema;
}
