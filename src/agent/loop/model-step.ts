// One model step: the prompt, the call, the guarded stream to the watchers, and the step written down at its end.
// It neither decides nor retries; what happened comes back as a value.
import {
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  streamText,
  type TextStreamPart,
  type ToolSet,
  tool,
} from 'ai';
import type { StopEnd } from '../../core/events.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Emit } from '../agent-event.ts';
import type { CallPrompt } from '../context/prompt.ts';
import type { GuardQuestions } from '../guard/answer-stop.ts';
import { guardStep } from '../guard/guard-step.ts';
import type { AgentTool } from './agent-tool.ts';
import { toolOutput } from './interrupted-calls.ts';
import type { CallTool, ToolCallResult } from './tool-calls.ts';
import type { Transcript, TranscriptMessage } from './transcript.ts';

type Part = TextStreamPart<ToolSet>;

export interface ModelStepOptions {
  readonly model: LanguageModel;
  readonly tools: readonly AgentTool[];
  /** The whole prompt, built anew for each attempt from the transcript. */
  readonly prompt: () => Promise<CallPrompt>;
  readonly transcript: Transcript;
  readonly callTool: CallTool;
  readonly guard: Omit<GuardQuestions<Part>, 'isDuplicate'>;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly sessionId: string;
  readonly emit: Emit;
  /** Tokens of every attempt, the failing ones too (G8). */
  readonly onUsage: (usage: StepUsage) => Promise<void>;
  /** A held answer was shown as such: now the continuation that answers it may be shown. */
  readonly onHeldBack: () => void;
  readonly onCall: (call: {
    readonly tool: string;
    readonly input: unknown;
    readonly result: ToolCallResult;
  }) => void;
}

export type StepUsage = Extract<Part, { type: 'finish-step' }>['usage'];

export type ModelStepResult =
  | { readonly kind: 'tools'; readonly toolError: string | null }
  | { readonly kind: 'stopped'; readonly end: StopEnd; readonly text: string; readonly question: boolean }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'aborted' };

export async function runModelStep(options: ModelStepOptions): Promise<ModelStepResult> {
  const { clock, sessionId, emit, transcript } = options;
  const attempt = createAttempt(options);
  const parts = guardStep<Part>({
    ...options.guard,
    isDuplicate: (part) => part.type === 'tool-result' && (part.output as ToolCallResult).duplicate,
    signal: options.signal,
    onHeld: (part) => {
      if (part.type === 'text-delta')
        emit({ type: 'text-held', at: clock.now(), sessionId, text: part.text });
    },
    attempt: (_reminder, signal) => ({ stream: attempt.run(signal) }),
    ask: async (stop) => {
      const answer = await options.guard.ask(stop);
      // The held answer stands before the reminder that answers it; only the model ever sees either.
      if (answer.answer === 'retry') {
        await transcript.append(
          [...attempt.messages('held'), continuation(answer.reminder)],
          attempt.stepId(),
        );
      }
      return answer;
    },
  });
  for (;;) {
    const next = await parts.next();
    if (next.done) {
      const { value: result } = next;
      await attempt.writeDown(transcript);
      if (result.error !== undefined) return { kind: 'failed', error: result.error.cause };
      if (result.aborted || result.end === 'cancelled') return { kind: 'aborted' };
      if (result.calledTools && !result.onlyDuplicates)
        return { kind: 'tools', toolError: attempt.lastToolError() };
      return { kind: 'stopped', end: result.end, text: result.text, question: result.question };
    }
    const part = next.value;
    if (part.type === 'text-delta')
      emit({ type: 'text', at: clock.now(), sessionId, text: (part as { text: string }).text });
    else if (part.type === 'held-back') {
      emit({ type: 'text-held-back', at: clock.now(), sessionId, text: (part as { text: string }).text });
      options.onHeldBack();
    }
  }
}

interface Attempt {
  run(signal: AbortSignal): AsyncIterable<Part>;
  stepId(): string;
  /** What the attempt adds to the model's history; none if it broke off. */
  messages(kind: 'agent' | 'held'): TranscriptMessage[];
  writeDown(transcript: Transcript): Promise<void>;
  lastToolError(): string | null;
}

/** Runs the attempts of one step and collects what has to be written down of the last one. */
function createAttempt(options: ModelStepOptions): Attempt {
  const { identifiers, callTool } = options;
  let stepId = identifiers.next();
  let text = '';
  let finished: ModelMessage[] | null = null;
  let calls: { tool: AgentTool; result: ToolCallResult }[] = [];

  async function* run(signal: AbortSignal): AsyncGenerator<Part> {
    stepId = identifiers.next();
    text = '';
    finished = null;
    calls = [];
    const { instructions, messages, providerOptions } = await options.prompt();
    const result = streamText({
      model: options.model,
      instructions,
      messages,
      tools: toolSet(),
      stopWhen: isStepCount(1),
      maxRetries: 0,
      abortSignal: signal,
      providerOptions,
      onError: () => {},
    });
    for await (const part of result.stream) {
      if (part.type === 'text-delta') text += part.text;
      // Before the guard asks: what this very answer cost has a say in the decision (G8).
      if (part.type === 'finish-step') await options.onUsage(part.usage);
      yield part;
    }
    // The SDK's own messages carry what providers want back (thinking signatures); ours would lose it.
    finished = (await result.responseMessages) as ModelMessage[];
  }

  function toolSet(): ToolSet {
    const set: ToolSet = {};
    for (const agentTool of options.tools) {
      set[agentTool.name] = tool({
        description: agentTool.description,
        inputSchema: jsonSchema(agentTool.inputSchema as Parameters<typeof jsonSchema>[0]),
        execute: async (input: unknown, { toolCallId }: { toolCallId: string }) => {
          const result = await callTool({ callId: toolCallId, stepId, tool: agentTool, input });
          calls.push({ tool: agentTool, result });
          options.onCall({ tool: agentTool.name, input, result });
          return result;
        },
        toModelOutput: ({ output }: { output: unknown }) => toolOutput(output as ToolCallResult),
      });
    }
    return set;
  }

  /** A step that broke off leaves its calls unsettled: interrupted-calls.ts turns those into messages. */
  function messages(kind: 'agent' | 'held'): TranscriptMessage[] {
    if (finished === null) {
      return calls.length > 0 || text.trim() === ''
        ? []
        : [{ kind, message: { role: 'assistant', content: text } }];
    }
    return finished.map((message) => ({ kind: message.role === 'tool' ? 'tools' : kind, message }));
  }

  return {
    run,
    stepId: () => stepId,
    messages,
    async writeDown(transcript) {
      const rows = messages('agent');
      if (rows.length > 0) await transcript.append(rows, stepId);
    },
    lastToolError: () => {
      const last = calls.at(-1);
      if (last === undefined || last.result.ok || last.tool.family === 'delegation') return null;
      return last.result.output.slice(0, 500);
    },
  };
}

export function continuation(text: string): TranscriptMessage {
  return { kind: 'continuation', message: { role: 'user', content: text } };
}
