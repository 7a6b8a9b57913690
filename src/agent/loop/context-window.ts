// What the model sees of a run: system prompt, trimmed history, the plan at the end; and the compaction when the
// window fills (S3, S5, G8, P23). What varies stands at the end, so that the provider's cache stays warm (V9).
import { generateText, type LanguageModelUsage } from 'ai';
import type { ContextSettings } from '../../core/config/own-agent-settings.ts';
import { noNeeds } from '../../core/rows.ts';
import type { Session } from '../../core/session.ts';
import type { Store } from '../../engine/store.ts';
import {
  applyCompaction,
  type CompactionPlan,
  isCompactionDue,
  planCompaction,
} from '../context/compaction.ts';
import { calibrateRatio, estimateMessages, estimateTokens } from '../context/estimate-tokens.ts';
import { planMessage } from '../context/plan-message.ts';
import { assembleCall, type CallPrompt } from '../context/prompt.ts';
import { markedHistory, transcriptKind } from '../context/synthetic.ts';
import { trimHistory } from '../context/trim-history.ts';
import type { CacheOptions } from '../models/cache-options.ts';
import type { ModelObject } from '../models/create-model.ts';
import type { Transcript } from './transcript.ts';

export interface ContextWindow {
  /** The next call; `hint` is added at its end and kept nowhere (I6, I7). */
  prompt(hint: string | null): Promise<CallPrompt>;
  /** The provider's figure for the last call: the estimates are corrected by it. */
  reported(inputTokens: number): void;
  isCompactionDue(): boolean;
  /** Summarises the older part. False: it could not be made smaller. */
  compact(
    signal: AbortSignal,
  ): Promise<{ readonly shrunk: boolean; readonly before: number; readonly after: number }>;
}

export interface ContextWindowOptions {
  readonly store: Store;
  readonly session: () => Promise<Session | null>;
  readonly transcript: Transcript;
  readonly system: string;
  readonly cache: CacheOptions;
  readonly settings: ContextSettings;
  readonly contextLimit: number | null;
  readonly model: ModelObject;
  /** The tool that hands a todo to its worker; null: there are no workers. */
  readonly delegate: string | null;
  /** What a summary cost. */
  readonly onUsage: (usage: LanguageModelUsage) => Promise<void>;
}

export function createContextWindow(options: ContextWindowOptions): ContextWindow {
  const { transcript, settings } = options;
  let ratio = 1;
  let estimated = 0;
  let lastTokens = 0;

  async function plan(): Promise<string | null> {
    const session = await options.session();
    if (session === null) return null;
    const rows = await options.store.read(async (reader) =>
      reader.rows(session, { ...noNeeds, next: settings.planTodos }),
    );
    return planMessage({
      next: rows.next,
      counts: session.counts,
      limit: settings.planTodos,
      delegate: options.delegate,
    });
  }

  return {
    async prompt(hint) {
      const history = trimHistory(markedHistory(transcript.messages()), settings.maxMessages);
      const current = await plan();
      const tail = [current, hint].filter((text) => text !== null).join('\n\n');
      const call = assembleCall({
        system: options.system,
        history,
        plan: tail === '' ? null : tail,
        cache: options.cache,
      });
      estimated = estimateTokens(options.system) + estimateMessages(call.messages);
      lastTokens = Math.max(lastTokens, Math.round(estimated * ratio));
      return call;
    },
    reported(inputTokens) {
      lastTokens = inputTokens;
      ratio = calibrateRatio(ratio, estimated, inputTokens);
    },
    isCompactionDue: () =>
      isCompactionDue({ tokens: lastTokens, limit: options.contextLimit, compactAt: settings.compactAt }),
    async compact(signal) {
      const history = markedHistory(transcript.messages());
      const work = planCompaction(history, { limit: options.contextLimit, ratio });
      if (work === null) return { shrunk: false, before: history.length, after: history.length };
      const summary = await summarise(options, work, signal);
      const result = applyCompaction(work, summary);
      if (result.shrunk) {
        await transcript.replace(
          result.messages.map((message) => ({ kind: transcriptKind(message), message })),
        );
        lastTokens = Math.round(estimateMessages(result.messages) * ratio);
      }
      return { shrunk: result.shrunk, before: history.length, after: result.messages.length };
    },
  };
}

/** null: no summary could be had; the compaction then leaves a note instead, and the run goes on. */
async function summarise(
  { model, onUsage }: ContextWindowOptions,
  { instructions, prompt }: CompactionPlan,
  abortSignal: AbortSignal,
): Promise<string | null> {
  try {
    const { text, usage } = await generateText({ model, instructions, prompt, abortSignal, maxRetries: 1 });
    await onUsage(usage);
    return text.trim() === '' ? null : text;
  } catch {
    // A note takes the summary's place: forgetting the older part is better than ending the run.
    return null;
  }
}
