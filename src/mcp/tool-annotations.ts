// What a client may tell its human about a todo tool before it runs. Nothing here is destructive: rows are never
// deleted, and every change is in the ledger.
import type { ToolAnnotations } from '@modelcontextprotocol/server';

const reading = new Set(['list_todo', 'todo_read']);
/** A second call with the same input adds nothing to the first. */
const repeatable = new Set(['complete_todo', 'update_todo', 'todo_write', 'todo_pause', 'todo_verify']);

export function annotationsOf(tool: string): ToolAnnotations {
  const readOnlyHint = reading.has(tool);
  return {
    readOnlyHint,
    destructiveHint: false,
    idempotentHint: readOnlyHint || repeatable.has(tool),
    openWorldHint: false,
  };
}
