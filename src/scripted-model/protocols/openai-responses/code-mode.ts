// Codex's code mode: instead of offering its tools one by one it offers `exec`, whose description declares them, and
// the model calls them from JavaScript. We write one such line and read the same line back; nothing is ever run here.
import { type JsonRecord, parseJson, recordOf, textOf } from '../../json-value.ts';
import type { ToolCall, ToolOffer } from '../../model-request.ts';

const DECLARED_TOOL = /declare const tools: \{ (\w+)/g;
const WRITTEN_CALL = /^const result = await tools\.(\w+)\((.*)\); text\(result\);$/s;

export function offersThroughCode(tool: JsonRecord): readonly ToolOffer[] {
  const through = textOf(tool['name']);
  const declared = textOf(tool['description']).matchAll(DECLARED_TOOL);
  return Array.from(declared, ([, name]) => ({ name: name ?? '', schema: undefined, throughCode: through }));
}

export function writeCodeCall(name: string, input: unknown): string {
  return `const result = await tools.${name}(${JSON.stringify(input)}); text(result);`;
}

export function readCodeCall(item: JsonRecord): ToolCall {
  const code = textOf(item['input']);
  const written = WRITTEN_CALL.exec(code);
  const id = textOf(item['call_id']);
  if (!written) return { id, name: textOf(item['name']), input: code };
  return { id, name: written[1] ?? '', input: recordOf(parseJson(written[2] ?? '')) };
}
