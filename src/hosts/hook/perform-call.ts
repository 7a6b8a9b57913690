// One call, performed: which of the few kinds it is, and nothing more.
import type { HookContext } from './hook-context.ts';
import type { HookAnswer } from './hook-request.ts';
import { performCompletion } from './perform-completion.ts';
import { performOpen } from './perform-open.ts';
import { performPrompt } from './perform-prompt.ts';
import { performStop } from './perform-stop.ts';
import { addEvents } from './record-events.ts';

export async function performCall(context: HookContext): Promise<HookAnswer> {
  const { runtime, store, parts, call } = context;
  const { asks, sessionId, at } = call;
  switch (asks.type) {
    case 'record':
      if (asks.receipt === null) {
        await addEvents(store, asks.events);
        return { type: 'nothing' };
      }
      // Decided and not only added: what waits in the inbox must be in the plan that the call's todos are compared with.
      for (const event of asks.events) await runtime.handle(event);
      await parts.bindReceipt(store, runtime, { receipt: asks.receipt, sessionId, at });
      return { type: 'nothing' };
    case 'fail':
      for (const event of asks.events) await runtime.handle(event);
      return { type: 'nothing' };
    case 'open':
      return performOpen(context, asks);
    case 'prompt':
      return performPrompt(context, asks.text, asks.speaker);
    case 'complete':
      return performCompletion(context, asks.todoKey);
    case 'stop':
      return performStop(context, asks.stop);
  }
}
