// The tool calls that the live view remembers: those that run, and the last ones that ended. Pure.
import type { EventOf } from '../../agent/agent-event.ts';
import type { CallView } from './view-state.ts';

/** Enough to look back over a step or two; their outputs are cut already. */
const rememberedCalls = 20;

export function reduceCall(
  calls: readonly CallView[],
  event: EventOf<'tool-started'> | EventOf<'tool-ended'>,
  workerId: string | null,
): readonly CallView[] {
  const others = calls.filter(({ callId }) => callId !== event.callId);
  const known = calls.find(({ callId }) => callId === event.callId);
  const call = event.type === 'tool-started' ? started(event, workerId) : ended(event, known, workerId);
  return [...others, call].slice(-rememberedCalls);
}

function started({ callId, tool, input, at }: EventOf<'tool-started'>, workerId: string | null): CallView {
  return { callId, workerId, tool, input, startedAt: at, ended: null };
}

function ended(event: EventOf<'tool-ended'>, known: CallView | undefined, workerId: string | null): CallView {
  const { callId, tool, ok, output, milliseconds, at } = event;
  return {
    callId,
    workerId,
    tool,
    input: known?.input ?? null,
    startedAt: known?.startedAt ?? at - milliseconds,
    ended: { ok, output, milliseconds },
  };
}
