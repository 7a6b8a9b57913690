// Responses, outgoing as a stream: every output item is added, filled by deltas and done; each event is numbered.
import { recordsOf, textOf } from '../../json-value.ts';
import type { ModelReply } from '../../model-reply.ts';
import { inPieces, type RenderContext, type WireEvent } from '../../wire.ts';
import { type OutputItem, outputItems, responseObject } from './render-reply.ts';

type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** The same item before anything has been streamed into it. */
function emptied(item: OutputItem): OutputItem {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'reasoning':
      return { ...item, summary: [] };
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' };
    default:
      return { ...item, status: 'in_progress', arguments: '' };
  }
}

function messageEvents(item: OutputItem, place: object): readonly Event[] {
  return recordsOf(item['content']).flatMap((part): readonly Event[] => {
    const at = { ...place, content_index: 0 };
    const refused = part['type'] === 'refusal';
    const name = refused ? 'response.refusal' : 'response.output_text';
    const text = textOf(refused ? part['refusal'] : part['text']);
    const empty = refused ? { ...part, refusal: '' } : { ...part, text: '' };
    return [
      { type: 'response.content_part.added', ...at, part: empty },
      ...inPieces(text).map((delta) => ({
        type: `${name}.delta`,
        ...at,
        delta,
        ...(refused ? {} : { logprobs: [] }),
      })),
      { type: `${name}.done`, ...at, ...(refused ? { refusal: text } : { text, logprobs: [] }) },
      { type: 'response.content_part.done', ...at, part },
    ];
  });
}

function reasoningEvents(item: OutputItem, place: object): readonly Event[] {
  return recordsOf(item['summary']).flatMap((part): readonly Event[] => {
    const at = { ...place, summary_index: 0 };
    const text = textOf(part['text']);
    return [
      { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
      ...inPieces(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
      { type: 'response.reasoning_summary_text.done', ...at, text },
      { type: 'response.reasoning_summary_part.done', ...at, part },
    ];
  });
}

function callEvents(item: OutputItem, place: object): readonly Event[] {
  const throughCode = item.type === 'custom_tool_call';
  const name = throughCode ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  const field = throughCode ? 'input' : 'arguments';
  const text = textOf(item[field]);
  return [
    ...inPieces(text).map((delta) => ({ type: `${name}.delta`, ...place, delta })),
    { type: `${name}.done`, ...place, [field]: text },
  ];
}

function itemEvents(item: OutputItem, index: number): readonly Event[] {
  const place = { item_id: item.id, output_index: index };
  const fill =
    item.type === 'message' ? messageEvents : item.type === 'reasoning' ? reasoningEvents : callEvents;
  return [
    { type: 'response.output_item.added', output_index: index, item: emptied(item) },
    ...fill(item, place),
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

export function streamResponsesReply(reply: ModelReply, context: RenderContext): readonly WireEvent[] {
  const items = outputItems(reply, context);
  const begun = responseObject('in_progress', [], reply, context);
  const finished = responseObject('finished', items, reply, context);
  const events: readonly Event[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap(itemEvents),
    {
      type: finished.status === 'incomplete' ? 'response.incomplete' : 'response.completed',
      response: finished,
    },
  ];
  return events.map((event, number) => ({ event: event.type, data: { ...event, sequence_number: number } }));
}
