// What is told of the events that a session has in the store, as the events of a run. Hosts tell less than our own
// agent does: a tool call of theirs has a name and an end, but no input.
import type { Event, EventOf } from '../../core/events.ts';
import type { SessionEvent } from '../view/view-event.ts';

export interface StoredEvents {
  /** Each event once, whether it waits in the inbox or was applied. */
  take(events: readonly Event[]): SessionEvent[];
}

/** Our own agent writes its calls down with their inputs, so that they are not told from here. */
export function createStoredEvents(tellsCalls: boolean): StoredEvents {
  const seen = new Set<string>();
  /** Calls that have started, by tool, oldest first. */
  const running = new Map<string, { readonly id: string; readonly at: number }[]>();

  function calls(event: Event): SessionEvent[] {
    if (event.type === 'tool-started') {
      const { id, at, tool, sessionId } = event;
      running.set(tool, [...(running.get(tool) ?? []), { id, at }]);
      return [{ type: 'tool-started', at, sessionId, callId: id, tool, input: null }];
    }
    if (event.type !== 'tool-ended') return [];
    const { id, at, tool, sessionId, error } = event;
    const [first, ...rest] = running.get(tool) ?? [];
    running.set(tool, rest);
    const milliseconds = first === undefined ? 0 : Math.max(0, at - first.at);
    const result = { ok: error === null, output: error ?? '', milliseconds };
    return [{ type: 'tool-ended', at, sessionId, callId: first?.id ?? id, tool, ...result }];
  }

  return {
    take(events) {
      const fresh = events.filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) seen.add(id);
      return fresh.flatMap((event) => [...(tellsCalls ? calls(event) : []), ...told(event)]);
    },
  };
}

/** What a human would want to read of it; most events show in the state of the session instead. */
function told(event: Event): SessionEvent[] {
  const { at, sessionId } = event;
  const notice = (sentence: string): SessionEvent[] => [{ type: 'notice', at, sessionId, sentence }];
  switch (event.type) {
    case 'human-spoke':
      return event.text === null
        ? []
        : [{ type: 'human-message', at, sessionId, text: event.text, state: 'joined' }];
    case 'human-aborted':
      return notice(`Stopped by the human (${event.how}).`);
    case 'human-paused':
      return notice(`Paused by the human${event.reason === null ? '' : `: ${event.reason}`}.`);
    case 'human-resumed':
      return notice('Resumed by the human.');
    case 'model-paused':
      return notice(`The agent paused: ${event.reason}`);
    case 'loop-alarmed':
      return notice(`Loop alarm: ${event.pattern}`);
    case 'host-cap-reached':
      return notice(`The host takes no more than ${event.cap} continuations in a turn.`);
    case 'wait-started':
      return fromWait(event.wait, notice);
    case 'wait-ended':
      return event.wait.kind === 'background' ? notice(`Background work ended: ${event.wait.jobId}`) : [];
    case 'delivery-reported':
      return event.news === 'failed' ? notice(`A continuation could not be sent: ${event.error}`) : [];
    case 'record-broken':
      return notice(event.sentence);
    case 'error-occurred':
      return [
        { type: 'error', at, sessionId, kind: event.kind, sentence: event.message, retryAt: event.retryAt },
      ];
    default:
      return [];
  }
}

function fromWait(
  wait: EventOf<'wait-started'>['wait'],
  notice: (sentence: string) => SessionEvent[],
): SessionEvent[] {
  if (wait.kind === 'question') return notice('The agent asks the human something.');
  if (wait.kind === 'compaction') return notice('The context is being compacted.');
  if (wait.kind !== 'background') return [];
  return notice(`Background ${wait.job.kind} started: ${wait.job.description}`);
}
