// Responses, outgoing as one object. The output items built here are also what the stream sends piece by piece.
import type { ModelReply } from '../../model-reply.ts';
import { offerOf, type RenderContext } from '../../wire.ts';
import { writeCodeCall } from './code-mode.ts';

export type OutputItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };

function callItem(name: string, input: unknown, index: number, context: RenderContext): OutputItem {
  const offer = offerOf(context.request, name);
  const shared = { call_id: context.callIds[index], status: 'completed' };
  if (offer?.throughCode !== undefined) {
    const id = `ctc_${context.replyId}_${index}`;
    return {
      id,
      type: 'custom_tool_call',
      ...shared,
      name: offer.throughCode,
      input: writeCodeCall(name, input),
    };
  }
  return {
    id: `fc_${context.replyId}_${index}`,
    type: 'function_call',
    ...shared,
    name,
    ...(offer?.namespace === undefined ? {} : { namespace: offer.namespace }),
    arguments: JSON.stringify(input),
  };
}

export function outputItems(reply: ModelReply, context: RenderContext): readonly OutputItem[] {
  const items: OutputItem[] = [];
  if (reply.thinking !== undefined) {
    const summary = [{ type: 'summary_text', text: reply.thinking }];
    items.push({ id: `rs_${context.replyId}`, type: 'reasoning', summary });
  }
  if (reply.text !== undefined) {
    const part =
      reply.finish === 'refusal'
        ? { type: 'refusal', refusal: reply.text }
        : { type: 'output_text', text: reply.text, annotations: [] };
    const status = reply.finish === 'length' ? 'incomplete' : 'completed';
    items.push({ id: `msg_${context.replyId}`, type: 'message', role: 'assistant', status, content: [part] });
  }
  (reply.calls ?? []).forEach((call, index) => {
    items.push(callItem(call.name, call.input, index, context));
  });
  return items;
}

const INCOMPLETE: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};

export function responseObject(
  status: 'in_progress' | 'finished',
  output: readonly OutputItem[],
  reply: ModelReply,
  context: RenderContext,
) {
  const reason = status === 'finished' ? INCOMPLETE[reply.finish] : undefined;
  const { usage } = context;
  return {
    id: `resp_${context.replyId}`,
    object: 'response',
    created_at: context.createdAtSeconds,
    status: status === 'in_progress' ? status : reason === undefined ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model: context.request.model,
    output,
    parallel_tool_calls: true,
    usage:
      status === 'in_progress'
        ? null
        : {
            input_tokens: usage.inputTokens,
            input_tokens_details: { cached_tokens: usage.cachedTokens },
            output_tokens: usage.outputTokens,
            output_tokens_details: { reasoning_tokens: usage.thinkingTokens },
            total_tokens: usage.inputTokens + usage.outputTokens,
          },
  };
}

export function wholeResponsesReply(reply: ModelReply, context: RenderContext): unknown {
  return responseObject('finished', outputItems(reply, context), reply, context);
}
