// A language model from the SDK's own test kit, scripted step by step, with or without
// pauses between its events: for the tests of the guard only. It notes when its last
// event left and whether its call was aborted.
import { MockLanguageModelV4 } from 'ai/test';

type DoStream = MockLanguageModelV4['doStream'];
type ModelStream = Awaited<ReturnType<DoStream>>['stream'];
type ModelPart = ModelStream extends ReadableStream<infer Part> ? Part : never;

export interface ScriptedStep {
  readonly text?: string;
  readonly calls?: readonly (readonly [toolName: string, input: object])[];
  readonly finish?: 'stop' | 'length' | 'content-filter';
}

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
};

export class ScriptedLanguageModel {
  /** When the last event of the last call was handed over, by performance.now(). */
  lastEventAt = 0;
  aborted = 0;
  /** Called before each event, counted from 1 within a call. */
  beforeEvent: (count: number) => void = () => undefined;
  readonly model: MockLanguageModelV4;
  readonly #delayMs: number;
  #calls = 0;

  constructor(steps: readonly ScriptedStep[], delayMs = 0) {
    this.#delayMs = delayMs;
    this.model = new MockLanguageModelV4({
      doStream: async ({ abortSignal }) => {
        const step = steps[Math.min(this.#calls, steps.length - 1)] ?? {};
        this.#calls += 1;
        abortSignal?.addEventListener('abort', () => {
          this.aborted += 1;
        });
        return { stream: this.#stream(eventsOf(step, this.#calls)) };
      },
    });
  }

  /** What the model was sent at each call, as text. */
  get prompts(): string[] {
    return this.model.doStreamCalls.map(({ prompt }) => JSON.stringify(prompt));
  }

  #stream(events: ModelPart[]): ModelStream {
    let count = 0;
    return new ReadableStream<ModelPart>({
      pull: async (controller) => {
        if (this.#delayMs > 0)
          await new Promise((resolve) => setTimeout(resolve, this.#delayMs));
        count += 1;
        this.beforeEvent(count);
        const event = events.shift();
        if (event === undefined) return controller.close();
        this.lastEventAt = performance.now();
        controller.enqueue(event);
      },
    });
  }
}

function eventsOf(step: ScriptedStep, callNumber: number): ModelPart[] {
  const words = step.text?.split(/(?<= )/u) ?? [];
  const said: ModelPart[] = words.map((delta) => ({
    type: 'text-delta',
    id: 't',
    delta,
  }));
  const calls = (step.calls ?? []).flatMap(([toolName, input], index): ModelPart[] => {
    const id = `call-${callNumber}-${index}`;
    return [
      { type: 'tool-input-start', id, toolName },
      { type: 'tool-input-delta', id, delta: JSON.stringify(input) },
      { type: 'tool-input-end', id },
      { type: 'tool-call', toolCallId: id, toolName, input: JSON.stringify(input) },
    ];
  });
  const unified = step.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop');
  return [
    { type: 'stream-start', warnings: [] },
    ...(said.length === 0
      ? []
      : [
          { type: 'text-start', id: 't' } as const,
          ...said,
          { type: 'text-end', id: 't' } as const,
        ]),
    ...calls,
    { type: 'finish', finishReason: { unified, raw: unified }, usage },
  ];
}
