// Where a history may be cut: never between a tool call and its result, nor between an approval and its answer.
// Call ids are matched in order, because some servers number the calls of every answer from zero.
import type { ModelMessage } from 'ai';

/** Entry `i`: the messages before `i` and those from `i` on share no pair. Entries 0 and `length` are always true. */
export function cutPlaces(messages: readonly ModelMessage[]): readonly boolean[] {
  const places = Array.from({ length: messages.length + 1 }, () => true);
  const open = new Map<string, number>();
  messages.forEach((message, index) => {
    for (const { opens, id } of pairEnds(message)) {
      // An answered call stays: an approval may be followed by the result, and both belong to it.
      if (opens) open.set(id, index);
      else places.fill(false, (open.get(id) ?? index) + 1, index + 1);
    }
  });
  return places;
}

interface PairEnd {
  readonly opens: boolean;
  readonly id: string;
}

function pairEnds({ content }: ModelMessage): readonly PairEnd[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part): PairEnd[] => {
    switch (part.type) {
      case 'tool-call':
        return [{ opens: true, id: `call ${part.toolCallId}` }];
      case 'tool-result':
        return [{ opens: false, id: `call ${part.toolCallId}` }];
      case 'tool-approval-request':
        return [{ opens: true, id: `approval ${part.approvalId}` }];
      case 'tool-approval-response':
        return [{ opens: false, id: `approval ${part.approvalId}` }];
      default:
        return [];
    }
  });
}
